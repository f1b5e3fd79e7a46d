import { describe, expect, it } from "vitest";
import { arg, boundToIntent, calls, effect, untrusted } from "../../../src/policy/rules/conditions.ts";
import type { CallRequest } from "../../../src/policy/decision.ts";
import { explain } from "../../../src/policy/study/explain.ts";
import { guarded, strict } from "../../../src/policy/study/guarded.ts";
import { sensible } from "../../../src/policy/rules/sensible.ts";
import { withRemedies } from "../../../src/policy/rules/remedy.ts";
import { policy, policyFromJson, type RulePolicy } from "../../../src/policy/study/policy.ts";
import { allow, ask, deny, limit } from "../../../src/policy/rules/builders.ts";
import { callOf, type Said } from "./rules-scene.ts";

const parameters = { to: { role: "target", type: "email" }, text: "content" } as const;
const attack: Said = {
  arguments: { to: ["ada@example.com", "eve\u202e@example.net"], text: "see https://evil.example/x" },
  parameters,
  bound: ["ada@example.com"],
  untrusted: true,
  secrecy: { readers: ["ada@example.com"] },
  sources: ["tool/inbox", "memory/notes"],
};

describe("explain", () => {
  const rules = guarded({
    extraRules: [ask("send").show("to", "text").because("mail leaves the house").named("mail")],
  });

  it("tells people all that a decision rests on, with nothing invisible in it", () => {
    const decision = rules(callOf(attack));
    expect(rules.explain(decision, "people").split("\n")).toEqual([
      "A person is asked: the user did not choose whom, what or how much it acts on",
      "rule: guarded/not-chosen (also: guarded/unknown-links; guarded/secrecy; mail)",
      "seen: untrusted, for ada@example.com only; from tool/inbox, memory/notes",
      String.raw`not chosen by the user: to[1] = "eve\u202e@example.net" (email)`,
      "link of a stranger: https://evil.example/x",
      "intent: 1f2e3d",
      expect.stringMatching(/^would have allowed it: ask\("\*"\)\.when/),
    ]);
  });

  it("tells of links in content, and of no others", () => {
    const args = { to: "https://target.example/", text: "https://content.example/" };
    const { evidence } = policy({ name: "p", rules: [] })(callOf({ arguments: args, parameters }));
    expect(evidence?.links).toEqual(["https://content.example/"]);
  });

  it("tells the model the verdict and the author's reason, and nothing else", () => {
    expect(rules.explain(rules(callOf(attack)), "model")).toBe(
      "A person is asked: the user did not choose whom, what or how much it acts on",
    );
    expect(explain({ verdict: "deny", rule: "r", reason: "no\u0007\nnew line" }, "model")).toBe(
      String.raw`Denied: no\u0007\u000anew line`,
    );
  });

  it("shows first what the rule shows first", () => {
    const decision = policy({ name: "p", rules: [ask("send").show("to", "text")] })(callOf());
    expect(explain(decision, "people").split("\n")).toContain("look first at: to, text");
  });

  it("explains the decisions of functions, too", () => {
    expect(explain({ verdict: "allow", rule: "mine", reason: "why not" }, "people")).toBe(
      "Allowed: why not\nrule: mine",
    );
    expect(explain(sensible(callOf({ effect: "undeclared", untrusted: true })), "people")).toContain(
      "noticed: effect-undeclared",
    );
    expect(explain(policy({ name: "p", rules: [] })(callOf()), "people")).toContain(
      "seen: nothing but the user's and the author's own words",
    );
  });
});

