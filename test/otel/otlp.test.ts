import { trace } from "@opentelemetry/api";
import { SimpleSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/index.ts";
import { telemetry } from "../../src/otel.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { ownReceiver, type ReceivedSpan, type Receiver } from "./otlp-receiver.ts";
import { hasPhoenix, phoenixReceiver } from "./phoenix.ts";

/** The exporter that dashboards tell people to install, where it is. */
interface ExporterModule {
  readonly OTLPTraceExporter: new (options: { readonly url: string }) => SpanExporter;
}

function exporterAddress(): string | undefined {
  try {
    return import.meta.resolve("@opentelemetry/exporter-trace-otlp-proto");
  } catch {
    console.log("skipped: @opentelemetry/exporter-trace-otlp-proto is not installed (npm ci)");
    return undefined;
  }
}
const address = exporterAddress();

/** Runs an agent with an agent inside, whose spans go to a receiver by the official exporter, and gives what came there. */
async function sentTo({ url, spans }: Receiver): Promise<readonly ReceivedSpan[]> {
  const { OTLPTraceExporter } = (await import(address ?? "")) as ExporterModule;
  const processor = new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url }) });
  const provider = new TracerProvider({ spanProcessors: [processor] });
  trace.setGlobalTracerProvider(provider);
  onTestFinished(async () => {
    await provider.shutdown();
    trace.disable();
  });
  const onEvent = telemetry();
  const finder = agent({
    name: "finder",
    model: scripted([{ calls: [{ name: "look", arguments: {} }] }, "It is there."]),
    tools: [fakeTool("look", "seen")],
  });
  const clerk = agent({
    name: "clerk",
    model: scripted([{ calls: [{ name: "finder", arguments: { input: "order 17" } }] }, "Found."]),
    tools: [finder.asTool({ description: "Finds" })],
    onEvent,
  });
  await clerk.run("Look for order 17");
  await provider.forceFlush();
  await expect.poll(async () => (await spans()).length, { timeout: 60_000 }).toBe(12);
  return spans();
}

/** The path of names from the outermost span to one. */
function pathOf(span: ReceivedSpan, all: readonly ReceivedSpan[]): string {
  const parent = all.find(({ id }) => id === span.parent);
  return parent === undefined ? span.name : `${pathOf(parent, all)} / ${span.name}`;
}

function expectWhole(all: readonly ReceivedSpan[]): void {
  const run = "invoke_agent clerk";
  const inner = `${run} / turn / execute_tool finder / invoke_agent finder`;
  const paths = [
    run,
    `${run} / turn`,
    `${run} / turn`,
    `${run} / turn / chat scripted`,
    `${run} / turn / chat scripted`,
    `${run} / turn / execute_tool finder`,
    inner,
    `${inner} / turn`,
    `${inner} / turn`,
    `${inner} / turn / chat scripted`,
    `${inner} / turn / chat scripted`,
    `${inner} / turn / execute_tool look`,
  ];
  expect(all.map((span) => pathOf(span, all)).toSorted()).toEqual(paths.toSorted());
  const of = (name: string) => all.find((span) => span.name === name)?.attributes;
  expect(of("execute_tool look")).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "look",
    "writ.decision.verdict": "allow",
    "writ.label.sources": ["tool/look"],
    "writ.result.status": "ok",
  });
  expect(of(run)).toMatchObject({
    "gen_ai.agent.name": "clerk",
    "writ.outcome": "answered",
    "writ.turns": 2,
  });
  const chats = all.filter(({ name }) => name === "chat scripted").map(({ attributes }) => attributes);
  expect(chats.every((each) => Number(each["gen_ai.usage.output_tokens"]) > 0)).toBe(true);
}

describe.skipIf(address === undefined)("spans sent by OTLP over HTTP", () => {
  it("come whole to a receiver that reads the protobuf itself", async () => {
    expectWhole(await sentTo(await ownReceiver()));
  });
});

describe.skipIf(address === undefined || !hasPhoenix())("Phoenix", () => {
  it("has every span of a run under its parent, and knows agents, requests and tools by the conventions", async () => {
    const all = await sentTo(await phoenixReceiver());
    expectWhole(all);
    const kinds = Object.fromEntries(all.map(({ name, attributes }) => [name, attributes["phoenix.kind"]]));
    expect(kinds).toMatchObject({
      "invoke_agent clerk": "AGENT",
      "chat scripted": "LLM",
      "execute_tool look": "TOOL",
    });
    const asked = all.find(({ name }) => name === "chat scripted")?.attributes;
    expect(asked?.["llm.token_count.completion"]).toBe(asked?.["gen_ai.usage.output_tokens"]);
  }, 300_000);
});
