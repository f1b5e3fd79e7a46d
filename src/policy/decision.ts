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
