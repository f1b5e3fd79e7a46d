import { WritError } from "../error/writ-error.ts";
import { recordForm } from "../journal/record-form.ts";
import type { StoredRun } from "./run-store.ts";

export { recordForm as protocol } from "../journal/record-form.ts";

/** The reason why no worker of this version takes a run: a later version began it, or continued it. */
export function leftToLater({ id, protocol }: StoredRun): WritError | undefined {
  if (protocol <= recordForm) return undefined;
  return new WritError("journal-newer", { run: id, form: protocol, known: recordForm });
}
