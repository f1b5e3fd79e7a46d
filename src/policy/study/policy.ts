import { checkArguments } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { type Json, parseJson } from "../../util/json.ts";
import { either, list, object, optional, record, string } from "../../util/shape.ts";
import { noteWritten } from "../../util/written-at.ts";
import type { CallRequest, Decision, Policy } from "../decision.ts";
import { type Audience, explain } from "./explain.ts";
import { type Finding, type LintedTool, lintRules } from "./lint.ts";
import { conditionsIn } from "../rules/conditions.ts";
import { decide } from "../rules/decide.ts";
import { checkedPolicy, rulesOf } from "../rules/policy-json.ts";
import { remediesFor, type Remedy, remedyText } from "../rules/remedy.ts";
import { type PolicyCase, type PolicyReport, testPolicy } from "./test-policy.ts";
import { ruleBook, verdictOf } from "../rules/verdict.ts";
import { sightOf } from "../rules/condition/sight.ts";
import type { RuleInput } from "../rules/builders.ts";
import type { Annotation, PolicyJson, Rule } from "../rules/rule.ts";
import { type RecordedEvent, type SimulatedCall, type SimulateOptions, simulateRun } from "./simulate.ts";

/** The knowledge and constants of a policy beside its rules. */
export interface PolicyOptions {
  /** Annotations of tools that others wrote; they stand over what the tools say of themselves. */
  readonly tools?: Readonly<Record<string, Annotation>>;
  /** Values that the author vouches for: they count as the user's own choice. */
  readonly constants?: readonly string[];
  /** More rules, beside those of a preset. */
  readonly extraRules?: readonly RuleInput[];
  /** Calls that need no question although a rule asks, each an `allow`; a rule that denies stands over them. */
  readonly exceptions?: readonly RuleInput[];
  /** The tools of each way of working: a skill of the agent that is named here may list no others. */
  readonly skills?: PolicyJson["skills"];
}

/** A policy as its author writes it. */
export interface PolicyDefinition extends PolicyOptions {
  /** The name of the policy in records and decisions. */
  readonly name: string;
  /** The rules, or the preset whose rules they are. */
  readonly rules: readonly RuleInput[] | "guarded" | "strict";
}

/** The change that would have allowed a call. */
export interface Advice {
  /** The decision about the call as it is. */
  readonly decision: Decision;
  /** The smallest change of the policy that would have allowed it, as data; several belong together. Empty when it is allowed, or nothing small would. */
  readonly changes: readonly Remedy[];
  /** The change as code; undefined when there is none. */
  readonly text: string | undefined;
}

/**
 * A policy of rules. It is a {@link Policy}, so it stands wherever a function does; it is data too (`toJSON`, `policyFromJson`), and says what it does. It
 * never throws when it judges, whatever the arguments are.
 */
export interface RulePolicy extends Policy {
  (call: CallRequest): Decision;
  readonly name: string;
  /** All rules, those of a preset first. */
  readonly rules: readonly Rule[];
  readonly tools: Readonly<Record<string, Annotation>>;
  readonly constants: readonly string[];
  /** The tools of each way of working; undefined where the policy says nothing of skills. */
  readonly skills: PolicyJson["skills"];
  /** The tools whose calls rules count, `*` among them when all are. */
  readonly counted: readonly string[];
  /** The same policy for {@link policyFromJson}. */
  toJSON(): PolicyJson;
  /** A decision in words: one line that leaks nothing, or all of it. */
  explain(decision: Decision, audience: Audience): string;
  /** Puts cases to the policy: calls as data, with the verdicts that they must get. */
  test(cases: readonly PolicyCase[]): PolicyReport;
  /** Decides about each call of a recorded run anew. */
  simulate(run: Iterable<RecordedEvent>, options?: SimulateOptions): readonly SimulatedCall[];
  /** Finds what is most likely not meant in the policy. Names are looked up where the tools are given. */
  lint(tools?: readonly (LintedTool | string)[]): readonly Finding[];
  /** The smallest change that would have allowed a call. */
  advise(call: CallRequest): Advice;
}

