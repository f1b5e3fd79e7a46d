import { describe, expect, it } from "vitest";
import {
  agent,
  allow,
  guarded,
  memoryJournal,
  limit,
  type Policy,
  policy,
  type RunOptions,
  sensible,
  type Tool,
  tool,
} from "../../../src/index.ts";
import { parallel } from "../../../src/compose.ts";
import { arg, narrowed, oneOf } from "../../../src/policy.ts";
import { scripted, type ScriptStep } from "../../../src/testing.ts";
import type { JsonObject } from "../../../src/util/json.ts";

const calls = (...names: readonly string[]): ScriptStep => ({
  calls: names.map((name) => ({ name, arguments: {} })),
});

interface Scene {
  readonly outer: readonly ScriptStep[];
  readonly inner: readonly ScriptStep[];
  readonly by: Policy;
  readonly innerBy?: Policy;
  readonly more?: Partial<Tool>;
  readonly options?: RunOptions;
}

/** An agent with the tool `send` and an agent inside that has it too; how often `send` ran. */
async function sent({ outer, inner, by, innerBy, more, options }: Scene): Promise<number> {
  let count = 0;
  const send: Tool = {
    ...tool({
      name: "send",
      description: "",
      inputSchema: { type: "object" },
      effect: "irreversible",
      execute: () => {
        count += 1;
        return "sent";
      },
    }),
    ...more,
  };
  // Each run of the agent inside has the same script.
  const within = tool({
    name: "inner",
    description: "",
    inputSchema: { type: "object", properties: { input: { type: "string" } } },
    trusted: true,
    execute: async (_args, { run: parent }) => {
      const model = scripted(inner);
      await agent({ name: "inner", model, tools: [send], ...(innerBy && { policy: innerBy }) }).run("go", {
        parent,
      });
      return "done";
    },
  });
  const clerk = agent({ name: "clerk", model: scripted(outer), tools: [within, send], policy: by });
  await clerk.run("go", options);
  return count;
}

const once = policy({ name: "once", rules: [allow("*"), limit("send", { perRun: 1 })] });
const twice = policy({ name: "twice", rules: [allow("*"), limit("send", { perRun: 2 })] });
const inside = [calls("send", "send"), "done"];

