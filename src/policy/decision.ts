import type { Effect } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";

/** A call as a policy sees it: after the allow-list let it pass and its arguments were parsed. */
export interface CallRequest {
  readonly agent: string;
  readonly skill: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: Effect;
  readonly arguments: Json;
}

/**
 * What a policy says of a call. `rule` names the rule that decided, `reason` is for people, `remedy` says what would have allowed it.
 */
export interface Decision {
  readonly verdict: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly reason: string;
  readonly remedy?: string;
}

/** A pure rule over a call. The same call gets the same decision: a policy reads no clock and no outside state. */
export type Policy = (call: CallRequest) => Decision;

const listed: Decision = { verdict: "allow", rule: "allow-list", reason: "the skill lists this tool" };

/** The policy when the author gives none: what the allow-list lets pass may run. */
export function allowListed(_call: CallRequest): Decision {
  return listed;
}

const strictness: Readonly<Record<Decision["verdict"], number>> = { allow: 0, ask: 1, deny: 2 };

/** The stricter of two policies for each call: a run inside another one may do no more than the one around it. */
export function strictest(inner: Policy, outer: Policy): Policy {
  if (outer === allowListed) return inner;
  return (call) => {
    const first = inner(call);
    const second = outer(call);
    return (strictness[second.verdict] ?? 2) > (strictness[first.verdict] ?? 2) ? second : first;
  };
}
