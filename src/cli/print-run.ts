import { checkArguments, closed } from "../error/check-shape.ts";
import type { AgentEvent } from "../event/event.ts";
import { capabilityAudit, type CapabilityLook } from "../event/capability-audit.ts";
import type { Approve } from "../run/approval.ts";
import type { UnansweredOutcome } from "../event/outcome.ts";
import { noUsage } from "../message/usage.ts";
import {
  anything,
  boolean,
  callable,
  having,
  list,
  oneOf,
  optional,
  type Shape,
  shapeOf,
  string,
} from "../util/shape.ts";
import { toJson } from "../util/json.ts";
import type { Capability } from "../tool/capability.ts";
import { terminalApprove } from "./approvals.ts";
import { errorObject, errorText } from "./error-text.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "./exit-code.ts";
import { followRun, type PrintedEnd } from "./follow-run.ts";
import { listenForInterrupts } from "./interrupts.ts";
import { type AnyAgent, isAgent } from "./load-agent.ts";
import { jsonLine, type Output, printable, processOutput } from "./output.ts";
import { printer } from "./printer.ts";
import type { QuestionPart } from "./read-files.ts";

/**
 * The content of standard output: the answer; one JSON object; or every event as a line of JSON, with the object
 * last.
 */
export type Format = "text" | "json" | "stream-json";

/** Options of {@link printRun}. */
export interface PrintRunOptions {
  /** The name of the model for people, like `ollama/qwen2.5:7b`. */
  readonly model?: string;
  /** The skill to use, if the agent has several. */
  readonly skill?: string;
  /** The most that tools may use of the world, whatever the agent grants. */
  readonly ceiling?: readonly Capability[];
  /** Asks about calls that need an approval. Default: the person at the terminal; without a terminal, such calls are denied. */
  readonly approve?: Approve;
  /** Called with each look at a capability, granted or denied. An error that it throws ends the run. */
  readonly audit?: (look: CapabilityLook) => void;
  /** The content of standard output. Default `text`. */
  readonly format?: Format;
  /** Shows arguments and results whole, and the stack of an error. */
  readonly verbose?: boolean;
  /** The output. Default: the standard streams of this process. */
  readonly output?: Output;
}

const optionShapes: { readonly [Field in keyof Required<PrintRunOptions>]: Shape<unknown> } = {
  model: optional(string),
  skill: optional(string),
  ceiling: optional(list(anything)),
  approve: optional(callable),
  audit: optional(callable),
  format: optional(oneOf("text", "json", "stream-json")),
  verbose: optional(boolean),
  output: optional(having("an output", "answer", "progress")),
};
const shapes = { agent: shapeOf("an agent", isAgent), options: closed(optionShapes) };

/**
 * Runs an agent as `writ run` does: it prints the answer on standard output, and on standard error each call as it happens. The first interrupt
 * (Ctrl-C) cancels the run, a second one ends the process at once.
 *
 * Does not throw for a run that fails: it prints the error, and returns the exit code.
 *
 * @throws WritError `definition-invalid` for a value that is not an agent, and for an option that there is not
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
  checkArguments("printRun()", { agent, options }, shapes);
  const { output = processOutput, format = "text", verbose = false } = options;
  const { skill, ceiling } = options;
  const interrupts = listenForInterrupts(output);
  const print = printer({ agent: agent.name, model: options.model, verbose, output });
  const { signal } = interrupts;
  const audit = options.audit === undefined ? undefined : capabilityAudit(options.audit);
  const ask = options.approve ?? terminalApprove({ input: process.stdin, output, signal });
  const approve: Approve | undefined =
    ask && ((request, others) => print.whileAsking(() => ask(request, others)));
  const watch = async (event: AgentEvent): Promise<void> => {
    audit?.(event);
    await (format === "stream-json" ? output.answer(jsonLine(event)) : print.tell(event));
  };
  try {
    const end = await followRun(agent, prompt, { skill, ceiling, approve, signal, watch });
    print.close();
    return await printEnd(end, { output, format, verbose });
  } finally {
    print.close();
    interrupts.stopListening();
  }
}

/**
 * Prints the error that stopped a command before there was a run: for people, and as the result object if JSON is wanted.
 */
export function printFailure(
  error: unknown,
  options: { readonly format?: Format; readonly verbose?: boolean; readonly output?: Output },
): Promise<ExitCode> {
  const { output = processOutput, format = "text", verbose = false } = options;
  return printEnd({ error, usage: noUsage, turns: 0, durationMs: 0 }, { output, format, verbose });
}

interface Printing {
  readonly output: Output;
  readonly format: Format;
  readonly verbose: boolean;
}

/** Prints the end of a run. Returns the exit code. */
export async function printEnd(end: PrintedEnd, { output, format, verbose }: Printing): Promise<ExitCode> {
  const answered = end.outcome?.type === "answered";
  const error = end.error ?? (answered || end.outcome === undefined ? undefined : errorOf(end.outcome));
  if (format !== "text") await output.answer(jsonLine(resultObject(end, error)));
  else if (answered)
    await output.answer(`${output.answersTerminal ? printable(end.text ?? "") : (end.text ?? "")}\n`);
  if (error !== undefined)
    output.progress(errorText(error, { verbose, style: output.style, screen: output.screen }));
  if (end.outcome !== undefined && end.outcome.type !== "failed") return exitCodeOf({ outcome: end.outcome });
  return error === undefined ? exitCodes.failed : exitCodeOf({ error });
}

/**
 * The object that `--json` prints, and the last line of `stream-json`. `result` is the answer as text, or null; `output` is its value if it
 * is not a text.
 */
export function resultObject(end: PrintedEnd, error?: unknown): object {
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

/** Makes the error of an outcome, for an agent of another copy of the package whose result carries no error. */
function errorOf(outcome: UnansweredOutcome): Error {
  return new Error("message" in outcome ? outcome.message : outcome.reason);
}
