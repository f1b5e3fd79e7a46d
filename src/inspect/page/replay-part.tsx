import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { InspectedRun, ReplayedRun } from "../view.ts";
import type { Acts } from "./acts.ts";
import { troubleText } from "./api.ts";
import { Trouble } from "./parts.tsx";
import { countText } from "./words.ts";

interface ReplayPartProps {
  readonly view: InspectedRun;
  readonly acts: Acts;
  readonly onSelect: (key: string) => void;
}

/** Replays the run from its records, and shows whether the replay agrees with them. */
export function ReplayPart({ view: { run }, acts, onSelect }: ReplayPartProps): JSX.Element {
  const [replayed, setReplayed] = useState<ReplayedRun | undefined>();
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    if (acts.cannot === undefined)
      acts.replay(run.id).then(setReplayed, (error: unknown) => setTrouble(troubleText(error)));
  }, [run.id]);
  if (acts.cannot !== undefined) return <p class="notice">{acts.cannot}</p>;
  return (
    <section class="replayed" aria-label="Replay" role="status">
      {replayed === undefined && trouble === "" && <p class="quiet">Runs again from its records…</p>}
      {replayed !== undefined && <Verdict replayed={replayed} onSelect={onSelect} />}
      <Trouble text={trouble} />
    </section>
  );
}

function Verdict({
  replayed: { facts, calls, hasEnded, difference },
  onSelect,
}: {
  readonly replayed: ReplayedRun;
  readonly onSelect: (key: string) => void;
}): JSX.Element {
  const told = `${countText(facts, "fact")} of ${countText(calls, "call")}`;
  if (difference === undefined)
    return (
      <p>
        <strong>✓ As recorded.</strong> The program given here tells the same {told}
        {hasEnded ? ", and comes to the same end" : ", as far as the run has come"}. No model was asked, no
        tool called.
      </p>
    );
  const { at, call, recorded, replayed: now } = difference;
  return (
    <>
      <p>
        <strong>≠ Not as recorded.</strong> It differs first at{" "}
        {call === undefined ? (
          <strong>{at}</strong>
        ) : (
          <button type="button" class="link" onClick={() => onSelect(call)}>
            {at}
          </button>
        )}
        . No model was asked, no tool called.
      </p>
      <dl>
        <div class="fact">
          <dt>recorded</dt>
          <dd>{recorded}</dd>
        </div>
        <div class="fact">
          <dt>replayed</dt>
          <dd>{now}</dd>
        </div>
      </dl>
    </>
  );
}
