import { durableRuns } from "../adapters/durable-runs.ts";
import { WritError } from "../error/writ-error.ts";
import type { Settlement } from "../tool/after-crash.ts";
import { parseCallJson } from "../util/call-json.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { jsonLine, printable, processOutput } from "./output.ts";
import { knownStore, type StoreFlags } from "./run-store.ts";

/** The options of `writ runs settle`. */
export interface SettleFlags extends StoreFlags {
  readonly happened: string;
  readonly value?: string;
  readonly by?: string;
}

/** `writ runs settle <id> <call>`: decides the fate of a call that was under way when its process died. */
export async function settleCall(id: string, call: string, flags: SettleFlags): Promise<ExitCode> {
  const { by } = flags;
  const settled = settlementIn(flags);
  await using store = await knownStore(flags);
  await durableRuns({ store }).settle(id, call, by === undefined ? settled : { ...settled, by });
  const told = { type: "settled", runId: id, call, ...settled };
  await processOutput.answer(flags.json === true ? jsonLine(told) : printable(`settled: ${call} of ${id}\n`));
  return exitCodes.answered;
}

/** @throws WritError `option-invalid` */
function settlementIn({ happened, value }: SettleFlags): Settlement {
  const advice = "Give `--happened yes`, with `--value` as JSON if its result is known, `no` or `unknown`.";
  if (happened !== "yes" && value !== undefined)
    throw new WritError("option-invalid", { option: "--value", value, advice });
  if (happened === "no") return { happened: false };
  if (happened === "unknown") return { happened };
  if (happened !== "yes")
    throw new WritError("option-invalid", { option: "--happened", value: happened, advice });
  if (value === undefined) return { happened: true };
  const json = parseCallJson(value);
  if (!json.ok) throw new WritError("option-invalid", { option: "--value", value, advice });
  return { happened: true, value: json.value };
}
