import { messageOf } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";

/** Tells the author that the store of a worker failed. Nothing is lost: the worker tries again. */
export function tellStoreFailed(error: unknown, host: Host): void {
  tell("A worker cannot use its store of runs, and tries again", error, host);
}

/** Tells the author that a run could not be handed out. It is in the store, and the dispatcher finds it there later. */
export function tellDispatcherFailed(error: unknown, host: Host): void {
  tell("A run is kept, but its dispatcher could not be told of it", error, host);
}

/** Tells the author that the dispatcher of a worker failed. Nothing is lost: the worker tries again. */
export function tellServingFailed(error: unknown, host: Host): void {
  tell("A worker is handed no runs by its dispatcher now, and tries again", error, host);
}

/** Tells the author that a run is cancelled for good, but that its session, or the runs that wait for its end, could not be told. */
export function tellCancelUntold(error: unknown, host: Host): void {
  tell("A run is cancelled, but its session or the runs behind it could not be told of it", error, host);
}

function tell(what: string, error: unknown, { warn }: Host): void {
  warn?.({ code: "WRIT_STORE_FAILED", text: `${what}: ${messageOf(error)}`, isDeprecation: false });
}
