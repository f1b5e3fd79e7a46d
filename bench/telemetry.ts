/**
 * The processor time of a turn with one call, with and without telemetry, in turns with each other: a listener that does nothing, and telemetry
 * whose provider makes every span and throws it away. Prints JSON, microseconds a turn: the least of the rounds, since other work of the machine
 * only adds. Run: npm run bench:telemetry
 */
import { metrics, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { TracerProvider } from "@opentelemetry/sdk-trace";
import { agent, type Agent, type AgentEvent, tool } from "../src/index.ts";
import { onlyReads } from "../src/event/only-reads.ts";
import { telemetry } from "../src/otel.ts";

const turns = 500;

function adder(onEvent?: (event: AgentEvent) => void): Agent<string, string> {
  const add = tool({
    name: "add",
    description: "Adds",
    inputSchema: { type: "object", properties: { a: { type: "number" } } },
    effect: "none",
    execute: ({ a }: { a?: number }) => (a ?? 0) + 1,
  });
  let asked = 0;
  const model = (): { calls: { name: string; arguments: { a: number } }[] } | string =>
    (asked += 1) % (turns + 1) === 0 ? "done" : { calls: [{ name: "add", arguments: { a: asked } }] };
  return agent({
    name: "adder",
    model,
    tools: [add],
    budget: { turns: turns + 1, toolCalls: turns + 1 },
    ...(onEvent === undefined ? {} : { onEvent }),
  });
}

async function microsecondsOf(by: Agent<string, string>): Promise<number> {
  const before = process.cpuUsage();
  await by.run("go");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / turns;
}

const arms = { off: adder(), listener: adder(onlyReads(() => undefined)) };
const spans = {
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [spans] }));
const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
const all = { ...arms, on: adder(telemetry()) };
const times = Object.fromEntries(Object.keys(all).map((name) => [name, [] as number[]]));
for (let round = 0; round < 60; round += 1)
  for (const [name, each] of Object.entries(all)) {
    const time = await microsecondsOf(each);
    if (round >= 10) times[name]?.push(time);
  }
const told = Object.fromEntries(
  Object.entries(times).map(([name, values]) => [name, Number(Math.min(...values).toFixed(1))]),
);
console.log(
  JSON.stringify({ ...told, cost: Number(((told["on"] ?? 0) - (told["off"] ?? 0)).toFixed(1)) }, null, 2),
);
process.exit();
