import { readFileSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
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

/** The request as providers read it for their caches: tools, system, messages. */
function inOrder({ body }: FakeProvider["requests"][number]): string {
  const { tools, system, messages } = body;
  return [tools, system, messages].map((part) => (part === undefined ? "" : listText(part))).join("");
}

function listText(part: unknown): string {
  return Array.isArray(part) ? part.map(plain).join("") : plain(part);
}

function sharedLength(before: string, after: string): number {
  let length = 0;
  while (length < before.length && before[length] === after[length]) length += 1;
  return length;
}

/** Of each request but the first: the part of the one before it, in percent, with which it begins. */
function sharedParts({ requests }: FakeProvider): readonly number[] {
  const texts = requests.map(inOrder);
  return texts
    .slice(1)
    .map((text, index) =>
      Math.floor((100 * sharedLength(texts[index] ?? "", text)) / (texts[index]?.length ?? 1)),
    );
}

const calm = tool({
  name: "calm",
  description: "Leaves only pages to be read",
  inputSchema: z.object({}),
  effect: "none",
  execute: () => "calm",
});
const narrowing = { ...calm, mode: () => ({ restrictTo: ["read"] }) };
const whole = Array.from({ length: 4 }, () => 100);

describe("a run whose tools change", () => {
  it.each(providers)(
    "keeps what its requests to %s begin with when a call takes tools away",
    async (...at) => {
      const [, fake, model] = at;
      await using server = await fake([
        ...reads(0, 1),
        { calls: [{ name: "calm" }] },
        ...reads(1, 2),
        "Done.",
      ]);
      const tools = [narrowing, read, catalogue];
      await agent({ name: "a", model: model(server.url), tools }).run("Go");
      expect(sharedParts(server)).toEqual(whole);
    },
  );

  it.each(providers)("keeps what its requests to %s begin with when a result is cut", async (...at) => {
    const [, fake, model] = at;
    await using server = await fake([...reads(0, 4), "Done."]);
    await agent({ name: "a", model: model(server.url), tools: [read], budget: { resultBytes: 50 } }).run(
      "Go",
    );
    expect(sharedParts(server)).toEqual(whole);
    expect(JSON.stringify(server.requests[1]?.body["messages"])).toContain("Read on with read_result");
  });

  it("holds OpenAI's Responses to the tools that are left", async () => {
    await using server = await fakeOpenai([{ calls: [{ name: "calm" }] }, ...reads(0, 1), "Done."]);
    const openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: "key" }).responses("gpt-5");
    const { outcome } = await agent({ name: "a", model: aiSdk(openai), tools: [narrowing, read] }).run("Go");
    expect(outcome.type).toBe("answered");
    expect(breaks(server, "tools")).toEqual([]);
    const names = ["read", "read_result"];
    const left = {
      type: "allowed_tools",
      mode: "auto",
      tools: names.map((name) => ({ type: "function", name })),
    };
    expect(server.requests.map(({ body }) => body["tool_choice"])).toEqual(["auto", left, left]);
  });

  it("tells the model that it can call nothing where everything was taken away", async () => {
    const none = { ...calm, mode: () => ({ restrictTo: [] }) };
    const model = scripted([{ calls: [{ name: "calm" }] }, "Done."]);
    await agent({ name: "a", model, tools: [none, read] }).run("Go");
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none"]);
  });

  it("lets no hook force a tool that was taken away", async () => {
    const force = (toolChoice: object | string, restrictTo: readonly string[]) => {
      const model = scripted([{ calls: [{ name: "calm" }] }, "Done."]);
      const beforeModel = ({ turn }: { readonly turn: number }) =>
        turn === 2 ? { toolChoice: toolChoice as never } : undefined;
      const narrow = { ...calm, mode: () => ({ restrictTo }) };
      return agent({ name: "a", model, tools: [narrow, read], hooks: [{ beforeModel }] }).run("Go");
    };
    const error = { code: "hook-failed" };
    expect(await force({ tool: "calm" }, ["read"])).toMatchObject({ error });
    expect(await force("required", [])).toMatchObject({ error });
    expect(await force("auto", ["read"])).toMatchObject({ text: "Done." });
  });

  it("refuses a tool that was taken away, and says what is left", async () => {
    const step = { calls: [{ name: "calm" }, { name: "calm" }] };
    const model = scripted([step, { calls: [{ name: "calm" }] }, "Done."]);
    const { transcript, calls } = await agent({ name: "a", model, tools: [narrowing, read] }).run("Go");
    expect(calls.map(({ status }) => status)).toEqual(["ok", "denied", "denied"]);
    const texts = transcript.messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
    const refused = "Tool 'calm' is not allowed for skill 'a'. Allowed: [read]";
    expect(texts).toEqual([
      "calm",
      `${refused}\n[From now on only these tools can be called: read.]`,
      refused,
    ]);
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([2, 2, 2]);
    expect(model.requests.map(({ callable }) => callable)).toEqual([undefined, ["read"], ["read"]]);
  });

  it("tells nobody of a tool that a run began without, nor of one found after it was taken away", async () => {
    const found = { calls: [{ name: "find_tools", arguments: { names: ["post_page"] } }] };
    const steps = [{ calls: [{ name: "calm" }] }, found, "Done."];
    const tools = [{ ...calm, mode: () => ({ restrictTo: ["read", "find_tools"] }) }, read, catalogue];
    const model = scripted(steps);
    const some = { tools: ["calm", "find_tools", "post_page"] };
    await agent({ name: "a", model, tools: [...tools, add] }).run("Go", some);
    const told = model.requests.map((request) => request.tools.map(({ name }) => name));
    const begun = ["calm", "find_tools", "post_page"];
    expect(told).toEqual([begun, begun, begun]);
    const late = scripted(steps);
    await agent({ name: "a", model: late, tools }).run("Go");
    expect(late.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(["calm", "read", "find_tools"]);
  });

  it("keeps the names of tools as their provider knows them", async () => {
    const dotted = (name: string) => ({ ...add, name });
    const narrow = { ...calm, mode: () => ({ restrictTo: ["a.b"] }) };
    const steps = [{ calls: [{ name: "calm" }] }, { calls: [{ name: "a.b" }] }, "Done."];
    const model = scripted(steps);
    await agent({ name: "a", model, tools: [narrow, dotted("a.b"), dotted("a_b")] }).run("Go");
    const told = model.requests.map((request) => request.tools.map(({ name }) => name));
    expect(new Set(told.map(String)).size).toBe(1);
    expect(model.requests[1]?.callable).toEqual([told[0]?.[1]]);
  });
});

