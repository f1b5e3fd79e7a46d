import { durableRuns } from "../adapters/durable-runs.ts";
import { WritError } from "../error/writ-error.ts";
import { parseCallJson } from "../util/call-json.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { jsonLine, printable, processOutput } from "./output.ts";
import { knownStore, type StoreFlags } from "./run-store.ts";

/** The options of `writ runs signal`. */
export interface SignalFlags extends StoreFlags {
  readonly value?: string;
  readonly id?: string;
}

/** `writ runs signal <run> <name>`: sends a signal to a run. */
export async function sendSignal(
  runId: string,
  name: string,
  { value: text = "null", id, ...flags }: SignalFlags,
): Promise<ExitCode> {
  const value = parseCallJson(text);
  if (!value.ok) {
    const advice = `It is not JSON: ${value.reason}. Put text in quotes: '"yes"'.`;
    throw new WritError("option-invalid", { option: "--value", value: text, advice });
  }
  const signal = { name, value: value.value, ...(id === undefined ? {} : { id }) };
  await using store = await knownStore(flags);
  await durableRuns({ store }).signal(runId, signal);
  const told = { type: "signalled", runId, ...signal };
  await processOutput.answer(
    flags.json === true ? jsonLine(told) : printable(`signalled: ${name} to ${runId}\n`),
  );
  return exitCodes.answered;
}
