import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { agent, inMemorySessions, session, tool } from "../../src/index.ts";
import {
  fakeAnthropic,
  fakeGemini,
  fakeOpenai,
  type FakeProvider,
  type FakeStep,
} from "../../src/testing.ts";
import { callsOf } from "../../src/message/message.ts";
import { toolCatalogue } from "../../src/tools.ts";
import { anthropic } from "../contract/ai-sdk-wire.ts";

const done: string[] = [];
const archive = (name: string) =>
  tool({
    name,
    description: `Archives as ${name}`,
    inputSchema: z.object({ id: z.string() }),
    effect: "write",
    trusted: true,
    execute: ({ id }) => `${name} ${done.push(`${name} ${id}`)}`,
  });
const tools = toolCatalogue({ tools: ["bank/archive", "shop/archive", "burn"].map(archive) });
const find = { calls: [{ id: "f1", name: "find_tools", arguments: { names: ["bank/archive"] } }] };
const look = { calls: [{ id: "f1", name: "find_tools", arguments: { query: "archive" } }] };
const through = (args: object, id = "c1"): FakeStep => ({
  calls: [{ id, name: "call_tool", arguments: { ...args } }],
});
const archived = through({ tool: "bank/archive", arguments: { id: "7" } });
const model = ({ url }: FakeProvider, features = {}) =>
  openaiCompatible("gpt-5", { baseUrl: `${url}/v1`, features });

