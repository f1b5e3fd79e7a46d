import { describe, expect, it } from "vitest";
import {
  absent,
  all,
  arg,
  boundToIntent,
  calls,
  effect,
  not,
  oneOf,
  roles,
  unknownLinks,
  untrusted,
  within,
} from "../../../src/policy/rules/conditions.ts";
import type { Condition } from "../../../src/policy/rules/rule.ts";
import { guarded, strict } from "../../../src/policy/study/guarded.ts";
import { widenings } from "../../../src/policy/study/narrow.ts";
import { policy, type PolicyOptions } from "../../../src/policy/study/policy.ts";
import { allow, ask, deny, limit, type RuleInput } from "../../../src/policy/rules/builders.ts";
import { tool } from "../../../src/tool/tool.ts";

function lint(
  rules: readonly RuleInput[],
  tools?: Parameters<ReturnType<typeof policy>["lint"]>[0],
  options: PolicyOptions = {},
): string[] {
  return policy({ ...options, name: "p", rules })
    .lint(tools)
    .map(({ type, rule, text }) => `${type} | ${rule} | ${text}`);
}

const send = tool({
  name: "send_mail",
  description: "",
  inputSchema: {
    type: "object",
    properties: { recipient: { type: "string" }, text: { type: "string" } },
    additionalProperties: false,
  },
  execute: () => "",
});
const open = tool({ name: "note", description: "", inputSchema: { type: "object" }, execute: () => "" });

describe("the lint of a policy", () => {
  it("finds nothing wrong with the presets", () => {
    expect(guarded().lint(["a"])).toEqual([]);
    expect(strict().lint(["a"])).toEqual([]);
  });

  it("finds rules that can never matter", () => {
    const never = (rule: string, other: string): string =>
      `shadowed | ${rule} | it can never matter: ${other} holds for the same tools without a condition`;
    expect(lint([allow("a", "b"), deny("a"), deny("b")])).toEqual([
      never("allow a, b (rule 1)", "deny a (rule 2) and deny b (rule 3)"),
    ]);
    expect(lint([allow("a").when(effect("read")), ask("a")])).toEqual([
      never("allow a (rule 1)", "ask a (rule 2)"),
    ]);
    expect(lint([ask("a").named("x"), deny("*").named("y")])).toEqual([never("x", "y")]);
    expect(lint([allow("*"), deny("*")])).toEqual([never("allow * (rule 1)", "deny * (rule 2)")]);
    expect(lint([allow("a", "b"), deny("a")])).toEqual([]);
    expect(lint([allow("a"), deny("a").when(untrusted())])).toEqual([]);
    expect(lint([allow("a"), deny("a").unless(untrusted())])).toEqual([]);
    expect(lint([deny("a").when(untrusted()), ask("a")])).toEqual([]);
  });

  it("finds rules that say the same, whatever they are called", () => {
    expect(lint([allow("a", "b").named("x"), allow("b", "a").because("y")])).toEqual([
      "repeated | allow b, a (rule 2) | it says what x says",
    ]);
    expect(lint([allow("a"), allow("a").when(effect("write"))])).toEqual([]);
  });

  it("finds an allow for every effect of every tool", () => {
    const wide =
      'too-wide | allow * (rule 1) | it allows every effect of every tool: name the tools, or write .when(effect("none", "read"))';
    expect(lint([allow("*")])).toEqual([wide]);
    expect(lint([allow("*").unless(untrusted())])).toEqual([wide]);
    expect(lint([allow("*"), ask("*").when(untrusted())])).toEqual([]);
    expect(lint([allow("*").when(effect("none"))])).toEqual([]);
  });

  it("finds a limit that no call is within", () => {
    expect(lint([allow("a"), limit("a", { perRun: 0 })])).toEqual([
      'limit-zero | deny a (rule 2) | it holds from the first call on: write deny("a")',
    ]);
    expect(lint([allow("a"), limit("a", { perRun: 1 })])).toEqual([]);
    expect(lint([ask("a").when(not(calls({ atLeast: 0 })))])).toEqual([]);
  });

  it("finds names of tools that do not exist, where the tools are given", () => {
    const options = { tools: { sendmail: { effect: "write" } } } as const;
    expect(lint([allow("send_mial"), ask("deploy"), deny("*")], [send], options)).toContain(
      'unknown-tool | allow send_mial (rule 1) | there is no tool "send_mial": "send_mail" is meant?',
    );
    expect(lint([ask("deploy")], ["send_mail"])).toEqual([
      'unknown-tool | ask deploy (rule 1) | there is no tool "deploy"',
    ]);
    expect(lint([], [send], options)).toEqual([
      'unknown-tool | tools | there is no tool "sendmail": "send_mail" is meant?',
    ]);
    expect(lint([ask("deploy")], undefined, options)).toEqual([]);
  });

  it("finds names of arguments that the tools do not have", () => {
    const wrong = allow("send_mail")
      .when(not(arg("recipent").each(boundToIntent())))
      .unless(unknownLinks("text"))
      .show("subject");
    expect(lint([wrong], [send])).toEqual([
      'unknown-argument | allow send_mail (rule 1) | no tool of it has an argument "recipent": "recipient" is meant?',
      'unknown-argument | allow send_mail (rule 1) | no tool of it has an argument "subject"',
    ]);
    expect(lint([wrong], ["send_mail"])).toEqual([]);
    expect(lint([allow("note").when(arg("x").is(boundToIntent()))], [open])).toEqual([]);
    expect(lint([ask("*").when(arg("x").is(boundToIntent()))], [send])).toEqual([]);
    expect(lint([allow("send_mail").when(arg("recipient.name").is(boundToIntent()))], [send])).toEqual([]);
  });
});

