import type { AgentEvent } from "../event/event.ts";
import { capabilityAudit, type CapabilityLook } from "../event/capability-audit.ts";
import type { Approve } from "../run/approval.ts";
import type { Outcome } from "../event/outcome.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import { toJson } from "../util/json.ts";
import type { Capability } from "../tool/capability.ts";
import { terminalApprove } from "./approvals.ts";
import { errorObject, errorText } from "./error-text.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "./exit-code.ts";
import { listenForInterrupts } from "./interrupts.ts";
import type { AnyAgent } from "./load-agent.ts";
import { jsonLine, type Output, printable, processOutput } from "./output.ts";
import { printer } from "./printer.ts";
import type { QuestionPart } from "./read-files.ts";

/**
 * Contents of standard output: the answer; one JSON object; or every event as a line of JSON, the object
 * last.
 */
export type Format = "text" | "json" | "stream-json";

/** Options of {@link printRun}. */
export interface PrintRunOptions {
  /** Name of the model for people, like `ollama/qwen2.5:7b`. */
  readonly model?: string;
  /** The skill to use, where the agent has several. */
  readonly skill?: string;
  /** The most that tools may use of the world, whatever the agent grants. */
  readonly ceiling?: readonly Capability[];
  /** Asks about calls that need an approval. Default: the person at the terminal, where there is one; else they are denied. */
  readonly approve?: Approve;
  /** Told of each look at a capability, granted or denied. What it throws ends the run. */
  readonly audit?: (look: CapabilityLook) => void;
  /** Default `text`. */
  readonly format?: Format;
  /** Show arguments and results whole, and the stack of an error. */
  readonly verbose?: boolean;
  /** Default: the standard streams of this process. */
  readonly output?: Output;
}

/**
 * Runs an agent the way `writ run` does: the answer on standard output, on standard error each call as it happens. The first interrupt
 * (Ctrl-C) cancels the run, a second one ends the process at once.
 *
 * Never throws for a run that goes wrong: what went wrong is printed, and told by the exit code, which is returned.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { printRun } from "writ/cli";
 *
 * const greeter = agent({ name: "greeter", model: () => "hello" });
 * process.exitCode = await printRun(greeter, "hi");
 * ```
 */
export async function printRun(
  agent: AnyAgent,
  prompt: string | readonly QuestionPart[],
  options: PrintRunOptions = {},
): Promise<ExitCode> {
  const { output = processOutput, format = "text", verbose = false } = options;
  const interrupts = listenForInterrupts(output);
  const print = printer({ agent: agent.name, model: options.model, verbose, output });
  const { signal } = interrupts;
  const told = tellingFirst();
  const audit = options.audit === undefined ? undefined : capabilityAudit(options.audit);
  const ask = options.approve ?? terminalApprove({ input: process.stdin, output, signal }) ?? nobody;
  const approve: Approve = async (request) => {
    await told.of(request);
    return ask(request);
  };
  const watch = async (event: AgentEvent): Promise<void> => {
    audit?.(event);
    await (format === "stream-json" ? output.answer(jsonLine(event)) : print(event));
    if (event.type === "approval-request") told.tell(event.request);
  };
  try {
    const end = await runToEnd(agent, prompt, { ...options, approve, signal, watch });
    return await printEnd(end, { output, format, verbose });
  } finally {
    interrupts.stopListening();
  }
}

/** Denies, since nobody can be asked. */
const nobody: Approve = () => ({
  approved: false,
  reason: "it needs an approval, and there is no terminal to ask at",
});

/** A question waits until all before it was printed: the run is ahead of what is told of it. */
function tellingFirst(): {
  readonly of: (request: object) => Promise<void>;
  readonly tell: (request: object) => void;
} {
  const waiting = new WeakMap<object, PromiseWithResolvers<void>>();
  const entry = (request: object): PromiseWithResolvers<void> => {
    const known = waiting.get(request) ?? Promise.withResolvers<void>();
    waiting.set(request, known);
    return known;
  };
  return { of: (request) => entry(request).promise, tell: (request) => entry(request).resolve() };
}

