import { checkArguments } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { parseCallJson } from "../../util/call-json.ts";
import type { Json } from "../../util/json.ts";
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

/** The annotations and constants of a policy, apart from its rules. */
export interface PolicyOptions {
  /** Annotations of tools that others wrote; they override what the tools declare themselves. */
  readonly tools?: Readonly<Record<string, Annotation>>;
  /** Values that the author vouches for: they count as the user's own choice. */
  readonly constants?: readonly string[];
  /** Rules in addition to those of a preset. */
  readonly extraRules?: readonly RuleInput[];
  /** Calls that need no question although a rule asks, each an `allow`; a rule that denies overrides them. */
  readonly exceptions?: readonly RuleInput[];
  /** The tools of each skill: a skill of the agent that is named here may list no others. */
  readonly skills?: PolicyJson["skills"];
}

/** A policy as its author writes it. */
export interface PolicyDefinition extends PolicyOptions {
  /** The name of the policy in records and decisions. */
  readonly name: string;
  /** The rules, or the name of a preset. */
  readonly rules: readonly RuleInput[] | "guarded" | "strict";
}

/** The change that would have allowed a call. */
export interface Advice {
  /** The decision about the call under the current policy. */
  readonly decision: Decision;
  /** The smallest change of the policy that would have allowed it, as data; several belong together. Empty if it is allowed, or no small change would do. */
  readonly changes: readonly Remedy[];
  /** The change as code; undefined if there is none. */
  readonly text: string | undefined;
}

/**
 * A policy of rules. It is a {@link Policy}, so it can be used wherever a function can; it is also data (`toJSON`, `policyFromJson`), and explains itself. It
 * never throws when it judges, whatever the arguments are.
 */
export interface RulePolicy extends Policy {
  (call: CallRequest): Decision;
  readonly name: string;
  /** All rules, those of a preset first. */
  readonly rules: readonly Rule[];
  readonly tools: Readonly<Record<string, Annotation>>;
  readonly constants: readonly string[];
  /** The tools of each skill; undefined if the policy does not name skills. */
  readonly skills: PolicyJson["skills"];
  /** The tools whose calls rules count; includes `*` if all are counted. */
  readonly counted: readonly string[];
  /** The policy as data for {@link policyFromJson}. */
  toJSON(): PolicyJson;
  /** A decision in words: one line that reveals nothing, or everything. */
  explain(decision: Decision, audience: Audience): string;
  /** Tests the policy with cases: calls as data, with their expected verdicts. */
  test(cases: readonly PolicyCase[]): PolicyReport;
  /** Decides again about each call of a recorded run. */
  simulate(run: Iterable<RecordedEvent>, options?: SimulateOptions): readonly SimulatedCall[];
  /** Finds likely mistakes in the policy. Names are checked if the tools are given. */
  lint(tools?: readonly (LintedTool | string)[]): readonly Finding[];
  /** The smallest change that would have allowed a call. */
  advise(call: CallRequest): Advice;
}

/**
 * Makes a policy of rules. Every matching rule counts: deny before ask before allow, in any order. If none matches, calls that only look are allowed,
 * and so are knowledge and memory; every effect, declared or not, is denied. A condition that cannot be evaluated allows nothing and prevents no deny or ask.
 *
 * @throws WritError `policy-invalid` with the path of the fault
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
 * Makes a policy from its JSON, as a value or as the text of a file. Everything is checked: an unknown field is an error.
 *
 * @throws WritError `policy-invalid` with the path of the fault
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
  const file = text.replace(/^\ufeff/, ""); // some editors begin a file with a byte order mark
  const parsed = parseCallJson(file);
  if (parsed.ok) return parsed.value;
  const at = "twice" in parsed ? ` (line ${file.slice(0, parsed.twice.at).split("\n").length})` : "";
  const advice = file.trimStart().startsWith("{")
    ? ""
    : "; give the value of YAML, not its text: `policyFromJson(parse(text))`, with `parse` of the package `yaml`";
  throw new WritError("policy-invalid", {
    name: "?",
    reason: `it cannot be read as JSON: ${parsed.reason}${at}${advice}`,
  });
}
