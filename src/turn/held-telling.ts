import type { RunContext } from "../run/context.ts";
import type { RunScope } from "../run/scope.ts";

/** The context of a call whose events are held back. */
export interface HeldTelling {
  readonly context: RunContext;
  /** Sends the events held back, in order; later events are sent at once. */
  readonly release: () => void;
}

/**
 * Holds back the events of a call, and of the runs inside it, until the reply that makes the call is certain. If the call is given up, none of them is
 * sent: another call may get its place, and runs inside it the same ids.
 */
export function heldTelling(run: RunContext): HeldTelling {
  const { tell, scope } = run;
  if (tell === undefined && scope.forward === undefined) return { context: run, release: () => undefined };
  let waiting: (() => void)[] | undefined = [];
  const held =
    <Event>(take: (event: Event) => void) =>
    (event: Event): void => {
      if (waiting === undefined) take(event);
      else waiting.push(() => take(event));
    };
  return {
    context: {
      ...run,
      tell: tell && held(tell),
      scope: scopeTelling(scope, scope.forward && held(scope.forward)),
    },
    release() {
      const told = waiting ?? [];
      waiting = undefined;
      for (const each of told) each();
    },
  };
}

function scopeTelling(scope: RunScope, forward: RunScope["forward"]): RunScope {
  const { depth, maxDepth, accounts, agents, balance, outer } = scope;
  const { purse } = scope;
  return { depth, maxDepth, accounts, agents, balance, outer, purse, forward };
}
