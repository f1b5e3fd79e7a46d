import { type SpanContext, trace } from "@opentelemetry/api";
import type { AgentEvent } from "../../event/event.ts";
import { onlyReads } from "../../event/only-reads.ts";
import { Measures, type Telling } from "./measures.ts";
import { RunSpans } from "./run-spans.ts";

/** Options of {@link telemetry}. */
export interface TelemetryOptions {
  /**
   * Puts content on spans: what a run was asked, replies of models, arguments and results of calls, reasons of decisions. Default: names, ids,
   * numbers and verdicts alone.
   */
  readonly content?: boolean;
}

/** The most runs that wait of which the span is known, to link to it. */
const mostWaiting = 10_000;

/**
 * A listener for `onEvent` of agents, runs, servers and `durableRuns`, which tells OpenTelemetry of what they do: spans of runs, turns, requests to models,
 * calls and approvals, and metrics, by the conventions for generative AI. It takes the providers that the program has registered when a run begins;
 * without any it does nothing. Make one and give it to all: what two listeners hear is told twice.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { telemetry } from "writ/otel";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", onEvent: telemetry() });
 * ```
 */
export function telemetry({ content = false }: TelemetryOptions = {}): (event: AgentEvent) => void {
  const tracer = trace.getTracer("writ");
  let measures: Measures | undefined;
  const runs = new Map<string, RunSpans>();
  const waiting = new Map<string, SpanContext>();

  return onlyReads((event: AgentEvent) => {
    const { runId, parentRunId } = event;
    let run = runs.get(runId);
    if (event.type === "run-start" && run === undefined) {
      const around = parentRunId === undefined ? undefined : runs.get(parentRunId);
      measures = Measures.now(measures);
      const telling: Telling = { tracer, measures, content };
      run = new RunSpans(event, { telling, around, before: waiting.get(runId) });
      runs.set(runId, run);
      waiting.delete(runId);
    }
    run?.tell(event);
    if (event.type !== "run-end" || run === undefined) return;
    runs.delete(runId);
    if (event.outcome.type !== "suspended") return;
    waiting.set(runId, run.spanContext);
    const [oldest] = waiting.keys();
    if (waiting.size > mostWaiting && oldest !== undefined) waiting.delete(oldest);
  });
}
