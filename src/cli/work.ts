import { durableRuns } from "../adapters/durable-runs.ts";
import { loadAgent } from "./load-agent.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { countOf } from "./options.ts";
import { jsonLine, oneLine, processOutput } from "./output.ts";
import { openStore, type StoreFlags } from "./run-store.ts";
import type { AgentEvent } from "../event/event.ts";

/** The options of `writ work`. */
export interface WorkFlags extends StoreFlags {
  readonly concurrency: string;
}

/** `writ work <file…>`: carries out runs of the agents until it is told to end (SIGTERM, Ctrl-C); then it hands them over. */
export async function work(files: readonly string[], flags: WorkFlags): Promise<ExitCode> {
  const concurrency = countOf("--concurrency", flags.concurrency);
  const agents = await Promise.all(files.map((file) => loadAgent(file)));
  await using store = await openStore(flags);
  const onEvent = flags.json === true ? tellJson : tell;
  const worker = durableRuns({ store, agents, onEvent }).work({ concurrency });
  const names = agents.map(({ name }) => name).join(", ");
  processOutput.progress(`Working for ${oneLine(names)}. Ctrl-C hands over and ends.\n`);
  await toldToEnd();
  processOutput.progress("Handing over.\n");
  await worker.drain();
  return exitCodes.answered;
}

/** Resolves at SIGTERM or Ctrl-C. A second one ends the process at once. */
function toldToEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(exitCodes.interrupted));
        resolve();
      });
  });
}

/** Says in a line how each run goes on and ends. */
function tell({ runId, agent, parentRunId, ...event }: AgentEvent): void {
  if (parentRunId !== undefined) return;
  const { progress, style } = processOutput;
  const about = oneLine(`${runId} (${agent})`);
  if (event.type === "run-start") progress(`${style("dim", `${about} goes on`)}\n`);
  if (event.type === "run-end")
    progress(`${about} ${event.outcome.type === "suspended" ? "waits" : event.outcome.type}\n`);
}

function tellJson(event: AgentEvent): void {
  void processOutput.answer(jsonLine(event));
}
