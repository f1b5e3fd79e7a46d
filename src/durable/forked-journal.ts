import type { Journal, Step } from "../journal/journal.ts";
import { recordParts } from "../journal/parts.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import type { Json } from "../util/json.ts";
import { mapped } from "../util/mapped.ts";
import type { StoredRun } from "./run-store.ts";

/** The key of the record with the results of the original run's calls. */
export const forkKey = "fork";

/** The turn of the outermost run that a record belongs to; undefined if it belongs to none. */
export function turnOf(key: string): number | undefined {
  const turn = /^turn\/(\d+)\//.exec(key)?.[1];
  return turn === undefined ? undefined : Number(turn);
}

/**
 * The journal of a run as its agent uses it. In a fork, records that were taken over may have been made from another request, and calls are answered with
 * the results of the original run: of several equal calls, the first gets the first result, and so on.
 */
export function journalOfRun(journal: Journal, { fork }: Pick<StoredRun, "fork">): Journal {
  if (fork === undefined) return journal;
  const { beforeTurn, again = [] } = fork;
  const isTaken = (key: string): boolean => (turnOf(key) ?? 0) < beforeTurn;
  const accepting = <Asked extends Pick<Step<unknown>, "key" | "terms">>(asked: Asked): Asked =>
    isTaken(asked.key) ? { ...asked, terms: { run: "", ...asked.terms, accept: anything } } : asked;
  const { ask } = journal;
  const places = new PlacesOfCalls();
  let answers: Map<string, readonly string[]> | undefined;
  return {
    ...journal,
    step: (step) => journal.step(accepting(step)),
    all: (steps) => journal.all(mapped(steps, accepting)),
    recorded: (steps) => journal.recorded?.(mapped(steps, accepting)),
    ask: ask && ((question) => ask(accepting(question))),
    recall(key, { tool, fingerprint }) {
      if (isTaken(key)) return notMade; // where it was made its record stands
      const asked = askedBy(key, fingerprint);
      const place = places.of(key, asked);
      if (again.includes(tool)) return undefined;
      answers ??= answersIn(journal, isTaken);
      const json = answers.get(asked)?.[place];
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
      return json === undefined ? notMade : (JSON.parse(json) as Json);
    },
  };
}

const anything = new Set<string>([...recordParts, "request"]);

/** The end of a call that the original run did not make. */
const notMade: Json = {
  result: {
    status: "skipped",
    text: "Not run: this run is a fork, and the run that it comes from made no such call.",
  },
  startedAt: 0,
  endedAt: 0,
};

/** Counts equal calls. A process that goes on with the run asks about all of them again, in the same order. */
class PlacesOfCalls {
  private readonly places = new Map<string, number>();
  private readonly counts = new Map<string, number>();

  of(key: string, asked: string): number {
    const known = this.places.get(key);
    if (known !== undefined) return known;
    const place = this.counts.get(asked) ?? 0;
    this.counts.set(asked, place + 1);
    this.places.set(key, place);
    return place;
  }
}

/** The request of a call, with the chain of agents that make it: each agent is answered from its own calls. */
function askedBy(key: string, fingerprint: string): string {
  const agents = key.split("/").flatMap((part) => (part.includes("~") ? [part.split("~")[0]] : []));
  return `${agents.join("/")} ${fingerprint}`;
}

/** The results of those calls of the original run that were not taken over, by request. Records are in the order in which calls ended: their keys have that in which they were made. */
function answersIn(journal: Journal, isTaken: (key: string) => boolean): Map<string, readonly string[]> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fork was begun with it
  const records = (journal.find?.(forkKey) ?? []) as unknown as readonly JournalRecord[];
  const { compare } = new Intl.Collator("en", { numeric: true });
  const made = records
    .filter(({ key }) => !isTaken(key))
    .toSorted((one, other) => compare(one.key, other.key));
  const grouped = Map.groupBy(made, ({ key, fingerprint }) => askedBy(key, fingerprint));
  return new Map([...grouped].map(([asked, calls]) => [asked, calls.map(({ json = "" }) => json)]));
}
