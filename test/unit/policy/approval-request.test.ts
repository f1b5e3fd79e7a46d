import { describe, expect, it } from "vitest";
import { approvalRequest } from "../../../src/policy/rules/approval-request.ts";
import type { Decision } from "../../../src/policy/decision.ts";
import { guarded } from "../../../src/policy/study/guarded.ts";
import { trustedLabel } from "../../../src/message/label.ts";
import { callOf, type Said } from "./rules-scene.ts";

const asking = (...show: readonly string[]): Decision => ({
  verdict: "ask",
  rule: "r",
  reason: "r",
  evidence: { label: trustedLabel, intent: "", show },
});

const question = (said: Said, ...show: readonly string[]): ReturnType<typeof approvalRequest> =>
  approvalRequest(callOf(said), asking(...show), { hash: "hash", path: ["a"], policy: "p" });

describe("the question to a person", () => {
  const parameters = { text: "content", to: { role: "target", type: "email" }, euro: "amount" } as const;

  it("shows what the rule names first, then what the call acts on, with names and empty values", () => {
    const args = { text: "hi", to: ["a@x.example"], cc: [], euro: 3, meta: { "x y": "" }, id: "7" };
    const { values, more } = question(
      { arguments: args, parameters: { ...parameters, meta: "content" } },
      "id",
    );
    expect(values).toEqual([
      { path: "id", value: "7", bound: false },
      { path: "to[0]", value: "a@x.example", bound: false, type: "email" },
      { path: "cc", value: null, bound: true },
      { path: "euro", value: 3, bound: false, type: "number" },
      { path: "text", value: "hi", bound: false },
      { path: "meta(x y)", value: "x y", bound: false },
      { path: "meta.x y", value: "", bound: true },
    ]);
    expect(more).toBeUndefined();
  });

  it("says how many values are not listed, also of more than a policy looks at", () => {
    const { values, more, links } = question({
      arguments: { text: [...Array<string>(6000).fill("line"), "https://evil.example/x"], to: "bob" },
      parameters,
    });
    expect([values.length, more]).toEqual([200, 5802]);
    expect(values[0]).toMatchObject({ path: "to" });
    expect(links).toEqual(["https://evil.example/x"]);
  });
});

describe("guarded", () => {
  it("takes any name that the schema does not have for a value; without a schema the form of a name says it", () => {
    const call = {
      ...callOf({ arguments: { access: { eve: "editor" } }, untrusted: true, bound: ["editor"] }),
    };
    expect(guarded()(call).verdict).toBe("allow");
    expect(guarded()({ ...call, fields: new Set(["access"]) }).verdict).toBe("ask");
    expect(guarded()({ ...call, fields: new Set(["access", "eve"]) }).verdict).toBe("allow");
  });

  it("says first that a tool which declares nothing may only look, before it vouches for what the model wrote", () => {
    const said = { arguments: { to: "eve@evil.example" }, untrusted: true } as const;
    expect(guarded()(callOf({ ...said, effect: "undeclared" })).remedy).toMatch(/^effect: "read"/);
    expect(guarded()(callOf(said)).remedy).toMatch(/^constants:/);
  });
});
