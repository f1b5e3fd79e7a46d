import { durableRuns } from "../adapters/durable-runs.ts";
import { loadAgents } from "./load-agent.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { toldToEnd } from "./interrupts.ts";
import { countOf, listOf, wordOf } from "./options.ts";
import { jsonLine, oneLine, printable, processOutput, shellWord } from "./output.ts";
import { knownStore, nameOfStore, openPlace, type StoreFlags } from "./run-store.ts";
import { table } from "./table.ts";
import type { DurableOptions } from "../durable/durable-options.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import type { RunStore } from "../durable/run-store.ts";
import { openStatuses } from "../durable/run-store.ts";
import { pagedRuns } from "../durable/paged-runs.ts";
import { changedIn } from "../durable/stranded.ts";
import { recordParts } from "../journal/parts.ts";

/** The options of `writ runs check`. */
export interface CheckFlags extends StoreFlags {
  readonly accept?: string;
}

/** The options of `writ work`. */
export interface WorkFlags extends CheckFlags {
  readonly concurrency: string;
}

/** `writ runs check <file…>`: prints the runs that these agents cannot go on with. */
export async function checkRuns(files: readonly string[], flags: CheckFlags): Promise<ExitCode> {
  const agents = await loadAgents(files);
  await using place = await openPlace(flags, knownStore);
  const { store, sessions } = place;
  const stranded = await durableRuns({ store, sessions, agents, ...acceptedParts(flags) }).check();
  const rows = stranded.map(({ run, error }) =>
    [run.id, run.status, run.agent, error.message].map((cell) => oneLine(cell, 200)),
  );
  const told = stranded.map(({ run, error: { code, message, data } }) => ({
    id: run.id,
    code,
    message,
    data,
  }));
  await processOutput.answer(flags.json === true ? jsonLine({ type: "stranded", runs: told }) : table(rows));
  const changed = stranded.flatMap(({ error }) => changedIn(error));
  const accepted = [...new Set(changed)].filter((part) => recordParts.some((known) => known === part));
  if (accepted.length > 0)
    processOutput.progress(`To let them go on with a change that is meant: --accept ${accepted.join(",")}\n`);
  await tellUnchecked(store, new Set(agents.map(({ name }) => name)));
  return stranded.length === 0 ? exitCodes.answered : exitCodes.failed;
}

/** Tells of open runs of other agents: where an agent was renamed, nobody goes on with them. */
async function tellUnchecked(store: RunStore, checked: ReadonlySet<string>): Promise<void> {
  const others: string[] = [];
  for (const status of openStatuses)
    for await (const { agent } of pagedRuns(store, { status, limit: page, most: page }))
      if (agent !== "" && !checked.has(agent)) others.push(agent);
  if (others.length === 0) return;
  const runs = others.length === 1 ? "run" : "runs";
  const names = oneLine([...new Set(others)].join(", "));
  processOutput.progress(
    `Not checked: ${others.length} open ${runs} of agents that are not given here: ${names}.\n`,
  );
}

/** The most runs that are read at a time. */
const page = 100;

/** The parts that the caller names. @throws WritError `option-invalid` */
export function acceptedParts({ accept }: CheckFlags): Pick<DurableOptions, "accept"> {
  return accept === undefined
    ? {}
    : { accept: listOf(accept).map((part) => wordOf("--accept", part, recordParts)) };
}

/** `writ work <file…>`: carries out runs of the agents until it is told to end (SIGTERM, Ctrl-C); then it hands them over. */
export async function work(files: readonly string[], flags: WorkFlags): Promise<ExitCode> {
  const concurrency = countOf("--concurrency", flags.concurrency);
  const agents = await loadAgents(files);
  await using place = await openPlace(flags);
  const { store, sessions } = place;
  const onEvent = flags.json === true ? tellJson : teller(flags);
  const worker = durableRuns({ store, sessions, agents, onEvent, ...acceptedParts(flags) }).work({
    concurrency,
  });
  const names = agents.map(({ name }) => name).join(", ");
  processOutput.progress(`Working for ${oneLine(names)}. Ctrl-C hands over and ends.\n`);
  await toldToEnd();
  processOutput.progress("Handing over.\n");
  await worker.drain();
  return exitCodes.answered;
}

/** Prints a line when a run goes on, and when it ends. */
function teller(flags: StoreFlags): (event: AgentEvent) => void {
  const where = flags.store === undefined ? "" : ` --store ${shellWord(nameOfStore(flags))}`;
  return ({ runId, agent, parentRunId, ...event }) => {
    if (parentRunId !== undefined) return;
    const { progress, style } = processOutput;
    const about = oneLine(`${runId} (${agent})`);
    if (event.type === "run-start") progress(`${style("dim", `${about} goes on`)}\n`);
    if (event.type !== "run-end") return;
    const { outcome } = event;
    progress(`${about} ${outcome.type === "suspended" ? "waits" : outcome.type}${reasonText(outcome)}\n`);
    if (outcome.type === "failed")
      progress(
        `  ${style("dim", `To look at it: writ runs show ${printable(shellWord(runId))}${printable(where)}`)}\n`,
      );
  };
}

/** The code and the message of an outcome that has them; of one that met a bound, the message. */
function reasonText(outcome: Outcome): string {
  if (outcome.type === "exhausted") return `: ${oneLine(outcome.message, 500)}`;
  return "code" in outcome ? `: error[${outcome.code}] ${oneLine(outcome.message, 500)}` : "";
}

function tellJson(event: AgentEvent): void {
  void processOutput.answer(jsonLine(event));
}
