import { checkArguments, closed } from "../../error/check-shape.ts";
import { type Label, trustedLabel } from "../../message/label.ts";
import type { Message } from "../../message/message.ts";
import type { Parameters } from "../../tool/parameters.ts";
import type { Effect, Tool } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";
import { anything, boolean, list, oneOf, optional, shapeOf, string, whole } from "../../util/shape.ts";
import type { AllowList } from "../allow-list.ts";
import type { CallRequest, Decision, Policy, RunKnowledge } from "../decision.ts";
import { explain } from "./explain.ts";
import { noIntent } from "../knowledge/intent.ts";
import { knowing, learn, learnIntent } from "../knowledge/learned.ts";

/** A call and its expected verdict. Plain data: cases can be kept in a file. */
export interface PolicyCase {
  /** The name of the case in reports. Default: its number. */
  readonly name?: string;
  readonly tool: string;
  readonly arguments: Json;
  /** The effect that the tool declares. Default: undeclared; the policy may declare it too. */
  readonly effect?: Effect;
  readonly parameters?: Parameters;
  readonly kind?: Tool["kind"];
  /** The user's words. */
  readonly intent?: string;
  /** True if the model has seen strangers' data. Default: false. */
  readonly untrusted?: boolean;
  /** The people who may know what the model has seen. Default: everybody. */
  readonly secrecy?: Label["secrecy"];
  /** Trusted texts that the model has seen: their links are known, their values are not the user's choice. */
  readonly trusted?: readonly string[];
  /** The number of calls of the tool that have run. Default: 0. */
  readonly calls?: number;
  readonly expect: Decision["verdict"];
  /** The name of the rule that must decide, if that matters. */
  readonly rule?: string;
}

/** A case with another verdict, or another rule. */
export interface FailedCase {
  readonly name: string;
  readonly case: PolicyCase;
  readonly decision: Decision;
  /** The expected and the actual verdict, with the explanation. */
  readonly text: string;
}

/** The results of the cases. */
export interface PolicyReport {
  readonly passed: number;
  readonly failed: readonly FailedCase[];
}

const aCase = closed({
  name: anything,
  tool: string,
  arguments: shapeOf("the arguments of the call", (value) => value !== undefined),
  effect: anything,
  parameters: anything,
  kind: anything,
  intent: optional(string),
  untrusted: optional(boolean),
  secrecy: anything,
  trusted: optional(list(string, "a list of texts")),
  calls: optional(whole),
  expect: oneOf("allow", "ask", "deny"),
  rule: optional(string),
} satisfies Record<keyof PolicyCase, unknown>);

/** Tests a policy with cases. @throws WritError `definition-invalid` for a malformed case, which would test another call than its author means */
export function testPolicy(
  policy: Policy,
  constants: readonly string[],
  cases: readonly PolicyCase[],
): PolicyReport {
  checkArguments("test()", { cases }, { cases: list(aCase, "a list of cases") });
  const failed = cases.flatMap((each, index): readonly FailedCase[] => {
    const decision = policy(caseRequest(each, constants));
    const isRight =
      decision.verdict === each.expect && (each.rule === undefined || decision.rule === each.rule);
    if (isRight) return [];
    const name = each.name ?? `case ${index + 1}`;
    const wanted = `${each.expect}${each.rule === undefined ? "" : ` by ${each.rule}`}`;
    const text = `${name}: expected ${wanted}, got ${decision.verdict} by ${decision.rule}\n${explain(decision, "people")}`;
    return [{ name, case: each, decision, text }];
  });
  return { passed: cases.length - failed.length, failed };
}

/** The call of a case as a policy sees it. */
export function caseRequest(each: Omit<PolicyCase, "expect">, constants: readonly string[]): CallRequest {
  return {
    agent: "policy-test",
    skill: "policy-test",
    turn: 1,
    callId: "call-1",
    tool: each.tool,
    effect: each.effect ?? "undeclared",
    arguments: each.arguments,
    parameters: each.parameters ?? {},
    ...(each.kind === undefined ? {} : { kind: each.kind }),
    knows: knowledgeOf(each, constants),
  };
}

function knowledgeOf(each: Omit<PolicyCase, "expect">, constants: readonly string[]): RunKnowledge {
  const { intent: text = "", untrusted = false, secrecy = "public", trusted = [], calls = 0 } = each;
  const intent = { ...noIntent("policy-test"), text, constants };
  const label: Label = untrusted
    ? { integrity: "untrusted", secrecy, sources: ["tool/stranger"] }
    : { ...trustedLabel, secrecy };
  const seen = trusted.map((said, index): Message => {
    return {
      role: "tool",
      callId: `trusted-${index}`,
      name: "trusted",
      status: "ok",
      text: said,
      label: trustedLabel,
    };
  });
  const learned = learn(learnIntent(intent, nothingListed, label), seen, nothingListed);
  return { ...knowing(intent, learned), calls: (tool) => (tool === each.tool ? calls : 0) };
}

const nothingListed: AllowList = { skill: "policy-test", tools: new Map() };
