import { nodeHost } from "../adapters/clock.ts";
import { durableRuns } from "../adapters/durable-runs.ts";
import { carryOut } from "../durable/carry-out.ts";
import type { DurableOptions } from "../durable/durable-options.ts";
import type { StartOptions } from "../durable/new-run.ts";
import type { RunEnd, RunStore, WaitingQuestion } from "../durable/run-store.ts";
import { catalogue, type ErrorCode } from "../error/codes.ts";
import { WritError } from "../error/writ-error.ts";
import { capabilityAudit, type CapabilityLook } from "../event/capability-audit.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { contentText } from "../message/message.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import { exhausted } from "../run/end.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import type { PrintedEnd } from "./follow-run.ts";
import { listenForInterrupts } from "./interrupts.ts";
import type { AnyAgent } from "./load-agent.ts";
import { jsonLine, oneLine, printable, processOutput, say, shellWord } from "./output.ts";
import { type Format, printEnd, resultObject } from "./print-run.ts";
import { printer } from "./printer.ts";
import type { QuestionPart } from "./read-files.ts";

/** A run to be kept in a store. */
interface DurableWish extends Pick<DurableOptions, "sessions"> {
  readonly store: RunStore;
  /** The store that was named on the command line, for printing commands that answer. */
  readonly place?: string;
  readonly prompt: string | readonly QuestionPart[];
  readonly start: StartOptions;
  readonly audit?: (look: CapabilityLook) => void;
  readonly format: Format;
  readonly verbose: boolean;
  /** Prints only calls and errors. */
  readonly isBrief?: boolean;
}

/**
 * Begins a run in a store, or goes on with it, and carries it out here until it ends or waits for an answer. Ctrl-C hands it over, so that another process
 * can go on with it. Prints as `writ run` does.
 */
export async function runDurably(
  agent: AnyAgent,
  { store, sessions, place, prompt, start, audit, format, verbose, isBrief }: DurableWish,
): Promise<ExitCode> {
  const output = processOutput;
  const startedAt = performance.now();
  const print = printer({ agent: agent.name, model: agent.modelId, verbose, isBrief, output });
  const tellAudit = audit === undefined ? undefined : capabilityAudit(audit);
  const reached = reachedBy();
  const onEvent = (event: AgentEvent): unknown => {
    tellAudit?.(event);
    reached.tell(event);
    return format === "stream-json" ? output.answer(jsonLine(event)) : print.tell(event);
  };
  const around = { store, agents: [agent], ...(sessions === undefined ? {} : { sessions }) };
  const runs = durableRuns(around);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the input of an agent from a file is unknown; it checks its input itself
  const { id, end } = await runs.start(agent, prompt as never, start);
  if (end === undefined) {
    const interrupts = listenForInterrupts(output);
    const carrying = carryOut(await store.open(id), { ...around, host: nodeHost, onEvent });
    interrupts.signal.addEventListener("abort", () => carrying.leave());
    const unwatch = store.watch(() => carrying.look()); // another process may cancel it
    await carrying.done.finally(() => {
      unwatch();
      print.close();
    });
    interrupts.stopListening();
  }
  const run = await store.read(id);
  const durationMs = performance.now() - startedAt;
  if (run?.end === undefined) {
    if (format !== "text")
      await output.answer(jsonLine(resultObject({ ...reached.end, runId: id, durationMs })));
    return tellWaiting(store, { id, place });
  }
  const { usage, turns } = reached.end; // the end of a run that was cancelled elsewhere has neither
  const ended = endOf({ usage, turns, ...run.end }, agent.name);
  return printEnd({ ...ended, runId: id, durationMs }, { output, format, verbose });
}

/** Keeps track of how far the run came: while it waits, it has no end in the store. */
function reachedBy(): {
  readonly tell: (event: AgentEvent) => void;
  readonly end: Omit<PrintedEnd, "durationMs">;
} {
  const end: { outcome?: Outcome; usage: Usage; turns: number } = { usage: noUsage, turns: 0 };
  const tell = (event: AgentEvent): void => {
    if (event.parentRunId !== undefined) return;
    if (event.type === "turn-start") end.turns = event.turn;
    if (event.type === "run-end") Object.assign(end, { outcome: event.outcome, usage: event.usage });
  };
  return { tell, end };
}

/** The end as `writ run` prints it. */
function endOf(
  { outcome, output, usage = noUsage, turns = 0 }: RunEnd,
  agent: string,
): Omit<PrintedEnd, "durationMs"> {
  if (outcome.type !== "answered") return { outcome, error: outcomeError(outcome, agent), usage, turns };
  return { outcome, output, text: contentText(outcome.content), usage, turns };
}

/** Prints what a run that has not ended waits for. */
async function tellWaiting(
  store: RunStore,
  { id, place }: { readonly id: string; readonly place?: string },
): Promise<ExitCode> {
  const where = place === undefined ? "" : ` --store ${typed(place)}`;
  const questions = await store.questions(id);
  if (questions.length === 0)
    say(`${oneLine(id)} was handed over: \`npx writ work <file>${where}\` goes on with it.\n`, processOutput);
  for (const question of questions) say(`${oneLine(id)} ${waitingText(question, where)}\n`, processOutput);
  return exitCodes.suspended;
}

function waitingText({ runId, key, request, until = 0 }: WaitingQuestion, where: string): string {
  const { tool, unsettled, waitsFor } = request;
  const run = typed(runId);
  if (waitsFor === "time") return `sleeps in ${oneLine(tool)} until ${new Date(until).toISOString()}`;
  if (waitsFor !== undefined)
    return `waits for a signal in ${oneLine(tool)}: npx writ runs signal ${run} ${typed(waitsFor.signal)}${where}`;
  const answer =
    unsettled === true
      ? `runs settle ${run} ${typed(key)} --happened …`
      : `approvals approve ${run} ${typed(key)}`;
  return `waits for an answer about ${oneLine(tool)}: npx writ ${answer}${where}`;
}

/** A word of a printed command, in full, because people copy it. */
const typed = (word: string): string => printable(shellWord(word));

/** The error of a run whose outcome was kept, but not its error: with the same code and text. Undefined for an answer. */
function outcomeError(outcome: Outcome, agent: string): Error | undefined {
  if (outcome.type === "answered" || outcome.type === "suspended") return undefined;
  if (outcome.type === "cancelled")
    return new WritError("run-cancelled", { name: agent, reason: outcome.reason });
  if (outcome.type === "exhausted") return exhausted({ gate: { agent } }, outcome).error;
  return keptError(outcome);
}

/** An error without its advice, whose values were not kept: it names the page of the code instead. */
function keptError({ code, message }: { readonly code: string; readonly message: string }): Error {
  const error = new Error(message);
  if (!isKnown(code)) return error;
  const { hint, retryable } = catalogue[code];
  const advice = hint.includes("{") ? "The page of this code says what to do." : hint;
  return Object.assign(error, { name: "WritError", code, data: {}, hint: advice, retryable });
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(catalogue, code);
}
