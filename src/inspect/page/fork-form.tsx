import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { InspectedRun } from "../view.ts";
import type { Acts } from "./acts.ts";
import { Trouble } from "./parts.tsx";

interface ForkFormProps {
  readonly view: InspectedRun;
  readonly acts: Acts;
  readonly turn: number;
  readonly onDone: () => void;
}

/** The form that forks a run. */
export function ForkForm({ view, acts, turn, onDone }: ForkFormProps): JSX.Element {
  const [beforeTurn, setTurn] = useState(Math.min(turn, view.turns.length));
  const [instructions, setInstructions] = useState("");
  const [model, setModel] = useState("");
  const [trouble, setTrouble] = useState("");
  if (acts.cannot !== undefined) return <p class="notice">{acts.cannot}</p>;
  async function fork(event: Event): Promise<void> {
    event.preventDefault();
    try {
      await acts.fork(view.run.id, {
        beforeTurn,
        ...(instructions === "" ? {} : { instructions }),
        ...(model === "" ? {} : { model }),
      });
      onDone();
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  }
  return (
    <form class="fork" aria-label="Fork the run" onSubmit={(event) => void fork(event)}>
      <p>
        A fork goes its own way from a turn on. Its model is asked anew; its tools answer as they did in this
        run, and nothing has an effect.
      </p>
      <label>
        before turn
        <select
          name="turn"
          value={beforeTurn}
          onChange={({ currentTarget }) => setTurn(Number(currentTarget.value))}
        >
          {view.turns.map(({ number }) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
      </label>
      <label>
        other instructions{" "}
        <input
          name="instructions"
          placeholder="the same"
          value={instructions}
          onInput={({ currentTarget }) => setInstructions(currentTarget.value)}
        />
      </label>
      <label>
        other model{" "}
        <input
          name="model"
          placeholder="the same"
          value={model}
          onInput={({ currentTarget }) => setModel(currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        Fork
      </button>
      <Trouble text={trouble} />
    </form>
  );
}
