import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, it } from "vitest";
import {
  absent,
  all,
  any,
  arg,
  boundToIntent,
  calls,
  effect,
  hostIn,
  not,
  oneOf,
  roles,
  secrecyExceedsTargets,
  unknownLinks,
  untrusted,
  within,
} from "../../../src/policy/rules/conditions.ts";
import { policy } from "../../../src/policy/study/policy.ts";
import { allow, ask, deny, limit } from "../../../src/policy/rules/builders.ts";
import { ruleCode } from "../../../src/policy/rules/code.ts";
import type { Rule } from "../../../src/policy/rules/rule.ts";

const built = deny("send", "post")
  .when(
    all(
      any(untrusted(), unknownLinks(), unknownLinks("body"), calls({ atLeast: 2 })),
      not(roles("target", "amount").are(boundToIntent())),
      arg("to").each(boundToIntent("email")),
      arg("stage").is(oneOf("test", 1, null, true)),
      arg("euro").is(within({ min: 0, max: 5 })),
      arg("url").is(hostIn("example.com", "*.example.org")),
      effect("write", "irreversible"),
      secrecyExceedsTargets(),
    ),
  )
  .unless(arg("to").is(absent()))
  .because("no")
  .show("to", "euro")
  .named("first");

const data: Rule = {
  verdict: "deny",
  tools: ["send", "post"],
  when: {
    type: "all",
    of: [
      {
        type: "any",
        of: [
          { type: "untrusted" },
          { type: "unknown-links" },
          { type: "unknown-links", path: "body" },
          { type: "calls", atLeast: 2 },
        ],
      },
      { type: "not", of: { type: "roles", roles: ["target", "amount"], is: { type: "bound" } } },
      { type: "argument", path: "to", is: { type: "bound", as: "email" } },
      { type: "argument", path: "stage", is: { type: "one-of", values: ["test", 1, null, true] } },
      { type: "argument", path: "euro", is: { type: "within", min: 0, max: 5 } },
      { type: "argument", path: "url", is: { type: "host-in", hosts: ["example.com", "*.example.org"] } },
      { type: "effect", in: ["write", "irreversible"] },
      { type: "secrecy-exceeds-targets" },
    ],
  },
  unless: { type: "argument", path: "to", is: { type: "absent" } },
  because: "no",
  show: ["to", "euro"],
  name: "first",
};

describe("the builders of rules", () => {
  it("give the data itself: equal to it, and the same as JSON", () => {
    expect(built).toStrictEqual(data);
    deepStrictEqual(built, data);
    deepStrictEqual(ask("x"), { verdict: "ask", tools: ["x"] });
    expect(JSON.parse(JSON.stringify(built))).toStrictEqual(data);
    expect(structuredClone(built)).toStrictEqual(data);
    expect(ask("x")).toStrictEqual({ verdict: "ask", tools: ["x"] });
  });

  it("give a new rule at each step and change none", () => {
    const first = allow("send");
    const second = first.when(untrusted());
    expect(first).toStrictEqual({ verdict: "allow", tools: ["send"] });
    expect(second.when).toStrictEqual({ type: "untrusted" });
    expect(second.because("b")).toStrictEqual({ ...second, because: "b" });
    expect(Object.isFrozen(first)).toBe(true);
    expect(Object.isFrozen(second.show("a").show)).toBe(true);
  });

  it("take the names of tools as they were when the rule was made", () => {
    const names = ["a"];
    const rule = allow(...names);
    names.push("b");
    expect(rule.tools).toEqual(["a"]);
  });

  it("say a limit as a denial that counts", () => {
    for (const perRun of [0.5, -1, NaN, Infinity])
      expect(() => limit("send", { perRun })).toThrow("limit(): `perRun` must be a whole number from 0 on");
    expect(limit("send", { perRun: 3 }).named("three")).toStrictEqual({
      verdict: "deny",
      tools: ["send"],
      when: { type: "calls", atLeast: 3 },
      name: "three",
    });
  });

  it("mean the same in a policy as the data does", () => {
    const [fromBuilders, fromData] = [
      policy({ name: "p", rules: [built, ask("x")] }),
      policy({ name: "p", rules: [data, ask("x")] }),
    ];
    expect(fromBuilders.toJSON()).toStrictEqual(fromData.toJSON());
    expect(fromBuilders.rules[1]).toStrictEqual({ verdict: "ask", tools: ["x"] });
  });

  it("are written back as the code that made them", () => {
    const names = { absent, all, any, arg, boundToIntent, calls, effect, hostIn, not, oneOf, roles };
    const scope = {
      ...names,
      secrecyExceedsTargets,
      unknownLinks,
      untrusted,
      within,
      allow,
      ask,
      deny,
      limit,
    };
    const run = (code: string): unknown =>
      // oxlint-disable-next-line typescript/no-implied-eval -- the code is what the test is about
      (new Function(...Object.keys(scope), `return ${code};`) as (...values: unknown[]) => unknown)(
        ...Object.values(scope),
      );
    for (const rule of [data, { ...limit("send", { perRun: 2 }) } as unknown as Rule])
      expect(run(ruleCode(rule))).toStrictEqual(rule);
  });

  it("are written with nothing invisible in the code", () => {
    const rule: Rule = { verdict: "ask", tools: ["a\u202eb\u200b\n\u{e0041}"] };
    expect(ruleCode(rule)).toBe(String.raw`ask("a\u202eb\u200b\n\udb40\udc41")`);
  });
});
