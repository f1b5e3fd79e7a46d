import type { Host } from "../journal/host.ts";
import { joinLabels, type Label, trustedLabel } from "../message/label.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import type { CallAround } from "../tool/power-port.ts";

/** The call around code, for runs with and without `parent` alike. */
export interface OpenCall extends CallAround {
  readonly intent: Intent;
  /** The join of what runs inside have seen so far. */
  readonly seen: Label;
}

/** Opens what the runs inside a call are told of it. `own` is the label of what its code hands over by itself, looked at when a run begins. */
export function openCall(intent: Intent, own: () => Label): OpenCall {
  return new CallInTheOpen(intent, own);
}

/** A class, since every call has one: its members live once, on the prototype. */
class CallInTheOpen implements OpenCall {
  readonly intent: Intent;
  seen: Label = trustedLabel;
  private readonly own: () => Label;

  constructor(intent: Intent, own: () => Label) {
    this.intent = intent;
    this.own = own;
  }

  get label(): Label {
    return joinLabels(this.own(), this.seen);
  }

  get saw(): (label: Label) => void {
    return (label) => {
      this.seen = joinLabels(this.seen, label);
    };
  }
}

/** The call in whose code somebody asks; undefined outside of all calls. */
export function callAround({ powers }: Pick<Host, "powers">): CallAround | undefined {
  return powers?.current()?.from;
}
