import { messageOf } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";

/** Tells the author that the store of a worker failed. Nothing is lost: the worker asks it again and again. */
export function tellStoreFailed(error: unknown, { warn }: Host): void {
  const text = `A worker cannot use its store of runs, and tries again: ${messageOf(error)}`;
  warn?.({ code: "WRIT_STORE_FAILED", text, isDeprecation: false });
}
