// Register: the errors that replays throw because the recorded run threw them, or was stopped, there; and those of steps that a hand-over kept from beginning.
const recalled = new WeakSet<Error>();

/** Marks an error that a run throws in the place of a step, as one of the recorded run: it is no failure of the journal. */
export function recall(error: Error): Error {
  recalled.add(error);
  return error;
}

/** Tells whether an error is one of the recorded run. */
export function isRecalled(error: unknown): boolean {
  return error instanceof Error && recalled.has(error);
}
