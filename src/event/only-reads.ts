/** The mark of this package's own listeners that do not change the events they get, keep nothing that could change later, and end no run. */
const reads: unique symbol = Symbol("only reads");

type Listener = ((event: never) => unknown) & { [reads]?: true };

/** Marks a listener that only reads: it gets the events themselves, not copies, and a reply that is already whole at once. */
export function onlyReads<Given extends Listener>(listener: Given): Given {
  listener[reads] = true; // each run has some, and a register of all would grow with every run until garbage is collected
  return listener;
}

/** Tells whether a listener only reads. */
export function isReader(listener: Listener): boolean {
  return listener[reads] === true;
}

/** Marks a listener that forwards to others as one that only reads, if all of them do. */
export function readsWith<Given extends Listener>(listener: Given, others: readonly Listener[]): Given {
  return others.every(isReader) ? onlyReads(listener) : listener;
}
