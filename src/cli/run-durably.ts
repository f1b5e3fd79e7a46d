import { nodeHost } from "../adapters/clock.ts";
import { durableRuns } from "../adapters/durable-runs.ts";
import { carryOut } from "../durable/carry-out.ts";
import type { StartOptions } from "../durable/new-run.ts";
import type { RunEnd, RunStore, WaitingQuestion } from "../durable/run-store.ts";
import { capabilityAudit, type CapabilityLook } from "../event/capability-audit.ts";
import type { AgentEvent } from "../event/event.ts";
import { noUsage } from "../message/usage.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import type { PrintedEnd } from "./follow-run.ts";
import { listenForInterrupts } from "./interrupts.ts";
import type { AnyAgent } from "./load-agent.ts";
import { jsonLine, oneLine, processOutput } from "./output.ts";
import { printer } from "./printer.ts";
import { type Format, printEnd } from "./print-run.ts";
import type { QuestionPart } from "./read-files.ts";

/** A run that is to be kept in a store. */
export interface DurableWish {
  readonly store: RunStore;
  readonly prompt: string | readonly QuestionPart[];
  readonly start: StartOptions;
  readonly audit?: (look: CapabilityLook) => void;
  readonly format: Format;
  readonly verbose: boolean;
  /** Tell of calls and of what went wrong, and of nothing else. */
  readonly isBrief?: boolean;
}

/**
 * Begins a run in a store, or goes on with it, and carries it out here until it ends or waits for an answer. Ctrl-C hands it over: another process
 * goes on with it. Prints as `writ run` does.
 */
export async function runDurably(
  agent: AnyAgent,
  { store, prompt, start, audit, format, verbose, isBrief }: DurableWish,
): Promise<ExitCode> {
  const output = processOutput;
  const startedAt = performance.now();
  const print = printer({ agent: agent.name, model: agent.modelId, verbose, isBrief, output });
  const tellAudit = audit === undefined ? undefined : capabilityAudit(audit);
  const onEvent = (event: AgentEvent): unknown => {
    tellAudit?.(event);
    return format === "stream-json" ? output.answer(jsonLine(event)) : print.tell(event);
  };
  const runs = durableRuns({ store, agents: [agent] });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an agent of a file takes what nobody knows; it checks its input itself
  const { id, end } = await runs.start(agent, prompt as never, start);
  if (end === undefined) {
    const interrupts = listenForInterrupts(output);
    const carrying = carryOut(await store.open(id), { store, agents: [agent], host: nodeHost, onEvent });
    interrupts.signal.addEventListener("abort", () => carrying.leave());
    await carrying.done.finally(() => print.close());
    interrupts.stopListening();
  }
  const run = await store.read(id);
  if (run?.end === undefined) return tellWaiting(store, id);
  const durationMs = performance.now() - startedAt;
  return printEnd({ ...endOf(run.end), runId: id, durationMs }, { output, format, verbose });
}

/** The end as `writ run` prints it. */
function endOf({ outcome, output, usage = noUsage, turns = 0 }: RunEnd): Omit<PrintedEnd, "durationMs"> {
  if (outcome.type !== "answered") return { outcome, usage, turns };
  const text = typeof outcome.content === "string" ? outcome.content : JSON.stringify(outcome.content);
  return { outcome, output, text, usage, turns };
}

/** Says what a run that has not ended waits for. */
async function tellWaiting(store: RunStore, id: string): Promise<ExitCode> {
  const questions = await store.questions(id);
  if (questions.length === 0)
    processOutput.progress(`${oneLine(id)} was handed over: \`writ work\` goes on with it.\n`);
  for (const question of questions) processOutput.progress(`${oneLine(id)} ${waitingText(question)}\n`);
  return exitCodes.suspended;
}

function waitingText({ runId, key, request, until = 0 }: WaitingQuestion): string {
  const { tool, unsettled, waitsFor } = request;
  if (waitsFor === "time") return `sleeps in ${oneLine(tool)} until ${new Date(until).toISOString()}`;
  if (waitsFor !== undefined)
    return `waits for a signal in ${oneLine(tool)}: writ runs signal ${oneLine(runId)} ${oneLine(waitsFor.signal)}`;
  const command = unsettled === true ? "runs settle" : "approvals approve";
  return `waits for an answer about ${oneLine(tool)}: writ ${command} ${oneLine(runId)} ${key}`;
}
