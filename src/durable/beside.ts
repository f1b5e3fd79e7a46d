import type { ToolResult } from "../message/message.ts";
import { storedResult } from "../journal/stored-json.ts";
import type { RunStore, WaitingQuestion } from "./run-store.ts";

/** A call whose result is recorded, by its place in the reply. */
export interface CallBeside {
  readonly place: number;
  readonly result: ToolResult;
}

/** The results of the calls that ran beside a question. Facts tell the calls of a reply in order, so calls after an open question are not told yet. */
export async function callsBeside(
  { runId, key }: WaitingQuestion,
  store: Pick<RunStore, "records">,
): Promise<readonly CallBeside[]> {
  const turn = /^turn\/\d+\//.exec(key)?.[0];
  if (turn === undefined) return [];
  return (await store.records(runId)).flatMap(({ key: step, json }) => {
    const place = step.startsWith(`${turn}call/`) ? step.slice(`${turn}call/`.length) : "";
    if (!/^\d+$/.test(place) || json === undefined) return [];
    const { result } = storedResult<{ readonly result: ToolResult }>(step, json); // call/batch.ts recorded it under this key
    return [{ place: Number(place), result }];
  });
}
