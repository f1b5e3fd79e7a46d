import { effectIn } from "../policy/allow-list.ts";
import { untilStopped } from "../util/interrupt.ts";
import type { Run, State } from "./state.ts";

/** Takes old turns out of what the model is sent, when there are too many of them. */
export async function compactTurn(state: State, run: Run): Promise<State> {
  const { turns: turn } = state.ledger;
  const compacting = run.compact?.(
    state.transcript,
    (ask) => run.journal.step({ key: `turn/${turn}/summary`, run: ask }),
    { acts: state.acts, effectOf: effectIn(run.gate.allowed) },
  );
  const compacted = compacting === undefined ? undefined : await untilStopped(compacting, run.stop);
  if (compacted === "stopped") throw new Error("the run was stopped while it was compacted");
  if (compacted === undefined) return state;
  const { transcript, droppedTurns, tokensBefore, tokensAfter, acts } = compacted;
  run.tell?.({ type: "compaction-end", turn, droppedTurns, tokensBefore, tokensAfter });
  return { ...state, transcript, acts, sent: 0 };
}
