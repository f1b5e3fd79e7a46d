import { type SpanContext, trace } from "@opentelemetry/api";
import { checkShape, closed } from "../../error/check-shape.ts";
import type { AgentEvent } from "../../event/event.ts";
import { onlyReads } from "../../event/only-reads.ts";
import { boolean, optional } from "../../util/shape.ts";
import { Measures, type Telling } from "./measures.ts";
import { RunSpans } from "./run-spans.ts";

/** Options of {@link telemetry}. */
export interface TelemetryOptions {
  /**
   * Puts content on spans: the inputs of runs, replies of models, arguments and results of calls, reasons of decisions. Default: only names, ids,
   * numbers and verdicts.
   */
  readonly content?: boolean;
}

const optionsShape = closed({ content: optional(boolean) });

/** The most waiting runs whose span is kept, for links to it. */
const mostWaiting = 10_000;

/**
 * Makes a listener for `onEvent` of agents, runs, servers and `durableRuns`, which sends OpenTelemetry spans of runs, turns, requests to models,
 * calls and approvals, and metrics, by the conventions for generative AI. It uses the providers that are registered when a run begins;
 * without any it does nothing. Use one listener for everything: an event that two listeners hear is sent twice.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { telemetry } from "writ/otel";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", onEvent: telemetry() });
 * ```
 */
export function telemetry(options: TelemetryOptions = {}): (event: AgentEvent) => void {
  checkShape("telemetry()", options, optionsShape);
  const { content = false } = options;
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