/**
 * Prints what stopped a command before there was a run: for people, and as the result object where JSON is wanted.
 */
export function printFailure(
  error: unknown,
  options: { readonly format?: Format; readonly verbose?: boolean; readonly output?: Output },
): Promise<ExitCode> {
  const { output = processOutput, format = "text", verbose = false } = options;
  return printEnd({ error, usage: noUsage, turns: 0, durationMs: 0 }, { output, format, verbose });
}

/** End of a run, also of one that failed to begin. */
export interface PrintedEnd {
  readonly outcome?: Outcome;
  readonly text?: string;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly usage: Usage;
  readonly turns: number;
  readonly durationMs: number;
  readonly runId?: string;
}

interface Watched extends PrintRunOptions {
  readonly signal: AbortSignal;
  readonly watch: (event: AgentEvent) => void | Promise<void>;
}

async function runToEnd(
  agent: AnyAgent,
  prompt: string | readonly QuestionPart[],
  { signal, skill, watch, approve, ceiling }: Watched,
): Promise<PrintedEnd> {
  const startedAt = performance.now();
  const seen: { runId?: string; outcome?: Outcome; usage: Usage; turns: number } = {
    usage: noUsage,
    turns: 0,
  };
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an agent of a file takes what nobody knows; it checks its input itself
    const events = agent.stream(prompt as never, { signal, skill, approve, ceiling });
    for (;;) {
      const next = await events.next();
      if (next.done === true) return { ...next.value, durationMs: performance.now() - startedAt };
      const event = next.value;
      await watch(event);
      seen.runId = event.runId;
      if (event.type === "turn-start") seen.turns = event.turn;
      if (event.type === "usage-add") seen.usage = event.total;
      if (event.type === "run-end") seen.outcome = event.outcome;
    }
  } catch (error) {
    return { ...seen, error, durationMs: performance.now() - startedAt };
  }
}

interface Printing {
  readonly output: Output;
  readonly format: Format;
  readonly verbose: boolean;
}

/** Prints how a run ended. Gives the exit code. */
export async function printEnd(end: PrintedEnd, { output, format, verbose }: Printing): Promise<ExitCode> {
  const answered = end.outcome?.type === "answered";
  const error = end.error ?? (answered || end.outcome === undefined ? undefined : errorOf(end.outcome));
  if (format !== "text") await output.answer(jsonLine(resultObject(end, error)));
  else if (answered)
    await output.answer(`${output.answersTerminal ? printable(end.text ?? "") : (end.text ?? "")}\n`);
  if (error !== undefined) output.progress(errorText(error, { verbose, style: output.style }));
  if (end.outcome !== undefined && end.outcome.type !== "failed") return exitCodeOf({ outcome: end.outcome });
  return error === undefined ? exitCodes.failed : exitCodeOf({ error });
}

/**
 * The object that `--json` prints, and the last line of `stream-json`. `result` is the answer as text, or null; `output` is its value when it
 * is not a text.
 */
function resultObject(end: PrintedEnd, error: unknown): object {
  const answered = end.outcome?.type === "answered";
  const output = answered ? toJson(end.output) : undefined;
  return {
    type: "result",
    outcome: end.outcome?.type ?? "failed",
    result: answered ? (end.text ?? "") : null,
    ...(output?.ok === true && output.value !== end.text ? { output: output.value } : {}),
    error: error === undefined ? null : errorObject(error),
    usage: end.usage,
    turns: end.turns,
    duration_ms: Math.round(end.durationMs),
    run_id: end.runId ?? null,
  };
}

/** For an agent of another copy of the package whose result carries no error. */
function errorOf(outcome: Exclude<Outcome, { readonly type: "answered" }>): Error {
  return new Error("message" in outcome ? outcome.message : outcome.reason);
}
