import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, memoryJournal, tool } from "../../../src/index.ts";
import type { AgentEvent } from "../../../src/event/event.ts";
import { readGbnf } from "../../gbnf.ts";
import { scripted } from "../../../src/testing.ts";

const weak = { features: { tools: false, small: true, completion: true, format: "grammar" as const } };
const city = z.object({ city: z.string() });
const weather = tool({
  name: "weather",
  description: "The weather in a city",
  inputSchema: city,
  effect: "read",
  execute: () => "rain",
});
const add = tool({
  name: "add",
  description: "Add two numbers: a + b",
  notation: "{a} + {b}",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  effect: "none",
  execute: ({ a, b }) => a + b,
});
const subtract = tool({
  name: "subtract",
  description: "Subtract two numbers: a - b",
  notation: "{a} - {b}",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  effect: "none",
  execute: ({ a, b }) => a - b,
});
const examples = [
  { input: "1 and 1?", calls: [{ tool: "add", arguments: { a: 1, b: 1 }, result: 2 }], answer: "2" },
];

function watched(): { readonly events: AgentEvent[]; readonly onEvent: (event: AgentEvent) => void } {
  const events: AgentEvent[] = [];
  return { events, onEvent: (event) => void events.push(event) };
}

describe("runs by guided", () => {
  it("are what auto gives a model that is small", async () => {
    const { events, onEvent } = watched();
    await agent({ name: "a", model: scripted([], weak), tools: [weather] }).run("Weather in Oslo?", {
      onEvent,
    });
    const drivers = events.flatMap((event) => (event.type === "message-end" ? [event.driver] : []));
    expect(drivers).toEqual(["guided", "guided"]);
  });

  it("label what they quote with where it came from", async () => {
    const { events, onEvent } = watched();
    const { text } = await agent({ name: "a", model: scripted([], weak), tools: [weather] }).run(
      "Weather in Oslo?",
      { onEvent },
    );
    expect(text).toBe("rain");
    const last = events.findLast((event) => event.type === "message-end");
    expect(last).toMatchObject({
      quotes: [events.find((event) => event.type === "tool-start")?.callId],
      message: { label: { integrity: "untrusted", sources: ["tool/weather"] } },
    });
  });

  it("are replayed from their records, and ask no model again", async () => {
    const journal = memoryJournal();
    const made = (replies: readonly string[]) =>
      agent({ name: "a", model: scripted([...replies], weak), tools: [subtract] });
    const first = watched();
    const live = await made(["10 - "].map(() => "10")).run("Subtract 4 from 10.", {
      journal,
      onEvent: first.onEvent,
    });
    const again = watched();
    const replayed = await made([]).run("Subtract 4 from 10.", {
      journal: memoryJournal(journal.records),
      onEvent: again.onEvent,
    });
    expect(live.text).toBe("6");
    expect(replayed.text).toBe("6");
    const told = (events: readonly AgentEvent[]) =>
      events.flatMap((event) => (event.type === "message-end" ? [[event.message, event.quotes]] : []));
    expect(told(again.events)).toEqual(told(first.events));
  });

  it("are paid from the budget, question by question", async () => {
    const usage = { inputTokens: 60, outputTokens: 60 };
    const model = scripted(
      [
        { text: "10", usage },
        { text: "6", usage },
      ],
      weak,
    );
    const asked = agent({ name: "a", model, tools: [subtract], budget: { tokens: 100 } });
    const { outcome } = await asked.run("Subtract 4 from 10, then subtract 5 and 7.");
    expect(outcome).toMatchObject({ type: "exhausted", field: "tokens" });
    expect(model.requests.length).toBeLessThan(3);
  });

  it("answer in the form of an output, written by the model", async () => {
    const model = scripted(['{"degrees":7}'], weak);
    const output = z.object({ degrees: z.number() });
    const result = await agent({ name: "a", model, tools: [weather], output }).run("Weather in Oslo?");
    expect(result.output).toEqual({ degrees: 7 });
    expect(model.requests[0]?.format?.type).toBe("grammar");
  });

  it("with the author's examples speak in lines, without tools whose numbers nobody said", async () => {
    const model = scripted(["Step: 3 + 5 =", "Answer: 8", "Hello!"], weak);
    const calculator = agent({ name: "a", model, tools: [add, weather], examples });
    expect(await calculator("3 and 5?")).toBe("8");
    expect(model.requests[0]?.prompt).toContain("Q: 1 and 1?\nStep: 1 + 1 = 2");
    await calculator("Say hello").catch(() => undefined);
    const { format, prompt } = model.requests[2] ?? {};
    const grammar = readGbnf(format?.type === "grammar" ? format.grammar : "");
    expect(prompt).toContain("a + b");
    expect(grammar.matches("Step: 1 + 2 =")).toBe(false);
    expect(grammar.matches('Step: weather {"city":"Oslo"} =')).toBe(true);
  });

  it("with the author's examples answer in plain words where no tool has its numbers", async () => {
    const model = scripted(["Hello!"], weak);
    expect(await agent({ name: "a", model, tools: [add], examples })("Say hello")).toBe("Hello!");
    expect(model.requests[0]?.prompt).toBeUndefined();
  });

  it("call a required tool also where no word fits, and none where none may be called", async () => {
    const forced = agent({
      name: "a",
      model: scripted(['"Oslo"'], weak),
      tools: [weather],
      toolChoice: "required",
    });
    expect((await forced.run("Is it nice outside?")).text).toBe("rain");
    const model = scripted(["No idea."], weak);
    const barred = agent({ name: "a", model, tools: [weather], toolChoice: "none" });
    expect(await barred("Weather in Oslo?")).toBe("No idea.");
  });
});

describe("guided in other languages", () => {
  const calls = async (request: string, offered: readonly ReturnType<typeof tool>[]): Promise<unknown> => {
    const { events, onEvent } = watched();
    await agent({ name: "a", model: scripted(["Gut."], weak), tools: [...offered] }).run(request, {
      onEvent,
    });
    return events.flatMap((event) => (event.type === "tool-start" ? [[event.name, event.arguments]] : []));
  };
  const licht = tool({
    name: "licht",
    description: "Schaltet das Licht in einem Zimmer ein oder aus",
    inputSchema: z.object({ zimmer: z.string(), an: z.boolean() }),
    effect: "none",
    execute: () => "gut",
  });
  const minuteur = tool({
    name: "minuteur",
    description: "Règle un minuteur",
    inputSchema: z.object({ minutes: z.number().int() }),
    effect: "none",
    execute: () => "bien",
  });

  it("takes German", async () => {
    expect(await calls("Bitte mach das Licht in der Küche aus.", [licht, minuteur])).toEqual([
      ["licht", { zimmer: "Küche", an: false }],
    ]);
    expect(await calls("Guten Abend, wie geht es dir?", [licht, minuteur])).toEqual([]);
  });

  it("takes French", async () => {
    expect(await calls("Règle le minuteur sur douze minutes.", [licht, minuteur])).toEqual([
      ["minuteur", { minutes: 12 }],
    ]);
  });
});
