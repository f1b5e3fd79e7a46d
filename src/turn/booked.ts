import type { Reading } from "../driver/driver.ts";
import { addUsage } from "../message/usage.ts";
import { spend } from "../policy/budget.ts";
import type { ModelRecord } from "./ask-model.ts";
import { priceOf } from "./price.ts";
import type { Run, State } from "./state.ts";

/** Books what a reply used, here and in the runs around this one. */
export function booked(state: State, { usage }: ModelRecord, run: Run): Pick<State, "ledger" | "usage"> {
  const { turns: turn } = state.ledger;
  const costUsd = priceOf(usage, run);
  const total = addUsage(state.usage, usage);
  run.tell?.({ type: "usage-add", turn, usage, total, ...(costUsd === undefined ? {} : { costUsd }) });
  run.parent?.purse.spend({ usage, costUsd: costUsd ?? Infinity, toolCalls: 0 });
  return { ledger: spend(state.ledger, { usage, costUsd }), usage: total };
}

/** What had to be mended to read a reply, where something had to be. */
export function repairsOf(reading: Reading): { readonly repairs?: readonly string[] } {
  const repairs = "repairs" in reading ? (reading.repairs ?? []) : [];
  return repairs.length === 0 ? {} : { repairs };
}
