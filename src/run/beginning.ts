import type { Journal } from "../journal/journal.ts";
import { startKey } from "../journal/record-form.ts";
import type { JsonObject } from "../util/json.ts";
import { StepsOfRun } from "./steps-of-run.ts";

/** The fields that a run keeps with its beginning. */
export function beginningIn(journal: Journal): JsonObject {
  return StepsOfRun.of(journal)?.beginning ?? {};
}

/** Keeps the beginning of a run without turns: its journal would not say otherwise what it was asked. */
export async function keepBeginning(journal: Journal): Promise<void> {
  const beginning = StepsOfRun.of(journal)?.beginning;
  if (beginning !== undefined) await journal.step({ key: startKey, run: () => Promise.resolve(beginning) });
}
