import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callOf, type Said } from "../unit/policy/rules-scene.ts";
import { reference } from "./policy-reference.ts";
import type { CallRequest, Decision } from "../../src/policy/decision.ts";
import { narrowed, widenings } from "../../src/policy/study/narrow.ts";
import { withRemedies } from "../../src/policy/rules/remedy.ts";
import { policyFromJson } from "../../src/policy/study/policy.ts";
import type { Annotation, Condition, PolicyJson, Rule, ValueTest } from "../../src/policy/rules/rule.ts";
import type { Json } from "../../src/util/json.ts";

const runs = Number(process.env["POLICY_RUNS"] ?? 300);

const tool = fc.constantFrom("send", "post", "read");
const role = fc.constantFrom("target", "content", "amount", "id");
const value: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    "a@example.com",
    "b@evil.example",
    "A@example.com",
    "x",
    "",
    null,
    5,
    50,
    true,
    "https://evil.example/x",
  ),
  fc.stringMatching(/^[a-z]{0,3}$/),
);
const path = fc.constantFrom("to", "text", "sum", "event.to", "__proto__", "constructor");

const test: fc.Arbitrary<ValueTest> = fc.oneof(
  fc.constantFrom<ValueTest>({ type: "bound" }, { type: "bound", as: "email" }, { type: "absent" }),
  fc.array(value, { minLength: 1, maxLength: 3 }).map((values): ValueTest => ({ type: "one-of", values })),
  fc.constantFrom<ValueTest>(
    { type: "within", min: 1, max: 10 },
    { type: "within", min: 10 },
    { type: "host-in", hosts: ["example.com"] },
  ),
);

const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Condition>(
      { type: "untrusted" },
      { type: "requested" },
      { type: "requested", exactly: true },
      { type: "unknown-links" },
      { type: "unknown-links", path: "to" },
      { type: "secrecy-exceeds-targets" },
      { type: "calls", atLeast: 2 },
      { type: "effect", in: ["read"] },
      { type: "effect", in: ["write", "undeclared"] },
    ),
    fc.record({ type: fc.constant("argument" as const), path, is: test }),
    fc.record({
      type: fc.constant("roles" as const),
      roles: fc.array(role, { minLength: 1, maxLength: 2 }),
      is: test,
    }),
    fc.record({
      type: fc.constantFrom("all" as const, "any" as const),
      of: fc.array(tie("condition"), { minLength: 1, maxLength: 3 }),
    }),
    tie("condition").map((of): Condition => ({ type: "not", of })),
  ),
}));

const rule: fc.Arbitrary<Rule> = fc.record(
  {
    verdict: fc.constantFrom("allow", "ask", "deny"),
    tools: fc.oneof(fc.constant(["*"]), fc.uniqueArray(tool, { minLength: 1, maxLength: 2 })),
    when: condition,
    unless: condition,
  },
  { requiredKeys: ["verdict", "tools"] },
);

const annotation: fc.Arbitrary<Annotation> = fc.record(
  {
    effect: fc.constantFrom("read", "write"),
    parameters: fc.dictionary(fc.constantFrom("to", "text", "sum"), role, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
);
const tools = fc.dictionary(tool, annotation, { maxKeys: 2 });

const policies: fc.Arbitrary<PolicyJson> = fc.record(
  {
    name: fc.constant("p"),
    rules: fc.oneof(fc.array(rule, { maxLength: 5 }), fc.constantFrom("guarded" as const, "strict" as const)),
    extraRules: fc.array(rule, { maxLength: 2 }),
    tools,
  },
  { requiredKeys: ["name", "rules"] },
);

/** Values that JSON cannot hold, and objects that fight back when they are looked at. */
const hostile: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  10n,
  Symbol("x"),
  () => "x",
  new Date(0),
  new Map([["to", "x"]]),
  JSON.parse('{"__proto__": {"to": "x"}, "constructor": {"prototype": 1}}'),
  Object.create({ to: "inherited" }),
  {
    get to(): string {
      throw new TypeError("getter");
    },
  },
  {
    toJSON: () => {
      throw new Error("json");
    },
    to: "x",
  },
  new Proxy(
    {},
    {
      ownKeys: () => {
        throw new TypeError("keys");
      },
    },
  ),
  new Proxy([], {
    get: () => {
      throw new Error("get");
    },
  }),
  new Proxy(
    { to: "x" },
    {
      getOwnPropertyDescriptor: () => {
        throw new Error("own");
      },
    },
  ),
);
const args = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.dictionary(
      fc.constantFrom("to", "text", "sum", "event"),
      fc.oneof(value, fc.array(value, { maxLength: 3 }), fc.record({ to: value })),
      { maxKeys: 4 },
    ),
  },
  { weight: 1, arbitrary: hostile },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(hostile, fc.anything()), { maxKeys: 3 }),
  },
);

