import type { Label } from "../message/label.ts";
import type { ValueType } from "../tool/parameters.ts";
import type { Json } from "../util/json.ts";
import type { CallRequest, Decision } from "./decision.ts";
import type { Intent } from "./intent.ts";

/** What a person is asked, as data: it can be sent, kept and shown anywhere. All of it is what the policy saw. */
export interface ApprovalRequest extends Pick<
  CallRequest,
  "agent" | "skill" | "turn" | "callId" | "tool" | "effect" | "arguments"
> {
  /** The rule that asks, and why. */
  readonly rule: string;
  readonly reason: string;
  /** Each value in the arguments: whether the user chose it. What is not bound, a model wrote after all that `label` says. */
  readonly values: readonly ApprovalValue[];
  /** Where what the model had seen comes from. */
  readonly label: Label;
  readonly intent: Pick<Intent, "text" | "hash">;
  /** Links in the arguments that no trusted source contained. */
  readonly links: readonly string[];
  /** The arguments that the rule shows first. */
  readonly show: readonly string[];
  /** A fingerprint of the tool and its exact arguments: what is approved is this call and no other. */
  readonly hash: string;
}

/** A value in the arguments of a call, and where it comes from. */
export interface ApprovalValue {
  readonly path: string;
  readonly value: Json;
  readonly bound: boolean;
  readonly type?: ValueType;
}

/** The question about a call. */
export function approvalRequest(request: CallRequest, decision: Decision, hash: string): ApprovalRequest {
  const { agent, skill, turn, callId, tool, effect, arguments: args, knows } = request;
  const { evidence } = decision;
  return {
    agent,
    skill,
    turn,
    callId,
    tool,
    effect,
    arguments: args,
    rule: decision.rule,
    reason: decision.reason,
    values: valuesOf(request),
    label: knows.label,
    intent: { text: knows.intent.text, hash: knows.intent.hash },
    links: evidence?.links ?? [],
    show: evidence?.show ?? [],
    hash,
  };
}

/** More values than a person reads. */
const maxValues = 200;

function valuesOf({ arguments: args, parameters, knows }: CallRequest): readonly ApprovalValue[] {
  const values: ApprovalValue[] = [];
  function visit(value: Json, path: string, type: ValueType | undefined): void {
    if (values.length >= maxValues) return;
    if (typeof value === "object" && value !== null) {
      for (const [key, each] of Object.entries(value))
        visit(each, path === "" ? key : `${path}.${key}`, typeAt(path, key) ?? type);
      return;
    }
    const typed = type === undefined ? {} : { type };
    values.push({ path, value, bound: knows.isBound(value, type), ...typed });
  }
  function typeAt(path: string, key: string): ValueType | undefined {
    const parameter = path === "" && Object.hasOwn(parameters, key) ? parameters[key] : undefined;
    return typeof parameter === "object" ? parameter.type : undefined;
  }
  visit(args, "", undefined);
  return values;
}
