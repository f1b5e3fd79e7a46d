import { type AllowList, restrictList } from "../policy/allow-list.ts";
import { type Decision, type Policy, strictest } from "../policy/decision.ts";
import type { Mode } from "../tool/tool.ts";

/** What stands between a proposed call and its tool. */
export interface Gate {
  readonly agent: string;
  readonly allowed: AllowList;
  readonly policy: Policy;
  /** The policy of the run around this one. The stricter of both holds, whatever this run's mode approves beforehand. */
  readonly outer?: Policy;
}

/** What judges a call of this run. */
export function judgeOf({ policy, outer }: Pick<Gate, "policy" | "outer">): Policy {
  return outer === undefined ? policy : strictest(policy, outer);
}

/** The gate after a call changed the mode of the run: never wider than before. */
export function applyMode(gate: Gate, { restrictTo, preapproved }: Mode): Gate {
  return {
    ...gate,
    allowed: restrictTo === undefined ? gate.allowed : restrictList(gate.allowed, restrictTo),
    policy: preapproved === undefined ? gate.policy : withoutAsking(gate.policy, new Set(preapproved)),
  };
}

function withoutAsking(policy: Policy, preapproved: ReadonlySet<string>): Policy {
  return (call) => {
    const decision: Decision = policy(call);
    if (decision.verdict !== "ask" || !preapproved.has(call.tool)) return decision;
    return {
      verdict: "allow",
      rule: "preapproved",
      reason: `a skill in use approves it beforehand (${decision.rule})`,
    };
  };
}