/**
 * Makes a policy of rules. Every rule that matches counts: deny over ask over allow, whatever their order. Where none matches, what only looks is allowed,
 * and so are knowledge and memory; every effect, declared or not, is denied. What cannot be evaluated allows nothing, and keeps no deny and no ask away.
 *
 * @throws WritError `policy-invalid` with the path of what is wrong
 * @example
 * ```ts
 * import { allow, ask, limit, policy } from "writ";
 * import { arg, boundToIntent } from "writ/policy";
 *
 * export const mail = policy({
 *   name: "mail",
 *   rules: [
 *     allow("send_mail").when(arg("to").each(boundToIntent("email"))),
 *     ask("delete_mail").because("a deleted mail is gone").show("id"),
 *     limit("send_mail", { perRun: 3 }),
 *   ],
 * });
 * ```
 */
export function policy(definition: PolicyDefinition): RulePolicy {
  return policyFromJson(definition);
}

const linted = list(either(string, object({ name: string }, "a tool")), "a list of tools, or of their names");
const judged = object({ tool: string, knows: record }, "a call as a policy is given it");

/**
 * Makes a policy of its JSON, as a value or as the text of a file. Everything is checked: what is not known is an error.
 *
 * @throws WritError `policy-invalid` with the path of what is wrong
 * @example
 * ```ts
 * import { policyFromJson } from "writ/policy";
 *
 * export const mail = policyFromJson({
 *   name: "mail",
 *   rules: "guarded",
 *   tools: { send_mail: { effect: "irreversible", parameters: { to: "target", body: "content" } } },
 * });
 * ```
 */
export function policyFromJson(json: unknown): RulePolicy {
  const checked = checkedPolicy(typeof json === "string" ? parsedPolicy(json) : json);
  const { name, tools = {}, constants = [], skills } = checked;
  const rules = rulesOf(checked);
  const book = ruleBook(rules, tools);
  const counting = rules.filter((rule) => conditionsIn(rule).some(({ type }) => type === "calls"));
  const judge = (call: CallRequest): Decision => decide(book, call);
  const own: Pick<RulePolicy, keyof RulePolicy> = {
    name,
    rules,
    tools,
    constants,
    skills,
    counted: Object.freeze([...new Set(counting.flatMap((rule) => rule.tools))]),
    toJSON: () => checked,
    explain,
    test: (cases) => testPolicy(judge, constants, cases),
    simulate: (run, options = {}) => simulateRun({ policy: judge, tools, constants }, run, options),
    lint: (known) => {
      checkArguments("lint()", { tools: known }, { tools: optional(linted) });
      const named = known?.map((tool) => (typeof tool === "string" ? { name: tool } : tool));
      return lintRules(book, tools, named);
    },
    advise: (call) => {
      checkArguments("advise()", { call }, { call: judged });
      const decision = judge(call);
      if (decision.verdict === "allow") return { decision, changes: [], text: undefined };
      const sight = sightOf(call, book.annotationOf(call.tool));
      const changes = remediesFor(sight, verdictOf(book.rulesFor(call.tool), sight), book);
      return { decision, changes, text: remedyText(changes) };
    },
  };
  const fields = Object.entries(own).map(([key, value]) => [key, { value, enumerable: true }] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- defineProperties says nothing to TypeScript
  const made = Object.freeze(Object.defineProperties(judge, Object.fromEntries(fields))) as RulePolicy;
  noteWritten(made, policyFromJson, typeof json === "string" ? json : undefined);
  return made;
}

function parsedPolicy(text: string): Json {
  const parsed = parseJson(text.replace(/^\ufeff/, "")); // some editors begin a file with it
  if (parsed.ok) return parsed.value;
  throw new WritError("policy-invalid", { name: "?", reason: `it cannot be read as JSON: ${parsed.reason}` });
}
