import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { filterFields, filterRuns, readFilter } from "../run-filter.ts";
import type { ListedRun } from "../view.ts";
import type { Api } from "./api.ts";
import { SignOf } from "./signs.tsx";
import { useRows } from "./virtual.ts";
import { agoText, countText, shownValue, signOf } from "./words.ts";

interface RunListProps {
  readonly api: Api;
  readonly runs: readonly ListedRun[];
  readonly selected: string | undefined;
  readonly marked: string | undefined;
  readonly onSelect: (id: string) => void;
  readonly onShown: (runs: readonly ListedRun[]) => void;
}

const rowHeight = 76;

/** The runs that contain words, by a search in their records, a moment after the last key. */
function useFound(api: Api, words: readonly string[]): ReadonlySet<string> {
  const [found, setFound] = useState<ReadonlySet<string>>(new Set());
  const text = words.join(" ");
  useEffect(() => {
    if (text === "") {
      setFound(new Set());
      return undefined;
    }
    let isStale = false;
    const timer = setTimeout(() => {
      api.search(text).then(
        (ids) => (isStale ? undefined : setFound(new Set(ids))),
        () => undefined, // the search in the rows works all the same
      );
    }, 150);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [text]);
  return found;
}

/** The list of runs, with its filter. */
export function RunList({ api, runs, selected, marked, onSelect, onShown }: RunListProps): JSX.Element {
  const [text, setText] = useState("");
  const wanted = useMemo(() => readFilter(text), [text]);
  const found = useFound(api, wanted.words);
  const shown = useMemo(() => filterRuns(runs, wanted, found), [runs, wanted, found]);
  const { box, first, last, show } = useRows(shown.length, rowHeight);
  const place = shown.findIndex(({ id }) => id === selected);
  useEffect(() => onShown(shown), [shown]);
  useEffect(() => (place < 0 ? undefined : show(place)), [selected]);
  return (
    <nav class="runs" aria-label="Runs">
      <div class="filter">
        <input
          id="filter"
          type="search"
          placeholder="Filter: status:waiting tool:… words"
          aria-label="Filter and search runs"
          aria-describedby="filter-help"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <p id="filter-help" class="quiet" role="status">
          {wanted.unknown.length === 0
            ? `${countText(shown.length, "run")}${shown.length === runs.length ? "" : ` of ${runs.length.toLocaleString("en")}`}`
            : `There is no field “${wanted.unknown[0] ?? ""}”. There are: ${filterFields.join(", ")}.`}
        </p>
      </div>
      <div
        class="run-rows"
        ref={box}
        role="listbox"
        aria-label="Runs, the latest first"
        aria-activedescendant={place >= first && place < last ? optionId(place) : undefined}
        tabIndex={0}
      >
        <div class="spacer" style={{ height: `${shown.length * rowHeight}px` }} role="presentation">
          {shown.slice(first, last).map((run, index) => (
            <RunRow
              key={run.id}
              run={run}
              top={(first + index) * rowHeight}
              place={[first + index + 1, shown.length]}
              isSelected={run.id === selected}
              isMarked={run.id === marked}
              onSelect={onSelect}
            />
          ))}
        </div>
      </div>
      {shown.length === 0 && (
        <p class="empty">
          {runs.length === 0 ? "There are no runs in this store yet." : "No run fits the filter."}
        </p>
      )}
    </nav>
  );
}

const optionId = (index: number): string => `run-${index}`;

interface RunRowProps {
  readonly run: ListedRun;
  readonly top: number;
  readonly place: readonly [number, number];
  readonly isSelected: boolean;
  readonly isMarked: boolean;
  readonly onSelect: (id: string) => void;
}

function RunRow({ run, top, place, isSelected, isMarked, onSelect }: RunRowProps): JSX.Element {
  const { id, agent, status, asked, begunAt, calls, refused, waiting, forkOf } = run;
  return (
    <div
      id={optionId(place[0] - 1)}
      class={`run-row${isSelected ? " selected" : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      role="option"
      aria-selected={isSelected}
      aria-posinset={place[0]}
      aria-setsize={place[1]}
      onClick={() => onSelect(id)}
    >
      <div class="line">
        <SignOf sign={signOf(status)} />
        <span class="status">{status}</span>
        <span class="agent">{agent}</span>
        <span class="ago">{agoText(begunAt, Date.now())}</span>
      </div>
      <div class="asked">{shownValue(asked)}</div>
      <div class="line quiet">
        <span class="id">{id}</span>
        {isMarked && <span class="tag">to compare</span>}
        {forkOf !== undefined && <span class="tag">fork</span>}
        {refused > 0 && <span class="tag tag-refused">{refused} refused</span>}
        {waiting > 0 && <span class="tag tag-waiting">{waiting} waiting</span>}
        <span class="ago">{countText(calls, "call")}</span>
      </div>
    </div>
  );
}