describe("a tool that a catalogue finds in a run with a provider that caches", () => {
  it.each([
    ["openaiCompatible", fakeOpenai, model],
    ["@ai-sdk/anthropic", fakeAnthropic, ({ url }: FakeProvider) => aiSdk(anthropic("v4", url))],
    [
      "@ai-sdk/google",
      fakeGemini,
      ({ url }: FakeProvider) =>
        aiSdk(createGoogleGenerativeAI({ apiKey: "k", baseURL: `${url}/v1beta` })("gemini-3-pro")),
    ],
  ] as const)("is told in a result, and called through one tool: %s", async (_name, fake, made) => {
    done.length = 0;
    await using server = await fake([look, archived, "Done."]);
    const { outcome, calls, transcript } = await agent({ name: "a", model: made(server), tools }).run("Go");
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    expect(done).toEqual(["bank/archive 7"]);
    expect(calls.map(({ name, status }) => [name, status])).toEqual([
      ["find_tools", "ok"],
      ["bank/archive", "ok"],
    ]);
    expect(transcript.messages.flatMap((message) => (message.role === "tool" ? [message.name] : []))).toEqual(
      ["find_tools", "bank/archive"],
    );
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(new Set(server.requests.map(({ body }) => JSON.stringify(body["tools"]))).size).toBe(1);
    expect(bodies[0]).not.toContain("bank");
    expect(bodies[1]).toContain("Call them with call_tool. What they take:");
    expect(bodies[2]).toMatch(/call_tool.*bank\/archive.*call_tool|call_tool.*bank\/archive/);
  });

  it("is judged by its own name: policy, hooks, approvals and events never see the one tool", async () => {
    done.length = 0;
    await using server = await fakeOpenai([find, archived, "Done."]);
    const seen: string[] = [];
    const clerk = agent({
      name: "a",
      model: model(server),
      tools,
      policy: ({ tool: name }) => ({
        verdict: name === "bank/archive" ? "deny" : "allow",
        rule: "mine",
        reason: `${seen.push(name)}`,
      }),
      hooks: [
        {
          beforeToolCall: ({ tool: name }) => void seen.push(name),
          afterModel: ({ message }) => void seen.push(...callsOf(message).map(({ name }) => name)),
        },
      ],
    });
    const told: string[] = [];
    for await (const event of clerk.stream("Go")) {
      if ("name" in event && typeof event.name === "string") told.push(event.name);
      if (event.type === "run-end") expect(JSON.stringify(event)).not.toContain("call_tool");
    }
    expect(done).toEqual([]);
    expect(new Set([...seen, ...told])).toEqual(new Set(["find_tools", "bank/archive"]));
  });

  it.each([
    ["beside the name", through({ tool: "bank/archive", id: "8" }), "ok"],
    ["as text", through({ tool: "bank/archive", arguments: '{"id":"8"}' }), "ok"],
    ["under the name that providers take", through({ tool: "bank_archive", arguments: { id: "8" } }), "ok"],
    ["wrong", through({ tool: "bank/archive", arguments: { id: 8, more: 1 } }), "invalid"],
    ["of no tool", through({ tool: "bank/burn", arguments: {} }), "denied"],
    ["of a name that nobody may have", through({ tool: "two words\n", arguments: {} }), "denied"],
    ["of nothing", through({}), "denied"],
    [
      "through the one tool in a namespace",
      {
        calls: [{ name: "functions.call_tool", arguments: { tool: "bank/archive", arguments: { id: "8" } } }],
      },
      "ok",
    ],
    ["by its own name", { calls: [{ name: "bank_archive", arguments: { id: "8" } }] }, "ok"],
  ] as const)("runs with what the model means: arguments %s", async (_how, step, status) => {
    done.length = 0;
    await using server = await fakeOpenai([find, step, "Done."]);
    const { outcome, calls } = await agent({ name: "a", model: model(server), tools }).run("Go");
    expect(outcome.type).toBe("answered");
    expect(calls.at(-1)?.status).toBe(status);
    expect(done).toEqual(status === "ok" ? ["bank/archive 8"] : []);
  });

  it("never runs with arguments that were cut", async () => {
    done.length = 0;
    const text = '{"tool":"bank/archive","arguments":{"id":"7';
    await using server = await fakeOpenai([
      find,
      { calls: [{ id: "c1", name: "call_tool", arguments: text }] },
      "Done.",
    ]);
    const { calls } = await agent({ name: "a", model: model(server), tools }).run("Go");
    expect(calls.at(-1)).toMatchObject({ name: "bank/archive", status: "invalid" });
    expect(done).toEqual([]);
  });

  it("can be called after a compaction: the turn that found it stays", async () => {
    done.length = 0;
    const read = tool({
      name: "read",
      description: "Reads",
      inputSchema: z.object({ n: z.number() }),
      effect: "none",
      execute: ({ n }) => `${n} ${"words ".repeat(100)}`,
    });
    const reads = Array.from({ length: 5 }, (_, n) => ({ calls: [{ name: "read", arguments: { n } }] }));
    await using server = await fakeOpenai([reads[0] ?? "", look, ...reads.slice(1), archived, "Done."]);
    const compactions: number[] = [];
    const { outcome } = await agent({
      name: "a",
      model: model(server),
      tools: [tools, read],
      compaction: { atTokens: 700, keepTurns: 1 },
      on: { "compaction-end": ({ droppedTurns }) => compactions.push(droppedTurns) },
    }).run("Go");
    expect(outcome.type).toBe("answered");
    expect(done).toEqual(["bank/archive 7"]);
    expect(compactions.length).toBeGreaterThan(0);
    for (const { body } of server.requests.slice(2))
      expect(JSON.stringify(body["messages"])).toContain("Call them with call_tool");
    expect(new Set(server.requests.map(({ body }) => JSON.stringify(body["tools"]))).size).toBe(1);
  });

  it("goes on in the next run of a session that has all messages", async () => {
    done.length = 0;
    await using server = await fakeOpenai([
      find,
      archived,
      "One.",
      through({ tool: "bank/archive", arguments: { id: "9" } }, "c2"),
      "Two.",
    ]);
    const store = inMemorySessions();
    const clerk = agent({ name: "a", model: model(server), tools });
    for (const question of ["1?", "2?"])
      await clerk.run(question, { session: session(store, "s", { history: "all" }) });
    expect(done).toEqual(["bank/archive 7", "bank/archive 9"]);
    const messages = server.requests.map(({ body }) => body["messages"] as readonly unknown[]);
    for (const [index, list] of messages.slice(1).entries())
      expect(list.slice(0, messages[index]?.length)).toEqual(messages[index]);
  });

  it("is told of behind the others where the author's model wants it so, and its caller has a name of its own", async () => {
    await using server = await fakeOpenai([look, "Done."]);
    await agent({ name: "a", model: model(server, { fixedTools: false }), tools }).run("Go");
    const names = (at: number): unknown => {
      const told = server.requests[at]?.body["tools"] as readonly { function: { name: string } }[];
      return told.map((each) => each.function.name);
    };
    expect(names(0)).toEqual(["find_tools"]);
    expect(names(1)).toEqual(["find_tools", "bank_archive", "shop_archive", "burn"]);
    for (const name of ["call_tool", "call-tool"]) {
      await using other = await fakeOpenai(["Done."]);
      const own = { ...archive(name), effect: "none" as const };
      await agent({ name: "a", model: model(other), tools: [tools, own] }).run("Go");
      expect(JSON.stringify(other.requests[0]?.body["tools"])).toContain('"call_found_tool"');
    }
  });
});
