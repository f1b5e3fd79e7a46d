/** Deeper chains of causes are nobody's wish. */
const deepest = 16;

/** The errors in what was thrown: itself, its cause, the cause of that. Never throws: where a member does, the list ends. */
export function causesOf(thrown: unknown): readonly Error[] {
  const errors: Error[] = [];
  try {
    for (let error = thrown; error instanceof Error && errors.length < deepest; error = error.cause)
      errors.push(error);
  } catch {
    // The errors so far stand.
  }
  return errors;
}
