import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Runs work as if no call had asked for it: a process that later calls use too must not carry the scope of the first, nor count as a power that
 * its tool uses.
 */
export const atRest: <Value>(work: () => Value) => Value = AsyncLocalStorage.snapshot();