/** The worst turn of a run on a fake host of chat completions: the part of the request before it that it begins with. */
async function worstTurn(steps: readonly FakeStep[], definition: object): Promise<number> {
  await using server = await fakeOpenai(steps);
  const model = openaiCompatible("gpt-5", { baseUrl: `${server.url}/v1` });
  const instructions = "You keep a library. ".repeat(20);
  const budget = { turns: 40, repeats: Infinity };
  const { outcome } = await agent({ name: "a", model, instructions, budget, ...definition }).run("Go");
  expect(outcome.type).toBe("answered");
  const parts = sharedParts(server);
  expect(parts.filter((part) => part < 100).length).toBeLessThan(2);
  return Math.min(...parts);
}

const changing = (name: string, args: object = {}): readonly FakeStep[] => [
  ...reads(0, 3),
  { calls: [{ name, arguments: { ...args } }] },
  ...reads(3, 3),
  "Done.",
];
const long = tool({
  name: "long",
  description: "Reads the whole book",
  inputSchema: z.object({}),
  effect: "read",
  execute: () => "words ".repeat(20_000),
});
const page = readFileSync("docs/hosted-models.md", "utf8");
const table = /^\| after \|(?:.*\n)+?\n/m.exec(page)?.[0] ?? "";

it.each([
  ["calls and their results", reads(0, 6), { tools: [read] }],
  ["a call that took tools away", changing("calm"), { tools: [read, narrowing] }],
  [
    "a result cut at your `resultBytes`",
    changing("long"),
    { tools: [read, long], budget: { resultBytes: 900 } },
  ],
  ["the first result cut at the default", changing("long"), { tools: [read, long] }],
  ["a search that found tools", changing("find_tools", { query: "print" }), { tools: [read, catalogue] }],
  ["a compaction", reads(0, 6), { tools: [read], compaction: { atTokens: 700, keepTurns: 1 } }],
])("begins after %s with as much of the last request as its page says", async (change, steps, definition) => {
  const [, percent] = new RegExp(`^\\| ${change}.*\\| (\\d+) % \\|$`, "m").exec(table) ?? [];
  expect(await worstTurn([...steps, "Done."], definition)).toBe(Number(percent));
});

const add = tool({
  name: "add",
  description: "Adds",
  inputSchema: z.object({}),
  effect: "none",
  execute: () => 1,
});

it("the rule on marked results stays when a call leaves the run fewer tools", async () => {
  const model = scripted([{ calls: [{ name: "calm" }] }, { calls: [{ name: "add" }] }, "Done."]);
  const onlyAdd = { ...calm, mode: () => ({ restrictTo: ["add"] }) };
  await agent({ name: "a", model, tools: [read, onlyAdd, add] }).run("Go");
  const systems = model.requests.map(({ messages }) => JSON.stringify(messages[0]));
  expect(new Set(systems).size).toBe(1);
});
