import { calls } from "./conditions.ts";
import type { Condition, Rule } from "./rule.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { list, named, record, type Shape, string, whole } from "../../util/shape.ts";
import { noteWritten, sameWritten } from "../../util/written-at.ts";

const steps = ["when", "unless", "because", "show", "named"] as const;

/** The steps that refine a rule, each possible once. */
export type RuleStep = (typeof steps)[number];

/** The steps of {@link RuleDraft}. Each returns a new rule. */
export interface RuleSteps<Open extends RuleStep> {
  /** Restricts the rule to these calls. */
  when(condition: Condition): RuleDraft<Exclude<Open, "when">>;
  /** Excludes these calls from the rule. */
  unless(condition: Condition): RuleDraft<Exclude<Open, "unless">>;
  /** Gives the reason, for people and for the model: it must say nothing that the model may not know. */
  because(text: string): RuleDraft<Exclude<Open, "because">>;
  /** Names the arguments that a person is shown first. */
  show(...names: readonly string[]): RuleDraft<Exclude<Open, "show">>;
  /** Names the rule in decisions. */
  named(name: string): RuleDraft<Exclude<Open, "named">>;
}

/**
 * A rule that can be refined. It is plain data: it equals its own JSON, and after a step the property of that name is a field
 * (`allow("x").when(c).when` is `c`).
 */
export type RuleDraft<Open extends RuleStep = RuleStep> = Omit<Rule, Open> & Pick<RuleSteps<Open>, Open>;

/** A rule, as data or as a draft. */
export interface RuleInput {
  readonly verdict: Rule["verdict"];
  readonly tools: readonly string[];
  readonly when?: Condition | ((condition: Condition) => unknown);
  readonly unless?: Condition | ((condition: Condition) => unknown);
  readonly because?: string | ((text: string) => unknown);
  readonly show?: readonly string[] | ((...names: readonly string[]) => unknown);
  readonly named?: (name: string) => unknown;
  readonly name?: string;
}

/**
 * Allows calls of these tools (`*`: all), unless another rule denies them or asks.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { arg, boundToIntent } from "writ/policy";
 *
 * export const rule = allow("send_mail").when(arg("to").each(boundToIntent("email"))).named("to those named");
 * ```
 */
export function allow(...tools: readonly string[]): RuleDraft {
  return written(draft({ verdict: "allow", tools: Object.freeze([...tools]) }), allow);
}

/**
 * Asks a person before these tools are called (`*`: all), unless another rule denies the call. With nobody to ask, the call is denied.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 *
 * export const rule = ask("deploy").because("it reaches customers").show("stage");
 * ```
 */
export function ask(...tools: readonly string[]): RuleDraft {
  return written(draft({ verdict: "ask", tools: Object.freeze([...tools]) }), ask);
}

/**
 * Denies calls of these tools (`*`: all), whatever other rules say.
 *
 * @example
 * ```ts
 * import { deny } from "writ";
 * import { arg, within } from "writ/policy";
 *
 * export const rule = deny("pay").unless(arg("euro").is(within({ min: 0, max: 1000 })));
 * ```
 */
export function deny(...tools: readonly string[]): RuleDraft {
  return written(draft({ verdict: "deny", tools: Object.freeze([...tools]) }), deny);
}

/**
 * Limits how often a tool may be called in a run. It allows nothing by itself.
 *
 * @example
 * ```ts
 * import { limit } from "writ";
 *
 * export const rule = limit("send_mail", { perRun: 3 });
 * ```
 */
export function limit(
  tool: string,
  bounds: { readonly perRun: number },
): RuleDraft<Exclude<RuleStep, "when">> {
  checkShape("limit()", bounds, boundsShape);
  const { perRun } = bounds;
  const when = calls({ atLeast: perRun });
  return written(draft({ verdict: "deny", tools: Object.freeze([tool]), when }), limit);
}

const boundsShape = closed({ perRun: whole });

/** The rule, with its author's place in the code remembered. */
function written<Made extends object>(rule: Made, by: (...given: never[]) => unknown): Made {
  noteWritten(rule, by);
  return rule;
}

const condition = named("a condition, like untrusted()", record);
const stepShapes: Readonly<Record<RuleStep, Shape<unknown>>> = {
  when: condition,
  unless: condition,
  because: string,
  show: list(string, "names of arguments"),
  named: string,
};

/** Makes a draft. Its steps are hidden properties, which neither JSON nor a comparison sees. */
function draft<Open extends RuleStep>(rule: Rule): RuleDraft<Open> {
  const data: Rule = { ...rule };
  for (const step of steps) {
    const field = step === "named" ? "name" : step;
    if (Object.hasOwn(rule, field)) continue;
    const take = (...said: readonly unknown[]): unknown => {
      checkShape(`${rule.verdict}(…).${step}()`, step === "show" ? said : said[0], stepShapes[step]);
      const next = draft({ ...rule, [field]: step === "show" ? Object.freeze([...said]) : said[0] });
      sameWritten(next, data);
      return next;
    };
    Object.defineProperty(data, step, { value: take });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- defineProperty says nothing to TypeScript
  return Object.freeze(data) as unknown as RuleDraft<Open>;
}