describe("the smallest change that would have allowed a call", () => {
  /** Applies the advice and asks again; constants bind as the run would bind them. */
  function after(made: RulePolicy, said: Said): string {
    const call: CallRequest = callOf(said);
    const { changes } = made.advise(call);
    const changed = policyFromJson(withRemedies(made.toJSON(), changes));
    const { constants } = changed;
    return changed(
      callOf({
        ...said,
        bound: [...(said.bound ?? []), ...constants, ...constants.map(Number)],
        links: [...(said.links ?? []), ...constants],
      }),
    ).verdict;
  }

  const sent = { arguments: { to: ["a@b.c"], text: "hi" }, parameters } as const;
  const cases: readonly [made: RulePolicy, said: Said, advice: string][] = [
    [policy({ name: "p", rules: [allow("post")] }), sent, 'allow("send").when(arg("to").is(oneOf("a@b.c")))'],
    [policy({ name: "p", rules: [] }), { arguments: {} }, 'allow("send")'],
    [
      policy({ name: "p", rules: [] }),
      { ...sent, effect: "undeclared" },
      'effect: "read" for "send", if it only looks',
    ],
    [
      policy({ name: "p", rules: [allow("send").when(arg("to").each(boundToIntent("email")))] }),
      sent,
      'constants: ["a@b.c"]',
    ],
    [guarded(), { ...sent, untrusted: true }, 'constants: ["a@b.c"]'],
    [guarded(), { arguments: { id: 47 }, untrusted: true }, 'constants: ["47"]'],
    [
      guarded(),
      { ...sent, arguments: { to: "a@b.c", text: "https://x.example/y" }, bound: ["a@b.c"], untrusted: true },
      'constants: ["https://x.example/y"]',
    ],
    [
      policy({ name: "p", rules: [allow("send"), limit("send", { perRun: 3 })] }),
      { calls: 5 },
      'limit("send", { perRun: 6 })',
    ],
    [
      policy({ name: "p", rules: [allow("send"), ask("send")] }),
      sent,
      'ask("send").unless(arg("to").is(oneOf("a@b.c")))',
    ],
    [
      policy({ name: "p", rules: [allow("send"), deny("send")] }),
      {},
      'doing without the rule "deny send (rule 2)"',
    ],
    [policy({ name: "p", rules: [allow("send"), deny("send", "post")] }), {}, 'deny("post")'],
    [
      policy({ name: "p", rules: [deny("send").unless(untrusted()), ask("send")] }),
      sent,
      'deny("send").unless(any(untrusted(), arg("to").is(oneOf("a@b.c")))) and ask("send").unless(arg("to").is(oneOf("a@b.c"))) and allow("send").when(arg("to").is(oneOf("a@b.c")))',
    ],
    [
      policy({ name: "p", rules: [deny("a"), deny("send"), deny("send")] }),
      {},
      'doing without the rule "deny send (rule 2)" and doing without the rule "deny send (rule 3)" and allow("send")',
    ],
    [
      strict(),
      { ...sent, untrusted: true },
      'ask("*").when(all(effect("write", "irreversible", "undeclared"), untrusted())).unless(arg("to").is(oneOf("a@b.c"))).because("it may change something, after data of strangers").named("strict/after-strangers") and allow("send").when(arg("to").is(oneOf("a@b.c")))',
    ],
    [
      policy({ name: "p", rules: [] }),
      { arguments: { event: { guests: ["a@b.c", ""], when: 5 } } },
      'allow("send").when(all(arg("event.guests").is(oneOf("a@b.c", "")), arg("event.when").is(oneOf(5))))',
    ],
  ];

  it.each(cases)("%# is named, and does allow it", (made, said, advice) => {
    expect(made.advise(callOf(said)).text).toBe(advice);
    expect(made(callOf(said)).remedy).toBe(advice);
    expect(after(made, said)).toBe("allow");
  });

  it("is none for a call that is allowed", () => {
    expect(policy({ name: "p", rules: [allow("send")] }).advise(callOf())).toMatchObject({
      changes: [],
      text: undefined,
    });
  });

  it("names no more constants than needed", () => {
    const made = policy({ name: "p", rules: [allow("send").when(arg("to").is(boundToIntent()))] });
    const said = { arguments: { to: "a@b.c", cc: "d@e.f", text: "https://x.example/" } };
    expect(made(callOf(said)).remedy).toBe('constants: ["a@b.c"]');
  });

  it("names none that nobody would write, or that no rule can say", () => {
    const long = { arguments: { to: "x".repeat(500) } };
    expect(policy({ name: "p", rules: [] })(callOf(long)).remedy).toBeUndefined();
    expect(
      policy({ name: "p", rules: [] })(callOf({ arguments: { to: { "a@b.c": "x" } } })).remedy,
    ).toBeUndefined();
    expect(
      policy({ name: "p", rules: [] })(
        callOf({ arguments: { to: Array.from({ length: 50 }, (_, i) => `v${i}`) } }),
      ).remedy,
    ).toBeUndefined();
    expect(policy({ name: "p", rules: [] })(callOf({ arguments: { to: () => 1 } })).remedy).toBeUndefined();
    expect(policy({ name: "p", rules: [allow("*"), ask("*")] })(callOf()).remedy).toBeUndefined();
  });

  it("shows what is invisible in the values", () => {
    const remedy = policy({ name: "p", rules: [] })(callOf({ arguments: { to: 'a"\u200b\u202e\n' } })).remedy;
    expect(remedy).toBe(String.raw`allow("send").when(arg("to").is(oneOf("a\"\u200b\u202e\n")))`);
  });

  it("lifts a limit inside a condition by an exception", () => {
    const rule = ask("send")
      .when(calls({ atLeast: 1 }))
      .unless(effect("read"));
    expect(policy({ name: "p", rules: [allow("send"), rule] })(callOf({ calls: 1 })).remedy).toBe(
      'ask("send").when(calls({ atLeast: 2 })).unless(effect("read"))',
    );
  });
});
