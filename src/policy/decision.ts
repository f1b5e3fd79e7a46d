import type { Label } from "../message/label.ts";
import type { Parameters, ValueSource, ValueType } from "../tool/parameters.ts";
import type { IsDefault } from "../tool/default-values.ts";
import type { Effect, Tool } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import type { Intent } from "./knowledge/intent.ts";
import type { PlanAtCall } from "./knowledge/plan.ts";

/** A call as a policy sees it: allowed by the allow-list, with parsed arguments. */
export interface CallRequest {
  /** The name of the agent whose model made the call. */
  readonly agent: string;
  /** The name of the agent's skill. */
  readonly skill: string;
  /** The turn of the call; the first is 1. */
  readonly turn: number;
  /** The id of the call, which no other call of the run has. */
  readonly callId: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The effect that the tool declares. */
  readonly effect: Effect;
  /** All arguments as JSON: a Set is the list of its values, a Map the list of its pairs. Throws if the tool would get a value that JSON cannot show. */
  readonly arguments: Json;
  /** The names that the tool's schema gives to fields. Any other name in the arguments was chosen by the model, and is a value. Default: judged by its form. */
  readonly fields?: ReadonlySet<string>;
  /** The names that the schema gives to the arguments themselves, without fields inside them. Default: `fields`. */
  readonly declared?: ReadonlySet<string>;
  /**
   * Finds the values in `arguments` that are defaults of the author's own schema: in the function that it returns, of the field of an object. They count as the
   * author's where leaving them out gives the same. Default: none, as of a tool whose schema somebody else wrote.
   */
  readonly defaultsIn?: ((args: Json) => IsDefault) | undefined;
  /** The roles of the arguments, as the tool declares them. */
  readonly parameters: Parameters;
  /** `knowledge` and `memory` belong to the author and the agent: they have no effect outside. */
  readonly kind?: Tool["kind"];
  readonly knows: RunKnowledge;
}

/** The knowledge of a run when a call is judged: the same at every replay. */
export interface RunKnowledge {
  readonly intent: Intent;
  /** The join of the labels of everything that the model has seen: what it writes cannot be better. */
  readonly label: Label;
  /**
   * True if a value is the user's own choice: in the canonical form of its type it occurs in the intent,
   * in a constant of the author, or in the result of a lookup whose own arguments were all bound.
   * Without a type, the form of the value decides. For a tool that removes something (by its name), a looked-up value is not a choice.
   */
  readonly isBound: (value: Json, type?: ValueType, tool?: string) => boolean;
  /** True if a value comes from a place that an author names for a parameter (see `ValueSource`). */
  readonly isFound: (value: Json, source: ValueSource, type?: ValueType) => boolean;
  /** True if a link (canonical) occurs in the intent, or in a trusted source. */
  readonly isKnownLink: (url: string) => boolean;
  /**
   * True if the user's words name the kind of act in the tool's name, or if the name has none. `exactly`: they name this very act, and
   * something that it acts on.
   */
  readonly asksFor: (tool: string, exactly?: boolean) => boolean;
  /** The plan of the run; undefined without one. */
  readonly plan?: PlanAtCall;
  /** The number of calls of the tool that have run in this run, or are about to. */
  readonly calls: (tool: string) => number;
}

/**
 * A policy's decision about a call. `rule` names the rule that decided, `reason` is for people, `remedy` says what
 * would have allowed it.
 */
export interface Decision {
  /** `ask`: the call runs only if a person approves it. */
  readonly verdict: "allow" | "ask" | "deny";
  /** The name of the rule that decided. */
  readonly rule: string;
  /** The reason, for people; the model is told that of a `deny`. */
  readonly reason: string;
  /** The change that would have allowed the call. Left out if it was allowed, or if the rule names nothing. */
  readonly remedy?: string;
  /** Notes that did not decide: `effect-undeclared` for an undeclared effect after untrusted data. */
  readonly flags?: readonly string[];
  /** The values behind the decision; for people and records, never for the model. */
  readonly evidence?: Evidence;
}

/** The values that a decision about a call rests on. */
export interface Evidence {
  readonly label: Label;
  /** The hash of the intent that values were compared with. */
  readonly intent: string;
  /** The arguments with unbound values, by path. */
  readonly unbound?: readonly { readonly path: string; readonly value: Json; readonly type?: ValueType }[];
  /** Links in content that occur in no trusted source. */
  readonly links?: readonly string[];
  /** The arguments that the rule shows a person first. */
  readonly show?: readonly string[];
  /** Present if exactly this call was planned: by the model, before it had read a stranger's words, or by a person who was asked. */
  readonly planned?: "model" | "person";
  /** The names of all rules that matched. */
  readonly matched?: readonly string[];
}

/**
 * A pure rule over a call. The same call gets the same decision: a policy reads neither a clock nor outside state.
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
   * A text that changes whenever the function decides differently. A waiting run goes on only under the policy that it began with. Without a version, a
   * function is identified by its source, which a bundler or a minifier rewrites with every build.
   */
  readonly version?: string;
}

const listed: Decision = { verdict: "allow", rule: "allow-list", reason: "the skill lists this tool" };

/** The policy if the author gives none: every call that the allow-list permits may run. */
export function allowListed(_call: CallRequest): Decision {
  return listed;
}

const strictness: Readonly<Record<Decision["verdict"], number>> = { allow: 0, ask: 1, deny: 2 };

/** The stricter of two policies for each call: a run inside another one may do no more than the run around it. */
export function strictest(inner: Policy, outer: Policy): Policy {
  if (outer === allowListed || outer === inner) return inner;
  return (call) => {
    const first = inner(call);
    const second = outer(call);
    return (strictness[second.verdict] ?? 2) > (strictness[first.verdict] ?? 2) ? second : first;
  };
}
