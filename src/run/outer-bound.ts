import type { Journal } from "../journal/journal.ts";
import type { Excess } from "../policy/account/budget.ts";
import { StepsOfRun } from "./steps-of-run.ts";

/**
 * The bound of the runs around this one that forbids a turn or a call, as it stands; undefined if none does. A replay takes the recorded bound: spending
 * beside the run comes in another order then.
 */
export function outerBound(
  key: string,
  journal: Journal,
  look: () => Excess | undefined,
): Excess | Promise<Excess> | undefined {
  const { find, mode } = journal;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was kept here
  if (mode === "replay" && find !== undefined) return find(key) as Excess | undefined;
  const excess = look();
  const steps = StepsOfRun.of(journal);
  if (excess === undefined || steps === undefined) return excess;
  return steps.keepBeside([{ key, value: excess }]).then(() => excess);
}
