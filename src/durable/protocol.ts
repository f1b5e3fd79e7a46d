/** The version of the form in which the steps of a run are recorded. A process does not go on with a run of a later one. */
export const protocol = 1;
