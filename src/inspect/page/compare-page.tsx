import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type ComparedCall, type ComparedRuns, compareRuns } from "../compare-runs.ts";
import type { InspectedCall, InspectedRun } from "../view.ts";
import { type Api, troubleText } from "./api.ts";
import { SignOf } from "./signs.tsx";
import { countText, durationText, lineText, shownValue, stateWords } from "./words.ts";

interface CompareProps {
  readonly api: Api;
  readonly ids: readonly [string, string];
  readonly onOpen: (id: string) => void;
}

/** The most rows that are drawn at once: a browser takes seconds for the thousands of long runs. */
const mostAtOnce = 300;

/** Two runs side by side. */
export function ComparePage({ api, ids, onOpen }: CompareProps): JSX.Element {
  const [pair, setPair] = useState<readonly [InspectedRun, InspectedRun] | undefined>();
  const [onlyChanges, setOnlyChanges] = useState(false);
  const [most, setMost] = useState(mostAtOnce);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    Promise.all([api.run(ids[0]), api.run(ids[1])]).then(setPair, (error: unknown) =>
      setTrouble(troubleText(error)),
    );
  }, [ids[0], ids[1]]);
  const compared = useMemo(() => pair && compareRuns(...pair), [pair]);
  const rows = useMemo(() => rowsOf(compared?.turns ?? [], onlyChanges), [compared, onlyChanges]);
  if (pair === undefined || compared === undefined)
    return <p class="empty">{trouble === "" ? "Reading both runs…" : trouble}</p>;
  return (
    <section class="compare" aria-label="Two runs compared">
      <h1>
        {compared.differences === 0
          ? "Both runs made the same calls"
          : countText(compared.differences, "difference")}
      </h1>
      <p class="line">
        <label>
          <input type="checkbox" checked={onlyChanges} onChange={() => setOnlyChanges(!onlyChanges)} /> only
          what differs
        </label>
        <span class="quiet">{compared.sameOutcome ? "The same outcome." : "The outcomes differ."}</span>
      </p>
      <table class="compared">
        <thead>
          <tr>
            <th scope="col">Turn</th>
            {pair.map((view, index) => (
              <th key={index} scope="col">
                <button type="button" class="plain" onClick={() => onOpen(view.run.id)}>
                  {view.run.id}
                </button>
                <span class="quiet">
                  {" "}
                  {view.run.status}, {durationText(view.to - view.from)},{" "}
                  {(view.run.tokens ?? 0).toLocaleString("en")} tokens
                </span>
              </th>
            ))}
            <th scope="col">Differs in</th>
          </tr>
        </thead>
        <tbody>
          {rows
            .slice(0, most)
            .map(({ number, call }, index) =>
              call === undefined ? (
                <TextPair key={index} number={number} texts={pair.map((view) => textIn(view, number))} />
              ) : (
                <CallPair key={index} number={number} call={call} />
              ),
            )}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" onClick={() => setMost(most + mostAtOnce)}>
          Show {Math.min(mostAtOnce, rows.length - most)} more of {countText(rows.length - most, "row")}
        </button>
      )}
    </section>
  );
}

/** The rows of the table: calls, and turns whose texts differ. */
interface Row {
  readonly number: number;
  readonly call?: ComparedCall;
}

function rowsOf(turns: ComparedRuns["turns"], onlyChanges: boolean): readonly Row[] {
  return turns.flatMap(({ number, calls, textDiffers }): readonly Row[] => [
    ...calls.filter(({ differs }) => !onlyChanges || differs.length > 0).map((call) => ({ number, call })),
    ...(textDiffers ? [{ number }] : []),
  ]);
}

const textIn = ({ turns }: InspectedRun, number: number): string =>
  turns.find((turn) => turn.number === number)?.model?.text ?? "";

function TextPair({
  number,
  texts,
}: {
  readonly number: number;
  readonly texts: readonly string[];
}): JSX.Element {
  return (
    <tr class="differs">
      <th scope="row">{number}</th>
      {texts.map((text, index) => (
        <td key={index}>
          {text === "" ? <span class="quiet">no text</span> : shownValue(text.slice(0, 400))}
        </td>
      ))}
      <td>what the model wrote</td>
    </tr>
  );
}

function CallPair({
  number,
  call: { left, right, differs },
}: {
  readonly number: number;
  readonly call: ComparedCall;
}): JSX.Element {
  return (
    <tr class={differs.length > 0 ? "differs" : ""}>
      <th scope="row">{number}</th>
      <td>{left === undefined ? <span class="quiet">—</span> : <CallCell call={left} />}</td>
      <td>{right === undefined ? <span class="quiet">—</span> : <CallCell call={right} />}</td>
      <td>{differs.length === 0 ? <span class="quiet">nothing</span> : differs.join(", ")}</td>
    </tr>
  );
}

function CallCell({
  call: { tool, state, proposed, judged },
}: {
  readonly call: InspectedCall;
}): JSX.Element {
  return (
    <div>
      <span class="line">
        <SignOf sign={state} /> <code>{tool}</code> <span class="quiet">{stateWords[state]}</span>
      </span>
      <code class="quiet arguments">{lineText(judged ?? proposed)}</code>
    </div>
  );
}