const said: fc.Arbitrary<Said> = fc
  .record(
    {
      tool,
      arguments: args,
      effect: fc.constantFrom("none", "read", "write", "irreversible", "undeclared"),
      parameters: fc.dictionary(fc.constantFrom("to", "text", "sum"), role, { maxKeys: 3 }),
      untrusted: fc.boolean(),
      secrecy: fc.constantFrom<NonNullable<Said["secrecy"]>>("public", "private", {
        readers: ["a@example.com"],
      }),
      bound: fc.subarray<Json>(["a@example.com", "x", 5]),
      calls: fc.nat(3),
      requested: fc.boolean(),
      named: fc.boolean(),
      kind: fc.constantFrom(undefined, undefined, undefined, "knowledge" as const),
    },
    { requiredKeys: ["tool", "arguments"] },
  )
  .map(({ kind, ...rest }) => (kind === undefined ? rest : { ...rest, kind }));

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

function decide(json: PolicyJson, call: CallRequest): Decision {
  return policyFromJson(json)(call);
}

const rank = (json: PolicyJson, call: CallRequest): number => strictness[decide(json, call).verdict];
const with_ = (json: PolicyJson, ...more: readonly Rule[]): PolicyJson => ({
  ...json,
  extraRules: [...(json.extraRules ?? []), ...more],
});

const plainSaid = fc
  .record({
    base: said,
    arguments: fc.dictionary(
      fc.constantFrom("to", "text", "sum", "event"),
      fc.oneof(value, fc.array(value, { maxLength: 3 }), fc.record({ to: value })),
      { maxKeys: 4 },
    ),
  })
  .map(({ base, arguments: plain }): Said => ({ ...base, arguments: plain }));

