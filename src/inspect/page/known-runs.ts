import { useEffect, useState } from "preact/hooks";
import type { InspectedRun, ListedRun, RunChange } from "../view.ts";
import { type Api, type Overview, RefusedRequest, troubleText } from "./api.ts";

/** The runs of the store, and the acts of the page. */
export interface KnownRuns {
  readonly overview?: Overview;
  readonly runs: readonly ListedRun[];
  readonly trouble?: string;
  /** Counts the changes of runs. */
  readonly change: number;
}

/** The runs of the store, as they change. */
export function useRuns(api: Api): KnownRuns {
  const [known, setKnown] = useState<KnownRuns>({ runs: [], change: 0 });
  useEffect(() => {
    const leaving = new AbortController();
    const onOverview = (overview: Overview): void =>
      setKnown(({ change }) => ({ overview, runs: overview.runs, change: change + 1 }));
    const onChange = (changed: RunChange): void =>
      setKnown((before) => ({
        ...before,
        runs: merged(before.runs, changed),
        change: before.change + 1,
      }));
    const onTrouble = (error: unknown): void =>
      setKnown((before) => ({ ...before, trouble: troubleOf(error) }));
    void api.follow({ onOverview, onChange, onTrouble }, leaving.signal);
    return () => leaving.abort();
  }, [api]);
  return known;
}

function merged(known: readonly ListedRun[], { runs, erased }: RunChange): readonly ListedRun[] {
  const byId = new Map(known.map((run) => [run.id, run]));
  for (const run of runs) byId.set(run.id, run);
  for (const id of erased) byId.delete(id);
  return [...byId.values()].toSorted((one, other) => other.begunAt - one.begunAt);
}

/** The text of an error. */
const troubleOf = (error: unknown): string => {
  if (error instanceof RefusedRequest && error.status === 401)
    return "This page needs the address that `writ inspect` printed, with its token. Open that address in this tab.";
  if (error instanceof TypeError)
    return "The inspector does not answer: it has ended, or cannot be reached. What it told last stands here.";
  return troubleText(error);
};

/** The open run, or the reason why it cannot be shown. */
export interface OpenRun {
  readonly view?: InspectedRun;
  readonly trouble?: string;
}

/** The number of calls above which a run is shown from its records until it was replayed. */
const manyCalls = 100;

/** The open run; read again when it changes. */
export function useRun(api: Api, id: string | undefined, listed: ListedRun | undefined): OpenRun {
  const [state, setState] = useState<OpenRun>({});
  const isOpen = id !== undefined && state.view?.run.id === id;
  useEffect(() => {
    if (id === undefined) {
      setState({});
      return undefined;
    }
    let isStale = false;
    const take = (next: OpenRun): void => {
      if (!isStale) setState(next);
    };
    const read = async (): Promise<void> => {
      if (!isOpen && (listed?.calls ?? 0) > manyCalls) take({ view: await api.run(id, true) });
      take({ view: await api.run(id) });
    };
    read().catch((error: unknown) => take({ trouble: troubleOf(error) }));
    return () => {
      isStale = true;
    };
  }, [api, id, JSON.stringify(listed ?? "")]);
  return state.view !== undefined && state.view.run.id !== id ? {} : state;
}
