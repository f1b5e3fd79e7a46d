import type { Json } from "../util/json.ts";

/**
 * The choice for a call that was running when its process died: its journal has its beginning but no result.
 *
 * - `always`: it runs again. Default for tools that declare `none` or `read`, and for agents as tools, whose own steps are recorded.
 * - `keyed`: it runs again, because the tool passes `context.idempotencyKey` to a service that does nothing twice for one key.
 * - `never`: it does not run again. `reconcile` says whether it happened; without it the result is `unknown`. Default for all other tools.
 */
export type RetryAfterCrash = "always" | "keyed" | "never";

/**
 * The answer of a tool's `reconcile`: the call happened, with this result; or it did not, and runs now. Undefined if nobody can tell:
 * the result is `unknown`.
 */
export type Reconciled =
  | { readonly happened: true; readonly value?: Json }
  | { readonly happened: false }
  | undefined;

/** Looks up whether a call happened. Its parameters are compared like those of methods. */
export type Reconcile<Args, Context> = {
  look(this: void, args: Args, context: Context): Reconciled | Promise<Reconciled>;
}["look"];

/**
 * A person's answer about a call that was running when its process died: it happened, with this result; it did not happen, and runs now; or nobody can tell,
 * which the model is told.
 */
export type Settlement =
  | { readonly happened: true; readonly value?: Json }
  | { readonly happened: false }
  | { readonly happened: "unknown" };

/** Tells whether a call that was running when its process died may simply run again. */
export function mayRunAgain({
  retry,
  effect,
}: {
  readonly retry?: RetryAfterCrash;
  readonly effect: string;
}): boolean {
  return retry === undefined ? effect === "none" || effect === "read" : retry !== "never";
}