describe("policies of rules", () => {
  it("never get weaker by a rule that asks or denies", () => {
    fc.assert(
      fc.property(policies, rule, said, (json, more, what) => {
        fc.pre(more.verdict !== "allow");
        const call = callOf(what);
        expect(rank(with_(json, more), call)).toBeGreaterThanOrEqual(
          // A rule that asks takes the place of the silence that denies: it is still no more than asking.
          Math.min(rank(json, call), strictness[more.verdict]),
        );
        if (
          decide(json, call).verdict !== "deny" ||
          more.verdict === "deny" ||
          decide(json, call).rule !== "no-rule"
        )
          expect(rank(with_(json, more), call)).toBeGreaterThanOrEqual(rank(json, call));
      }),
      { numRuns: runs },
    );
  });

  it("keep every deny and ask of a rule, whatever allows are added", () => {
    fc.assert(
      fc.property(policies, rule, said, (json, more, what) => {
        const call = callOf(what);
        const before = decide(json, call);
        fc.pre(before.verdict !== "allow" && before.rule !== "no-rule");
        const after = decide(with_(json, { ...more, verdict: "allow" }), call);
        expect([after.verdict, after.rule]).toEqual([before.verdict, before.rule]);
      }),
      { numRuns: runs },
    );
  });

  it("decide alike after JSON, and in any order of their rules", () => {
    fc.assert(
      fc.property(policies, said, fc.nat(), (json, what, turn) => {
        const call = callOf(what);
        const made = policyFromJson(json);
        const decision = made(call);
        expect(policyFromJson(JSON.parse(JSON.stringify(made)))(call)).toEqual(decision);
        const rules = [...made.rules];
        const shuffled = [
          ...rules.slice(turn % (rules.length + 1)),
          ...rules.slice(0, turn % (rules.length + 1)),
        ].toReversed();
        const { extraRules: _extraRules, ...rest } = json;
        const other = decide({ ...rest, rules: shuffled }, call);
        expect(other.verdict).toBe(decision.verdict);
        expect(other.evidence?.matched?.length).toBe(decision.evidence?.matched?.length);
      }),
      { numRuns: runs },
    );
  });

  it("never throw, and leave prototypes alone, whatever the arguments are", () => {
    fc.assert(
      fc.property(policies, said, args, (json, what, odd) => {
        const made = policyFromJson(json);
        for (const call of [
          callOf(what),
          odd as CallRequest,
          { ...callOf(what), knows: odd } as CallRequest,
        ]) {
          const decision = made(call);
          expect(["allow", "ask", "deny"]).toContain(decision.verdict);
          expect(made.explain(decision, "people")).toContain(decision.rule.slice(0, 3));
          expect(() => made.explain(decision, "model")).not.toThrow();
        }
        expect(({} as Record<string, unknown>)["to"]).toBeUndefined();
      }),
      { numRuns: runs },
    );
  });

  it("decide as a second reading of the rules does", () => {
    fc.assert(
      fc.property(policies, plainSaid, (json, what) => {
        const call = callOf(what);
        expect(decide(json, call).verdict).toBe(reference(json, call));
      }),
      { numRuns: runs * 3 },
    );
  });

  it("explain what they decided: the same verdict, the rule that alone decides, values that are not bound", () => {
    const words = { allow: "Allowed: ", ask: "A person is asked: ", deny: "Denied: " };
    fc.assert(
      fc.property(policies, plainSaid, (json, what) => {
        const call = callOf(what);
        const made = policyFromJson(json);
        const decision = made(call);
        expect(made.explain(decision, "people").startsWith(words[decision.verdict])).toBe(true);
        expect(made.explain(decision, "model").startsWith(words[decision.verdict])).toBe(true);
        const matched = new Set(decision.evidence?.matched);
        const { extraRules: _extraRules, ...rest } = json;
        const named = made.rules.map((each, index): Rule => ({
          ...each,
          name: each.name ?? `rule ${index}`,
        }));
        const renamed = decide({ ...rest, rules: named }, call);
        expect(new Set(renamed.evidence?.matched).size).toBe(matched.size);
        const kept = named.filter(({ name }) => renamed.evidence?.matched?.includes(name ?? "") === true);
        expect(decide({ ...rest, rules: kept }, call).verdict).toBe(decision.verdict);
        for (const { value: unbound } of decision.evidence?.unbound ?? [])
          expect(what.bound ?? []).not.toContain(unbound);
      }),
      { numRuns: runs },
    );
  });

  it("tell the model nothing of the arguments and of what was seen", () => {
    const marked = fc.stringMatching(/^[a-z]{3}Zq[0-9]{4}$/);
    fc.assert(
      fc.property(policies, said, fc.array(marked, { minLength: 1, maxLength: 3 }), (json, what, marks) => {
        const [mark = "", ...others] = marks;
        const link = `https://${mark}.example/${others.join("/")}`;
        const call = callOf({
          ...what,
          arguments: { to: [mark, { [`${mark}@x.y`]: others }], text: link, [mark]: mark },
          sources: [`tool/${mark}`],
          bound: [],
        });
        const made = policyFromJson(json);
        const told = made.explain(made(call), "model").toLowerCase();
        for (const each of marks) expect(told).not.toContain(each.toLowerCase());
        expect(told).not.toContain("example/");
        expect(made(call).reason.toLowerCase()).not.toContain(mark.toLowerCase());
      }),
      { numRuns: runs },
    );
  });

  it("are allowed by what they advise", () => {
    fc.assert(
      fc.property(policies, plainSaid, (json, what) => {
        const made = policyFromJson(json);
        const { changes, decision, text } = made.advise(callOf(what));
        fc.pre(changes.length > 0);
        expect(decision.remedy).toBe(text);
        const changed = policyFromJson(withRemedies(made.toJSON(), changes));
        const vouched = changed.constants.flatMap((each): Json[] => [each, Number(each)]);
        const after = changed(
          callOf({ ...what, bound: [...(what.bound ?? []), ...vouched], links: [...changed.constants] }),
        );
        expect(after.verdict).toBe("allow");
      }),
      { numRuns: runs },
    );
  });

  it("are narrowed to the stricter of two, and widened by nothing that is not named", () => {
    fc.assert(
      fc.property(policies, policies, said, (first, second, what) => {
        const call = callOf(what);
        const both = narrowed(policyFromJson(first), policyFromJson(second))(call);
        expect(strictness[both.verdict]).toBe(Math.max(rank(first, call), rank(second, call)));
        const { extraRules: _extraRules, ...rest } = first;
        const fewer: PolicyJson = {
          ...rest,
          rules: policyFromJson(first).rules.filter(({ verdict }) => verdict !== "allow"),
        };
        const tighter = with_(
          fewer,
          ...policyFromJson(second).rules.filter(
            ({ verdict, name }) => verdict === "deny" && name === undefined,
          ),
        );
        expect(widenings(first, tighter)).toEqual([]);
        expect(rank(tighter, call)).toBeGreaterThanOrEqual(rank(first, call));
        if (widenings(first, second).length === 0)
          expect(rank(second, call)).toBeGreaterThanOrEqual(rank(first, call));
      }),
      { numRuns: runs },
    );
  });
});
