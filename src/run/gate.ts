import type { PolicyWords, Said } from "../policy/rules/annotate.ts";
import {
  type AllowList,
  restrictList,
  toldAnew,
  toldBetween,
  withOffered,
  withTool,
} from "../policy/allow-list.ts";
import { type CallRequest, type Decision, type Policy, strictest } from "../policy/decision.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import type { Purse } from "../policy/account/purse.ts";
import { resultReader } from "../tool/read-result.ts";
import type { AgreedAct, PlannedAct } from "../tool/planned-act.ts";
import type { Powers } from "../tool/power-port.ts";
import type { Mode } from "../tool/tool.ts";

/** The gate between a proposed call and its tool, as an agent defines it. */
export interface PlannedGate {
  readonly agent: string;
  readonly allowed: AllowList;
  readonly policy: Policy;
  /** The policy's own words on tools, and the values that its author vouches for. */
  readonly own: PolicyWords;
}

/** The gate between a proposed call and its tool in one run. */
export interface Gate extends Omit<PlannedGate, "own"> {
  /** The policy of the run around this one. The stricter of both holds, whatever this run's mode preapproves. */
  readonly outer?: Policy;
  /**
   * The words on tools in the policies of this run and of all runs around it, outermost first. They hold in runs
   * inside too.
   */
  readonly said?: readonly Said[];
  readonly intent: Intent;
  /** The acts that the run was planned to do; undefined without a plan. */
  readonly plan?: readonly AgreedAct[];
  /** The powers over the world: the grants of this run and of every run around it. */
  readonly powers: Powers;
}

/** The policy that judges the calls of this run. */
export function judgeOf({ policy, outer }: Pick<Gate, "policy" | "outer">): Policy {
  return outer === undefined ? policy : strictest(policy, outer);
}

/**
 * The policy that judges the calls of runs inside this one. It counts calls over this run and all runs
 * inside it.
 */
export function judgeInside(gate: Gate, purse: Purse): Policy {
  const judge = judgeOf(gate);
  return gate.allowed.counted === undefined ? judge : (call) => judge(new CountedCall(call, purse));
}

/** A call whose earlier calls the purse counts: the call itself was counted before it was judged. A class for the same reason as `JudgedCall`. */
class CountedCall implements CallRequest {
  readonly agent: string;
  readonly skill: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly effect: CallRequest["effect"];
  readonly parameters: CallRequest["parameters"];
  readonly kind: CallRequest["kind"];
  readonly #call: CallRequest;
  readonly #purse: Purse;

  constructor(call: CallRequest, purse: Purse) {
    this.agent = call.agent;
    this.skill = call.skill;
    this.turn = call.turn;
    this.callId = call.callId;
    this.tool = call.tool;
    this.effect = call.effect;
    this.parameters = call.parameters;
    this.kind = call.kind;
    this.#call = call;
    this.#purse = purse;
  }

  get arguments(): CallRequest["arguments"] {
    return this.#call.arguments;
  }

  get fields(): CallRequest["fields"] {
    return this.#call.fields;
  }

  get declared(): CallRequest["declared"] {
    return this.#call.declared;
  }

  get knows(): CallRequest["knows"] {
    const calls = (tool: string): number => this.#purse.calls(tool) - (tool === this.tool ? 1 : 0);
    return { ...this.#call.knows, calls };
  }
}

/** The gate of a run that begins with these modes: the model was not told of what they take away. */
export function beginWith(gate: Gate, modes: readonly Mode[]): Gate {
  const narrowed = modes.reduce(applyMode, gate);
  return { ...narrowed, allowed: toldAnew(narrowed.allowed) };
}

/** The gate of a run whose model can read on in results, so many bytes at a time, from its beginning on. */
export function readingOn(gate: Gate, maxBytes: number): Gate {
  return { ...gate, allowed: withTool(gate.allowed, resultReader(maxBytes)) };
}

/** The gate after a call has changed the mode of the run: never wider than before. */
export function applyMode(gate: Gate, { restrictTo, preapproved, offer = [], reads, plan }: Mode): Gate {
  const allowed = restrictTo === undefined ? gate.allowed : restrictList(gate.allowed, restrictTo);
  const readable = reads === undefined ? allowed : withTool(allowed, resultReader(reads));
  const offering = withOffered(readable, offer);
  const fresh = toldBetween(gate.allowed, offering);
  return {
    ...gate,
    allowed:
      fresh.length === 0 ? offering : { ...offering, late: new Set([...(offering.late ?? []), ...fresh]) },
    policy: preapproved === undefined ? gate.policy : withoutAsking(gate.policy, new Set(preapproved)),
    ...(plan === undefined ? {} : { plan: [...(gate.plan ?? []), ...plan.filter(isAgreed)] }),
  };
}

/** Acts of a plan without a known planner do not count. */
function isAgreed(act: PlannedAct | AgreedAct): act is AgreedAct {
  return "by" in act;
}

function withoutAsking(policy: Policy, preapproved: ReadonlySet<string>): Policy {
  return (call) => {
    const decision: Decision = policy(call);
    // Content of strangers may have told the model to take up the skill that preapproves.
    const isOpen = call.knows.label.integrity === "trusted";
    if (decision.verdict !== "ask" || !preapproved.has(call.tool) || !isOpen) return decision;
    return {
      verdict: "allow",
      rule: "preapproved",
      reason: `a skill in use approves it beforehand (${decision.rule})`,
    };
  };
}
