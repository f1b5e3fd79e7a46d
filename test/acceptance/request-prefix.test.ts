import { expect, it } from "vitest";
import { z } from "zod";
import { ollama } from "../../src/adapters/model/ollama.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { agent, inMemorySessions, knowledge, session, skill, tool } from "../../src/index.ts";
import type { Model } from "../../src/model/model.ts";
import {
  fakeAnthropic,
  fakeOllama,
  fakeOpenai,
  type FakeProvider,
  type FakeStep,
  scripted,
} from "../../src/testing.ts";
import { toolCatalogue } from "../../src/tools.ts";
import { anthropic } from "../contract/ai-sdk-wire.ts";

const numbered = z.object({ n: z.number() });
const read = tool({
  name: "read",
  description: "Reads a page",
  inputSchema: numbered,
  effect: "read",
  execute: ({ n }) => `page ${n}: ${"words ".repeat(40)}`,
});
const stock = knowledge({ name: "stock", description: "What is in stock", load: () => ({ tea: 3 }) });
const catalogue = toolCatalogue({
  tools: ["archive", "print", "post"].map((name) =>
    tool({
      name: `${name}_page`,
      description: `Can ${name} a page`,
      inputSchema: numbered,
      effect: "none",
      execute: () => `${name} done`,
    }),
  ),
});
const librarian = skill({
  name: "librarian",
  description: "Looks after pages",
  instructions: "Read before you print.",
  tools: [read, catalogue],
  knowledge: [stock],
});

const reads = (from: number, count: number): FakeStep[] =>
  Array.from({ length: count }, (_, index) => ({
    calls: [
      { name: "read", arguments: { n: from + index } },
      { name: "read", arguments: { n: 100 + from + index } },
    ],
  }));
const script: readonly FakeStep[] = [
  { calls: [{ name: "stock" }] },
  ...reads(0, 4),
  { calls: [{ name: "find_tools", arguments: { query: "print" } }] },
  { calls: [{ name: "print_page", arguments: { n: 1 } }] },
  { calls: [{ name: "find_tools", arguments: { names: ["post_page"] } }] },
  ...reads(10, 6),
  "Done.",
];

const providers: readonly (readonly [
  string,
  (steps: readonly FakeStep[]) => Promise<FakeProvider>,
  (url: string) => Model,
])[] = [
  ["openaiCompatible", fakeOpenai, (url) => openaiCompatible("gpt-5", { baseUrl: `${url}/v1` })],
  ["ollama", fakeOllama, (url) => ollama("qwen3", { host: url })],
  ["@ai-sdk/anthropic", fakeAnthropic, (url) => aiSdk(anthropic("v4", url))],
];

/** Leaves out where the last request ended: a mark of the cache stands there, and moves on with each request. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (key, field: unknown) => (key === "cache_control" ? undefined : field));

/** True where the second list begins with all of the first, byte for byte. */
function goesOn(before: unknown, after: unknown): boolean {
  return (
    Array.isArray(before) &&
    Array.isArray(after) &&
    before.every((item, index) => plain(item) === plain(after[index]))
  );
}

/** The turns whose request does not begin with that of the turn before. */
function breaks({ requests }: FakeProvider, field: "messages" | "tools"): readonly number[] {
  const bodies = requests.map(({ body }) => body);
  return bodies.flatMap((body, index) => {
    const last = bodies[index - 1];
    return last === undefined || goesOn(last[field], body[field]) ? [] : [index];
  });
}

it.each(providers)(
  "each request to %s begins with the one before it; only a compaction begins anew",
  async (_name, fake, model) => {
    await using server = await fake(script);
    const compactions: number[] = [];
    const library = agent({
      name: "library",
      instructions: "You keep a library.",
      model: model(server.url),
      skills: [librarian],
      budget: { turns: 40, toolCalls: 100, repeats: Infinity },
      compaction: { atTokens: 800 },
      on: { "compaction-end": ({ turn }) => compactions.push(turn - 1) },
    });
    const { outcome } = await library.run("Print page 1");
    expect(outcome.type).toBe("answered");
    expect(server.requests).toHaveLength(script.length);
    expect(compactions.length).toBeGreaterThan(0);
    expect(compactions.length).toBeLessThan(5);
    expect(breaks(server, "messages")).toEqual(compactions);
    expect(breaks(server, "tools")).toEqual([]);
    const systems = server.requests.map(({ body }) =>
      plain(body["system"] ?? (body["messages"] as readonly unknown[])[0]),
    );
    expect(new Set(systems).size).toBe(1);
    const told = JSON.stringify(server.requests[0]?.body);
    for (const words of ["Reads a page", "What is in stock", "Looks after pages"])
      expect(told.split(words), words).toHaveLength(2);
  },
);

it.each(providers)(
  "the next run of a session goes on from the one before, to %s",
  async (_name, fake, model) => {
    await using server = await fake(["One.", "Two.", "Three."]);
    const store = inMemorySessions();
    const talk = agent({ name: "talk", model: model(server.url), instructions: "Be brief.", tools: [read] });
    for (const question of ["1?", "2?", "3?"]) await talk(question, { session: session(store, "s") });
    expect(breaks(server, "messages")).toEqual([]);
    expect(breaks(server, "tools")).toEqual([]);
  },
);

it("the rule on marked results stays when a call leaves the run fewer tools", async () => {
  const model = scripted([{ calls: [{ name: "calm" }] }, { calls: [{ name: "add" }] }, "Done."]);
  const plainTool = { inputSchema: z.object({}), effect: "none" } as const;
  const add = tool({ ...plainTool, name: "add", description: "Adds", execute: () => 1 });
  const calm = { ...tool({ ...plainTool, name: "calm", description: "Calms", execute: () => 1 }) };
  const narrowing = { ...calm, mode: () => ({ restrictTo: ["add"] }) };
  await agent({ name: "a", model, tools: [read, narrowing, add] }).run("Go");
  expect(model.requests.map(({ tools }) => tools.length)).toEqual([3, 1, 1]);
  const systems = model.requests.map(({ messages }) => JSON.stringify(messages[0]));
  expect(new Set(systems).size).toBe(1);
});
