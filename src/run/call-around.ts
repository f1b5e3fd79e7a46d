import type { Host } from "../journal/host.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import type { Intent } from "../policy/intent.ts";
import type { CallAround } from "../tool/power-port.ts";

/** The call around code, for runs with and without `parent` alike. */
export interface OpenCall extends CallAround {
  readonly intent: Intent;
  /** The join of what runs inside have seen so far. */
  readonly seen: Label;
}

/** Opens what the runs inside a call are told of it. `own` is the label of what its code hands over by itself, looked at when a run begins. */
export function openCall(intent: Intent, own: () => Label): OpenCall {
  let seen = trustedLabel;
  return {
    intent,
    get label() {
      return joinLabels(own(), seen);
    },
    get seen() {
      return seen;
    },
    saw(label) {
      seen = joinLabels(seen, label);
    },
  };
}

/** The call in whose code somebody asks; undefined outside of all calls. */
export function callAround({ powers }: Pick<Host, "powers">): CallAround | undefined {
  return powers?.current()?.from;
}
