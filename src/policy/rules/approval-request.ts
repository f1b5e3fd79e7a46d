import type { Label } from "../../message/label.ts";
import type { ValueType } from "../../tool/parameters.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import { isChoice, sightOf } from "./condition/sight.ts";
import { isAbsent, type Leaf } from "./condition/values.ts";
import { openIn } from "./judge-plan.ts";
import type { CallRequest, Decision } from "../decision.ts";
import type { Intent } from "../knowledge/intent.ts";

/** A question to a person, as data that can be sent, kept and shown. It holds only what the policy saw. */
export interface ApprovalRequest extends Pick<
  CallRequest,
  "agent" | "skill" | "turn" | "callId" | "tool" | "effect" | "arguments"
> {
  /** The rule that asks. */
  readonly rule: string;
  /** The rule's reason, for people. */
  readonly reason: string;
  /**
   * The values in the arguments, including names that the model chose, each with whether the user chose it. An unbound value was written by a model that had
   * seen everything in `label`. First come those that the rule shows, then targets, amounts and ids, then content; at most 200.
   */
  readonly values: readonly ApprovalValue[];
  /** The number of values that are not listed; left out if all are. */
  readonly more?: number;
  /** The joined label of everything that the model had seen, with its sources. */
  readonly label: Label;
  /** The words of the user that the call was compared with, and their hash. */
  readonly intent: Pick<Intent, "text" | "hash">;
  /** Links in the arguments that occur in no trusted source. */
  readonly links: readonly string[];
  /** The arguments that the rule shows first. */
  readonly show: readonly string[];
  /** The arguments that an answer for the run may leave open (`free`); left out if there are none. */
  readonly open?: readonly string[];
  /**
   * The JSON Schema of the arguments, for a form: arguments in an answer must match it. Left out where there is nothing to edit, and in questions that an
   * earlier version asked.
   */
  readonly inputSchema?: JsonObject;
  /** A fingerprint of the tool and its exact arguments: an approval holds for this call only. */
  readonly hash: string;
  /** The agents around the call, outermost first, ending with its own. */
  readonly path: readonly string[];
  /** A fingerprint of the policy that asks: its version. Empty outside of a run. */
  readonly policy: string;
  /** True if the question is whether the call happened, not whether it may: it was running when its process died. `settle` answers it. */
  readonly unsettled?: true;
  /** The signal or time that the tool of a begun call waits for. A signal or the time answers it; there is nothing to approve. */
  readonly waitsFor?: WaitedFor;
}

/** A signal, with the JSON Schema of its value unless that is anything; or a time, which is the `until` of the question. */
export type WaitedFor = { readonly signal: string; readonly schema?: JsonObject } | "time";

/** A value in the arguments of a call, and its source. `null` also stands for an empty list or object; a name is in brackets: `headers(X-Id)`. */
export interface ApprovalValue {
  readonly path: string;
  readonly value: Json;
  readonly bound: boolean;
  readonly type?: ValueType;
  /** True if a default of the author's schema stands there: then it is bound, and nobody in the run chose it. */
  readonly default?: true;
}

/** The question about a call. */
export function approvalRequest(
  request: CallRequest,
  decision: Decision,
  at: Pick<ApprovalRequest, "hash" | "path" | "policy">,
): ApprovalRequest {
  const { agent, skill, turn, callId, tool, effect, arguments: args, knows } = request;
  const show = decision.evidence?.show ?? [];
  const open = openIn(request);
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
    ...seenBy(request, show),
    label: knows.label,
    intent: { text: knows.intent.text, hash: knows.intent.hash },
    show,
    ...(open.length === 0 ? {} : { open }),
    ...at,
  };
}

/** The most values that a person is shown. */
const maxValues = 200;

/** The arguments as the policy judges them: first those that the rule shows, then those that the call acts on. */
function seenBy(
  request: CallRequest,
  show: readonly string[],
): Pick<ApprovalRequest, "values" | "more" | "links"> {
  const sight = sightOf(request, {}, Infinity);
  const leaves = sight.leaves();
  if (leaves === undefined)
    return { values: [{ path: "", value: request.arguments, bound: false }], links: [] };
  const rank = (leaf: Leaf): number => (show.some((name) => isAt(leaf, name)) ? 0 : isChoice(leaf) ? 1 : 2);
  const listed = leaves.toSorted((one, other) => rank(one) - rank(other)).slice(0, maxValues);
  const more = leaves.length - listed.length;
  const values = listed.map((leaf): ApprovalValue => {
    const { path, value, type, isDefault } = leaf;
    const bound = isAbsent(leaf) || sight.isBound(leaf, type) === true;
    return {
      path,
      value,
      bound,
      ...(type === undefined ? {} : { type }),
      ...(isDefault === true ? { default: true } : {}),
    };
  });
  const links = [...new Set(leaves.flatMap((leaf) => sight.strangersLinks(leaf)))];
  return { values, ...(more === 0 ? {} : { more }), links };
}

/** True if a value is in the argument that a rule names. */
function isAt({ path }: Leaf, name: string): boolean {
  return path.startsWith(name) && /^(?:$|[.[(])/.test(path.slice(name.length));
}
