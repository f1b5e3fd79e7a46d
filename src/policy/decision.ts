import type { Label } from "../message/label.ts";
import type { Parameters, ValueSource, ValueType } from "../tool/parameters.ts";
import type { Effect, Tool } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import type { Intent } from "./knowledge/intent.ts";
import type { PlanAtCall } from "./knowledge/plan.ts";

/** A call as a policy sees it: after the allow-list let it pass and its arguments were parsed. */
export interface CallRequest {
  readonly agent: string;
  readonly skill: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: Effect;
  /** In full: a Set is the list of its values, a Map the list of its pairs. Throws where the tool would get what JSON cannot show. */
  readonly arguments: Json;
  /** The names that the tool's schema gives to fields. Any other name in the arguments was chosen by the model: it is a value. Default: what looks like a name is one. */
  readonly fields?: ReadonlySet<string>;
  /** The names that the schema gives to the arguments themselves, without those of fields within them. Default: `fields`. */
  readonly declared?: ReadonlySet<string>;
  /** Roles of the arguments, as the tool declares them. */
  readonly parameters: Parameters;
  /** `knowledge` and `memory` are the author's and the agent's own: no effect outside. */
  readonly kind?: Tool["kind"];
  readonly knows: RunKnowledge;
}

/** Knowledge of a run when a call is judged. The same at every replay. */
export interface RunKnowledge {
  readonly intent: Intent;
  /** The join of the labels of all that the model has seen: what it writes cannot be better. */
  readonly label: Label;
  /**
   * True if a value is the user's own choice: in the one canonical form of its type it occurs in the intent,
   * in a constant of the author, or in what a lookup found that was itself asked for by bound values alone.
   * Without a type the value's own form says it. For a tool that removes something (by its name), what a lookup found is no choice.
   */
  readonly isBound: (value: Json, type?: ValueType, tool?: string) => boolean;
  /** True if a value comes from a place that an author names for a parameter (see `ValueSource`). */
  readonly isFound: (value: Json, source: ValueSource, type?: ValueType) => boolean;
  /** True if a link (canonical) stands in the intent, or in a source that is trusted. */
  readonly isKnownLink: (url: string) => boolean;
  /**
   * True if the user's words speak of the kind of act that the name of the tool says, or if that says none. `exactly`: of the very act, and of
   * something that it acts on.
   */
  readonly asksFor: (tool: string, exactly?: boolean) => boolean;
  /** The plan of the run; undefined where nobody planned. */
  readonly plan?: PlanAtCall;
  /** Number of calls of the tool that have run in this run, or are about to. */
  readonly calls: (tool: string) => number;
}

/**
 * A policy's word on a call. `rule` names the rule that decided, `reason` is for people, `remedy` says what
 * would have allowed it.
 */
export interface Decision {
  readonly verdict: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly reason: string;
  readonly remedy?: string;
  /** Notes that did not decide: `effect-undeclared` for an undeclared effect after untrusted data. */
  readonly flags?: readonly string[];
  /** The values behind the decision; for people and records, never for the model. */
  readonly evidence?: Evidence;
}

/** The values for which a call was judged as it was. */
export interface Evidence {
  readonly label: Label;
  /** The hash of the intent that values were compared with. */
  readonly intent: string;
  /** Arguments that no bound value explains, by their paths. */
  readonly unbound?: readonly { readonly path: string; readonly value: Json; readonly type?: ValueType }[];
  /** Links in content that no trusted source contained. */
  readonly links?: readonly string[];
  /** The arguments that the rule shows a person first. */
  readonly show?: readonly string[];
  /** The call was planned, exactly so: by the model before it had read a stranger's words, or by a person who was asked. */
  readonly planned?: "model" | "person";
  /** Every rule that matched, by its name. */
  readonly matched?: readonly string[];
}

/**
 * A pure rule over a call. The same call gets the same decision: a policy reads no clock and no outside state.
 *
 * @example
 * ```ts
 * import type { Decision, Policy } from "writ";
 * import type { CallRequest } from "writ/policy";
 *
 * const decide = ({ tool }: CallRequest): Decision =>
 *   tool === "pay" ? { verdict: "ask", rule: "money", reason: "money leaves" } : { verdict: "allow", rule: "rest", reason: "no money" };
 *
 * export const careful: Policy = Object.assign(decide, { version: "2026-11" });
 * ```
 */
export interface Policy {
  (call: CallRequest): Decision;
  /**
   * A text that is another when the function decides otherwise. A run that waits goes on only under the policy that it began with: without a version a
   * function is known by its source, which a bundler or a minifier rewrites with every build.
   */
  readonly version?: string;
}

const listed: Decision = { verdict: "allow", rule: "allow-list", reason: "the skill lists this tool" };

/** The policy when the author gives none: what the allow-list lets pass may run. */
export function allowListed(_call: CallRequest): Decision {
  return listed;
}

const strictness: Readonly<Record<Decision["verdict"], number>> = { allow: 0, ask: 1, deny: 2 };

/** The stricter of two policies for each call: a run inside another one may do no more than the one around it. */
export function strictest(inner: Policy, outer: Policy): Policy {
  if (outer === allowListed || outer === inner) return inner;
  return (call) => {
    const first = inner(call);
    const second = outer(call);
    return (strictness[second.verdict] ?? 2) > (strictness[first.verdict] ?? 2) ? second : first;
  };
}
