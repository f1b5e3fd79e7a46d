import { context, metrics, type Span, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  TracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace";

const spans = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });

/** Registers providers that keep what they are told. */
export function register(): void {
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }),
  );
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** The spans since the last time, each with the name of the one around it. */
export function told(): readonly ReadableSpan[] {
  const all = spans.getFinishedSpans();
  spans.reset();
  return all;
}

/** The spans as a tree of names, in the order of their beginning. */
export function tree(
  all: readonly ReadableSpan[],
  parent?: string,
): readonly (string | readonly unknown[])[] {
  const known = new Set(all.map((span) => span.spanContext().spanId));
  return all
    .filter(({ parentSpanContext: around }) =>
      parent === undefined ? !known.has(around?.spanId ?? "") : around?.spanId === parent,
    )
    .flatMap((span) => {
      const inside = tree(all, span.spanContext().spanId);
      return inside.length === 0 ? [span.name] : [span.name, inside];
    });
}

/** The sums of what was measured since the last time, by name. */
export async function sums(): Promise<Readonly<Record<string, number>>> {
  measured.reset();
  await reader.forceFlush();
  const points = measured
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: all }) => all));
  return Object.fromEntries(
    points.map(({ descriptor, dataPoints }) => [
      descriptor.name,
      dataPoints.reduce((sum, { value }) => sum + (typeof value === "number" ? value : value.count), 0),
    ]),
  );
}

/** The attributes of what was measured since the last time under a name, a set for each. */
export async function attributesOf(name: string): Promise<readonly object[]> {
  measured.reset();
  await reader.forceFlush();
  return measured
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics: all }) => all))
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes));
}

/** Does something inside a span of the program. */
export function inSpan<Value>(name: string, act: () => Promise<Value>): Promise<Value> {
  return trace.getTracer("program").startActiveSpan(name, async (span: Span) => {
    try {
      return await act();
    } finally {
      span.end();
    }
  });
}
