import type { RunContext } from "../run/context.ts";
import type { RunScope } from "../run/scope.ts";

/** The context of a call whose events wait. */
export interface HeldTelling {
  readonly context: RunContext;
  /** Tells what waits, in its order; what comes later is told at once. */
  readonly release: () => void;
}

/**
 * Holds the events of a call, and of the runs inside it, until it is known whether there is such a call. Where the call is given up nothing of it is
 * told: another one may get its place, and runs inside with the same ids.
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
