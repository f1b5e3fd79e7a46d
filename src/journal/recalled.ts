// Register: errors that replays throw because the recorded run threw them or stopped there; and errors of steps that a hand-over kept from beginning.
const recalled = new WeakSet<Error>();

/** Marks an error that a run throws in place of a step as one of the recorded run: it is not a failure of the journal. */
export function recall(error: Error): Error {
  recalled.add(error);
  return error;
}

/** Tells whether an error is one of the recorded run. */
export function isRecalled(error: unknown): boolean {
  return error instanceof Error && recalled.has(error);
}
