import type { RunContext } from "../run/context.ts";

/** What ends a call before it ends itself. */
export interface TimeLimit {
  readonly timeoutMs: number;
  /** Aborts the signal that the tool was given. */
  readonly abort: (reason: unknown) => void;
  readonly run: Pick<RunContext, "host" | "stop">;
}

/** The first of: the tool's result, its time-out, the end of the run. The tool's signal is aborted by the latter two. */
export function inTime<Settled>(
  work: Promise<Settled>,
  { timeoutMs, abort, run }: TimeLimit,
): Promise<Settled | "timeout" | "stopped"> {
  const { promise, resolve, reject } = Promise.withResolvers<Settled | "timeout" | "stopped">();
  const undo: (() => void)[] = [];
  function end(settled: Settled | "timeout" | "stopped"): void {
    for (const each of undo) each();
    resolve(settled);
  }
  work.then(end, (error: unknown) => {
    for (const each of undo) each();
    reject(error);
  });
  if (timeoutMs !== Infinity) {
    const stopTimer = run.host.timer(timeoutMs, () => {
      end("timeout");
      abort(new Error(`timed out after ${timeoutMs} ms`));
    });
    undo.push(stopTimer);
  }
  const forget = run.stop.onStop(() => {
    end("stopped");
    abort(run.stop.signal.reason);
  });
  undo.push(forget);
  return promise;
}
