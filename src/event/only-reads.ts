/** The mark of listeners of this package itself that change nothing of what they are told, keep nothing that could be changed later, and end no run. */
const reads: unique symbol = Symbol("only reads");

type Listener = ((event: never) => unknown) & { [reads]?: true };

/** Says that a listener only reads: it is told events as they are, no copies, and a reply that is there whole at once. */
export function onlyReads<Given extends Listener>(listener: Given): Given {
  listener[reads] = true; // each run has some: a register of all would grow with every run until garbage is collected
  return listener;
}

/** Tells whether a listener only reads. */
export function isReader(listener: Listener): boolean {
  return listener[reads] === true;
}

/** Says of what tells others that it only reads where all of them do. */
export function readsWith<Given extends Listener>(listener: Given, others: readonly Listener[]): Given {
  return others.every(isReader) ? onlyReads(listener) : listener;
}