describe("widenings", () => {
  const before = policy({
    name: "p",
    rules: [allow("a"), ask("b").named("x"), deny("c")],
    constants: ["k"],
    tools: { t: { effect: "read" } },
  }).toJSON();

  it("are none where a policy stays, is renamed, reordered or narrowed", () => {
    expect(widenings(before, before)).toEqual([]);
    const same = policy({
      name: "q",
      rules: [deny("c"), ask("b").because("new"), allow("a")],
      constants: ["k"],
      tools: { t: { effect: "read" } },
    });
    expect(widenings(before, same.toJSON())).toEqual([]);
    const narrower = policy({
      name: "q",
      rules: [deny("c"), ask("b"), deny("d")],
      tools: { t: { effect: "read" } },
    });
    expect(widenings(before, narrower.toJSON())).toEqual([]);
    expect(widenings(guarded().toJSON(), guarded({ extraRules: [deny("x")] }).toJSON())).toEqual([]);
  });

  it("name each thing that may allow more", () => {
    const wider = policy({
      name: "p",
      rules: [allow("a"), allow("b"), deny("c").when(untrusted())],
      constants: ["k", "l"],
      tools: { t: { effect: "write" }, u: {} },
    });
    expect(widenings(before, wider.toJSON())).toEqual([
      'allows: allow("b")',
      'does without: ask("b").named("x")',
      'does without: deny("c")',
      'vouches for: "l"',
      "says otherwise of the tool: t",
      "says otherwise of the tool: u",
    ]);
    expect(widenings(strict().toJSON(), guarded().toJSON())).toHaveLength(2);
  });

  it("name a question in the place of the silence that denies", () => {
    const asking = (...rules: readonly RuleInput[]): readonly string[] =>
      widenings(
        before,
        policy({ ...before, rules: [allow("a"), ask("b").named("x"), deny("c"), ...rules] }).toJSON(),
      );
    expect(asking(ask("d"))).toEqual(['asks, where no rule may have allowed it: ask("d")']);
    expect(asking(ask("a", "*").when(untrusted()))).toHaveLength(1);
    expect(asking(ask("a", "b", "c").when(untrusted()))).toEqual([]);
    expect(widenings(strict().toJSON(), strict({ extraRules: [ask("x")] }).toJSON())).toEqual([]);
  });

  it.each<readonly [string, RuleInput, boolean]>([
    ["a rule that denies them", deny("a").when(arg("to").is(boundToIntent())), true],
    [
      "a rule that asks unless they are others",
      ask("a").unless(not(roles("target").are(boundToIntent()))),
      true,
    ],
    ["a rule that allows their links alone", allow("b").when(all(untrusted(), unknownLinks())), true],
    ["a rule that asks about others", ask("a").when(not(arg("to").is(boundToIntent()))), false],
    [
      "a rule that allows them",
      allow("b").when(all(arg("to").is(boundToIntent()), not(unknownLinks()))),
      false,
    ],
  ])("name a constant that is gone where there is %s: %#", (_what, rule, isNamed) => {
    const [had, has] = [["k"], []].map((constants) =>
      policy({ name: "p", rules: [allow("a"), rule], constants }).toJSON(),
    );
    expect(widenings(had as never, has as never)).toEqual(isNamed ? ['vouches no more for: "k"'] : []);
  });

  it("finds rules that one more value escapes", () => {
    const text = { type: "string" } as const;
    const mail = tool({
      name: "mail",
      description: "",
      inputSchema: {
        type: "object",
        properties: {
          from: text,
          to: { anyOf: [text, { type: "array", items: text }] },
          parts: { type: "array", items: { type: "object", properties: { euro: { type: "number" } } } },
        },
        additionalProperties: false,
      },
      execute: () => "",
    });
    const at = (path: string): Condition => arg(path).each(oneOf("eve@evil.example"));
    const found = (...rules: readonly RuleInput[]): readonly string[] =>
      lint(rules, [mail]).map((each) => each.split(" | ", 2).join(" "));
    const escaped = deny("mail").when(all(untrusted(), at("to")));
    expect(policy({ name: "p", rules: [escaped] }).lint([mail])).toEqual([
      {
        type: "each-of-several",
        rule: "deny mail (rule 1)",
        text: 'it holds only where each value of "to" passes, so that a call escapes it by one more: say what may stand there instead, .unless(arg("to").each(…))',
      },
    ]);
    expect(found(ask("*").when(arg("parts.euro").each(within({ min: 100 }))))).toEqual([
      "each-of-several ask * (rule 1)",
    ]);
    expect(found(allow("mail").unless(at("to")))).toEqual(["each-of-several allow mail (rule 1)"]);
    expect(found(allow("mail").when(not(at("to"))))).toEqual(["each-of-several allow mail (rule 1)"]);
    expect(found(deny("mail").when(at("from")), allow("mail").when(at("to")))).toEqual([]);
    expect(
      found(
        deny("mail").unless(at("to")),
        deny("mail")
          .when(not(at("to")))
          .named("b"),
      ),
    ).toEqual([]);
    expect(found(deny("mail").when(arg("to").is(absent())))).toEqual([]);
  });
});
