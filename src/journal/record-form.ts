/**
 * The version of the form in which the steps of a run are recorded: their keys, fingerprints and results. A process does not go on with a run of a
 * later one.
 */
export const recordForm = 2;

/** The key of the beginning of a run, which keeps the form. */
export const startKey = "start";