describe("a limit of a policy counts the calls of runs inside", () => {
  it("that go on beside each other, one after the other, and in later turns", async () => {
    for (const outer of [
      [calls("inner", "inner", "inner"), "done"],
      [calls("inner"), calls("inner"), calls("inner"), "done"],
      [calls("send", "inner"), calls("send"), "done"],
      [calls("inner", "send"), calls("inner", "send"), "done"],
    ])
      expect(await sent({ outer, inner: inside, by: twice })).toBe(2);
  });

  it("and the outer run's own calls before and after them", async () => {
    expect(await sent({ outer: [calls("inner"), calls("send"), "done"], inner: inside, by: once })).toBe(1);
    expect(await sent({ outer: [calls("send"), calls("inner"), "done"], inner: inside, by: once })).toBe(1);
  });

  it("whatever names it, and however the policy was narrowed", async () => {
    const outer = [calls("inner", "inner"), calls("send"), "done"];
    expect(
      await sent({
        outer,
        inner: inside,
        by: policy({ name: "p", rules: [allow("*"), limit("*", { perRun: 1 })] }),
      }),
    ).toBe(1);
    expect(await sent({ outer, inner: inside, by: narrowed(sensible, once) })).toBe(1);
  });

  it("by a function of the author's too, alone and beside rules", async () => {
    const outer = [calls("inner", "inner"), calls("send"), "done"];
    const by: Policy = ({ knows }) => ({
      verdict: knows.calls("send") >= 1 ? "deny" : "allow",
      rule: "r",
      reason: "r",
    });
    expect(await sent({ outer, inner: inside, by })).toBe(1);
    expect(
      await sent({ outer, inner: inside, by: narrowed(policy({ name: "p", rules: [allow("*")] }), by) }),
    ).toBe(1);
    expect(await sent({ outer: [calls("send", "send"), "done"], inner: inside, by })).toBe(1);
  });

  it("while a limit of the agent inside counts its own run alone", async () => {
    const outer = [calls("inner", "inner", "inner"), "done"];
    expect(
      await sent({ outer, inner: inside, by: policy({ name: "p", rules: [allow("*")] }), innerBy: once }),
    ).toBe(3);
  });

  it("and a constraint of a tool counts each run by itself", async () => {
    const outer = [calls("inner", "inner"), calls("send"), "done"];
    const all = policy({ name: "p", rules: [allow("*"), limit("send", { perRun: 9 })] });
    const more = { constraints: { maxCalls: 1 } };
    expect(await sent({ outer, inner: inside, by: all, more })).toBe(3);
  });

  it("a call that was denied inside is none", async () => {
    const outer = [calls("inner"), calls("send"), "done"];
    const none = policy({ name: "none", rules: [limit("send", { perRun: 1 })] });
    expect(await sent({ outer, inner: inside, by: once, innerBy: none })).toBe(1);
  });

  it("in agents that are put together", async () => {
    let count = 0;
    const send = tool({
      name: "send",
      description: "",
      inputSchema: { type: "object" },
      execute: () => (count += 1),
    });
    const member = (name: string): ReturnType<typeof agent> =>
      agent({ name, model: scripted(inside), tools: [send] });
    const both = parallel([member("a"), member("b")]);
    const group = tool({
      name: "group",
      description: "",
      inputSchema: { type: "object" },
      execute: async (_args, { run: parent }) => (await both.run("go", { parent })).outcome.type,
    });
    const model = scripted([calls("group"), calls("send"), "done"]);
    await agent({ name: "clerk", model, tools: [group, send], policy: twice }).run("go");
    expect(count).toBe(2);
  });

  it("and lets no argument pass there that the tool names only within another one", async () => {
    const ran: unknown[] = [];
    const person = { type: "object", properties: { email: { type: "string" } } } as const;
    const send = tool({
      name: "send",
      description: "",
      inputSchema: { type: "object", properties: { to: person } },
      effect: "write",
      execute: (args) => ran.push(args),
    });
    const to = { email: "ada@x.example" };
    const given: readonly JsonObject[] = [{ to }, { to, email: "eve@evil.example" }];
    const within = tool({
      name: "inner",
      description: "",
      inputSchema: { type: "object" },
      trusted: true,
      execute: async (_args, { run: parent }) => {
        const model = scripted([{ calls: given.map((args) => ({ name: "send", arguments: args })) }, "done"]);
        return (await agent({ name: "inner", model, tools: [send] }).run("go", { parent })).text;
      },
    });
    const toAda = allow("send").when(arg("to.email").is(oneOf("ada@x.example")));
    const by = policy({ name: "p", rules: [allow("inner"), toAda, limit("send", { perRun: 9 })] });
    const model = scripted([calls("inner"), "done"]);
    await agent({ name: "clerk", model, tools: [within, send], policy: by }).run("go");
    expect(ran).toEqual([{ to }]);
  });

  it("also where a replay does not run them again", async () => {
    const journal = memoryJournal();
    const outer = [calls("inner"), calls("send"), "done"];
    expect(await sent({ outer, inner: inside, by: once, options: { journal, runId: "r" } })).toBe(1);
    expect(await sent({ outer, inner: inside, by: once, options: { journal, runId: "r" } })).toBe(0);
  });
});

describe("what a policy says of a tool", () => {
  it("takes away inside, and gives nothing there", async () => {
    const labels: string[] = [];
    for (const [effect, said] of [
      ["none", { effect: "read" }],
      ["none", { secrecy: "private" }],
      ["none", { trusted: false }],
      ["none", { trusted: true, resolves: true, effect: "none" }],
      ["read", { trusted: true, effect: "none" }],
    ] as const) {
      const look: Tool = tool({
        name: "look",
        description: "",
        inputSchema: { type: "object" },
        effect,
        execute: () => "words",
      });
      const within = tool({
        name: "inner",
        description: "",
        inputSchema: { type: "object" },
        trusted: true,
        execute: async (_args, { run: parent }) => {
          const model = scripted([calls("look"), "done"]);
          const { label } = await agent({ name: "inner", model, tools: [look] }).run("go", { parent });
          labels.push(`${label.integrity} ${JSON.stringify(label.secrecy)}`);
          return "done";
        },
      });
      const model = scripted([calls("inner"), "done"]);
      const by = guarded({ tools: { look: said } });
      await agent({ name: "clerk", model, tools: [within, look], policy: by }).run("go");
    }
    expect(labels).toEqual([
      'untrusted "public"',
      'trusted "private"',
      'untrusted "public"',
      'trusted "public"',
      'untrusted "public"',
    ]);
  });
});
