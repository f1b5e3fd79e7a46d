import { describe, expect, it } from "vitest";
import { agent, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";
import type { Policy } from "../../../src/policy/decision.ts";
import type { Annotation } from "../../../src/policy/rules/rule.ts";
import { narrowed } from "../../../src/policy/study/narrow.ts";
import { policy, policyFromJson } from "../../../src/policy/study/policy.ts";
import { allow, ask, deny, limit } from "../../../src/policy/rules/builders.ts";
import { judge, verdictBy } from "./rules-scene.ts";

/** What a policy says beside its verdicts. */
const dataOf = (by: Policy): object => Object.fromEntries(Object.entries(by));

describe("narrowed", () => {
  it("is the stricter of both", () => {
    const three = [
      policy({ name: "a", rules: [allow("*")] }),
      policy({ name: "b", rules: [ask("*")] }),
      policy({ name: "c", rules: [deny("*")] }),
    ] as const;
    const order = ["allow", "ask", "deny"];
    three.forEach((first, i) =>
      three.forEach((second, j) =>
        expect(verdictBy(narrowed(first, second), {})).toBe(order[Math.max(i, j)]),
      ),
    );
  });

  it("knows of tools what the first knows, without the trust that the second takes away; vouches for what both do; counts for both", () => {
    const first = policy({
      name: "a",
      rules: [allow("*"), limit("send", { perRun: 1 })],
      constants: ["x", "y"],
      tools: {
        mail: { trusted: true, resolves: true, secrecy: { readers: ["a@b.c", "d@e.f"] } },
        web: { effect: "write", trusted: true },
      },
    });
    const second = policy({
      name: "b",
      rules: [limit("post", { perRun: 1 })],
      constants: ["y", "z"],
      tools: {
        mail: { effect: "read", trusted: false, resolves: false, secrecy: { readers: ["d@e.f"] } },
        web: { trusted: true, secrecy: "private" },
        file: { trusted: true, secrecy: { readers: ["g@h.i"] } },
      },
    });
    const both = narrowed(first, second);
    expect(dataOf(both)).toMatchObject({
      constants: ["y"],
      counted: ["send", "post"],
      rules: [...first.rules, ...second.rules],
      tools: {
        mail: { trusted: false, resolves: false, secrecy: { readers: ["d@e.f"] } },
        web: { effect: "write", trusted: true, secrecy: "private" },
        file: { secrecy: { readers: ["g@h.i"] } },
      },
    });
    expect((both as unknown as typeof first).tools["file"]).not.toHaveProperty("trusted");
    expect((both as unknown as typeof first).tools["mail"]).not.toHaveProperty("effect");
    const third = policy({ name: "c", rules: [], tools: { web: { secrecy: { readers: [] } } } });
    expect(dataOf(narrowed(second, third))).toMatchObject({ tools: { web: { secrecy: "private" } } });
  });

  it("never tells results to more, and trusts none that the first does not, whatever the second says of a tool", async () => {
    const labelBy = async (by: Policy, about: object = {}) => {
      const book = tool({
        name: "book",
        description: "",
        inputSchema: {},
        effect: "read",
        execute: () => "2026-11-28",
        ...about,
      });
      const model = scripted([{ calls: [{ name: "book" }] }, "Done."]);
      return (await agent({ name: "a", model, tools: [book], policy: by }).run("go")).label;
    };
    const says = (book?: Annotation): Policy =>
      policy({ name: "p", rules: [allow("*")], ...(book && { tools: { book } }) });
    const ada = { readers: ["ada@example.com"] };
    const own = { secrecy: "private" } as const;
    expect(await labelBy(narrowed(says(), says({ secrecy: ada })), own)).toMatchObject(own);
    expect(await labelBy(narrowed(says({ secrecy: ada }), says()), own)).toMatchObject({ secrecy: ada }); // the author knows better
    expect(await labelBy(narrowed(says(), says({ secrecy: ada })))).toMatchObject({ secrecy: ada });
    for (const [first, second, integrity] of [
      [{ of: "date" }, { of: "date" }, "trusted"],
      [{ of: "email" }, { of: "date" }, "untrusted"],
      [true, { of: "date" }, "trusted"],
      [true, { of: "email" }, "untrusted"],
      [undefined, { of: "date" }, "untrusted"],
    ] as const) {
      const by = narrowed(says(first === undefined ? first : { trusted: first }), says({ trusted: second }));
      expect(await labelBy(by)).toMatchObject({ integrity });
    }
  });

  it("tells results to whom both name, however they write the address", () => {
    const readers = (...names: readonly string[]) => ({ mail: { secrecy: { readers: names } } });
    const first = policy({ name: "a", rules: [], tools: readers("Ada@Example.com", "bob@example.com") });
    const second = policy({ name: "b", rules: [], tools: readers("ada@example.COM") });
    expect(dataOf(narrowed(first, second))).toMatchObject({ tools: readers("Ada@Example.com") });
  });

  it("is data that no other policy can be made of, and a plain function where neither is data", () => {
    const first = policy({ name: "a", rules: [allow("*")], constants: ["x"] });
    const second: Policy = () => judge([]);
    const json = (by: Policy): string => JSON.stringify((by as unknown as typeof first).toJSON());
    expect(json(narrowed(first, second))).not.toBe(json(narrowed(first, policy({ name: "b", rules: [] }))));
    expect(json(narrowed(second, first))).toContain('"rules":[{"verdict":"allow"');
    expect(dataOf(narrowed(second, first))).toMatchObject({ constants: [] });
    expect(dataOf(narrowed(first, second))).toMatchObject({
      constants: ["x"],
      name: "a, narrowed by second",
    });
    expect(() => policyFromJson(JSON.parse(json(narrowed(first, second))))).toThrow("narrowedBy");
    expect(narrowed(second, second)).not.toHaveProperty("toJSON");
  });
});
