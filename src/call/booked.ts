import type { Journal } from "../journal/journal.ts";
import type { ToolResult } from "../message/message.ts";
import type { Excess } from "../policy/account/budget.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import type { Call, Fatal, Halt, Ready } from "./call.ts";
import { skippedResult } from "./refused.ts";

/** The key of the record that a waiting call was booked: the call begins again when the run goes on. */
export const paidKey = (call: string): string => `${call}/paid`;

/** The key of the record that an account forbade a call. The call has no record of its own, so that it begins when the run goes on. */
const forbiddenKey = (call: string): string => `${call}/forbidden`;

/** The end of a call that an account forbids: it ends the run. */
export function forbidden(excess: Excess): { readonly result: ToolResult; readonly fatal: Fatal } {
  return { result: skippedResult(excess.message), fatal: { type: "exhausted", excess } };
}

/** Books a call that is about to run in the accounts of its run; undefined if there are none, or if the call is booked. */
export function bookingOf({ key, batch }: Call, halt: Halt): Promise<Excess | undefined> | undefined {
  const { scope, journal } = batch.run;
  const isBooked =
    journal.mode === "replay" || journal.find?.(paidKey(key)) !== undefined || halt.booked?.has(key) === true;
  if (isBooked) return undefined;
  const booking = scope.accounts?.call();
  if (booking !== undefined) halt.booking = booking;
  return booking;
}

/** A call of a group that an account forbids: its place in the group, and the bound. */
export interface ForbiddenCall {
  readonly place: number;
  readonly excess: Excess;
}

/** Books calls in order, before a journal records that they begin. Returns the first one that an account forbids; no call behind it is booked. */
export async function bookCalls(group: readonly Ready[], halt: Halt): Promise<ForbiddenCall | undefined> {
  for (const [place, ready] of group.entries()) {
    const excess = await bookAhead(ready, halt).catch(() => undefined); // the call itself tries again, and tells the error
    if (excess !== undefined) return { place, excess };
  }
  return undefined;
}

/** Keeps that an account forbids a call: a replay ends the run by the same bound. */
export async function keepForbidden({ at }: Ready, value: Excess): Promise<void> {
  const steps = StepsOfRun.of(at.batch.run.journal);
  await steps?.keepBeside([{ key: forbiddenKey(at.key), value }]);
}

/** The first call of a replayed group that an account forbade. */
export function forbiddenBefore(group: readonly Ready[], { find, mode }: Journal): ForbiddenCall | undefined {
  if (mode !== "replay") return undefined;
  for (const [place, { at }] of group.entries()) {
    const kept = find?.(at.key) === undefined ? find?.(forbiddenKey(at.key)) : undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was kept above
    if (kept !== undefined) return { place, excess: kept as unknown as Excess };
  }
  return undefined;
}

async function bookAhead({ at, early }: Ready, halt: Halt): Promise<Excess | undefined> {
  if (early !== undefined) return early.halt.booking;
  const { journal, stop, leaving } = at.batch.run;
  const hasBegun = journal.find?.(at.key) !== undefined || journal.hasBegun?.(at.key) === true;
  if (hasBegun || stop.reason !== undefined || leaving?.aborted === true) return undefined;
  const excess = await bookingOf(at, halt);
  if (excess === undefined) (halt.booked ??= new Set()).add(at.key);
  return excess;
}
