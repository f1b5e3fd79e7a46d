import { WritError } from "../error/writ-error.ts";
import type { Journal } from "./journal.ts";

/**
 * The version of the form in which the steps of a run are recorded: their keys, fingerprints and results. A process does not continue a run of a
 * later version.
 */
export const recordForm = 2;

/** The key of the beginning of a run, which keeps the form. */
export const startKey = "start";

/** The key of the record that a run has ended for good. */
export const endKey = "end";

/** The key of the step that books a run in its accounts. */
export const accountKey = "account";

/** Checks that this process can read the records of a run. @throws WritError `journal-newer` */
export function checkForm({ find }: Pick<Journal, "find">, run: string): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a run of any form wrote an object
  const { form = 1 } = (find?.(startKey) ?? {}) as { readonly form?: number };
  if (form > recordForm) throw new WritError("journal-newer", { run, form, known: recordForm });
}
