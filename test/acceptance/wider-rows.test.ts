import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { chat, userMessage } from "../../src/doors.ts";
import {
  agent,
  inMemorySessions,
  memoryJournal,
  type Message,
  secret,
  session,
  tool,
} from "../../src/index.ts";
import { fakeOpenai, fakeTool, scripted } from "../../src/testing.ts";
import { calling, ofType, resultsIn, watch } from "./watching.ts";

describe("a tool of a function", () => {
  /** Knows nothing of agents. */
  function greet({
    name,
    times = 1,
  }: {
    readonly name: string;
    readonly times?: number | undefined;
  }): string {
    return Array.from({ length: times }, () => `Hello ${name}`).join(", ");
  }
  const inputSchema = z.object({ name: z.string(), times: z.number().optional() });

  it("is the function as it is, and what it can do without is not required [C35]", async () => {
    const greeting = tool({ name: "greet", description: "Greets", inputSchema, execute: greet });
    const model = scripted([
      calling(["greet", { name: "Ada" }], ["greet", { name: "Ben", times: 2 }]),
      "Done.",
    ]);
    const { result } = await watch(agent({ name: "a", model, tools: [greeting] }).stream("Greet them"));
    expect(result.transcript.messages.flatMap((one) => (one.role === "tool" ? [one.value] : []))).toEqual([
      "Hello Ada",
      "Hello Ben, Hello Ben",
    ]);
    expect(model.requests[0]?.tools[0]?.inputSchema).toMatchObject({ required: ["name"] });
  });

  it("is told of its call and of the run around it where it asks for them [C35]", async () => {
    const seen: unknown[] = [];
    const curious = tool({
      name: "curious",
      description: "",
      inputSchema,
      execute(args, { call, callId, label, run }) {
        seen.push(args, call.name, call.arguments, call.id === callId, label.integrity, run.agent);
        return 1;
      },
    });
    const stranger = fakeTool("read", "the words of a stranger");
    const model = scripted([calling("read"), calling(["curious", { name: "Ada" }]), "Done."]);
    await agent({ name: "a", model, tools: [stranger, curious] }).run("Look");
    expect(seen).toEqual([{ name: "Ada" }, "curious", { name: "Ada" }, true, "untrusted", "a"]);
  });
});

describe("what users of an older client missed", () => {
  const look = fakeTool("look", "seen");

  it("roles, and conversations of more than one turn [P-client-gaps]", async () => {
    const model = scripted(["Hello Kim.", "You are Kim."]);
    const first: Message[] = [{ role: "system", text: "Be brief." }, userMessage("I am Kim.")];
    const { message } = await chat({ model, messages: first });
    const second = await chat({ model, messages: [...first, message, userMessage("Who am I?")] });
    expect(second.text).toBe("You are Kim.");
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
    const store = inMemorySessions();
    const talker = agent({ name: "talker", model: scripted(["Hello Kim.", "You are Kim."]) });
    await talker.run("I am Kim.", { session: session(store, "kim") });
    expect((await talker.run("Who am I?", { session: session(store, "kim") })).text).toBe("You are Kim.");
  });

  it("schemas of tools on the wire, and events of their calls [P-client-gaps]", async () => {
    await using server = await fakeOpenai([calling(["greet", { name: "Ada" }]), "Done."]);
    const model = openaiCompatible("m", { baseUrl: `${server.url}/v1`, fetch: server.fetch });
    const greet = tool({
      name: "greet",
      description: "Greets",
      inputSchema: z.object({ name: z.string().describe("Whom") }),
      execute: ({ name }) => `Hello ${name}`,
    });
    const { events } = await watch(agent({ name: "a", model, tools: [greet] }).stream("Greet Ada"));
    expect(JSON.stringify(server.requests[0]?.body)).toContain('"description":"Whom"');
    const started = { name: "greet", arguments: { name: "Ada" } };
    expect(ofType(events, "tool-start")).toMatchObject([started]);
    expect(ofType(events, "tool-end")).toMatchObject([
      { ...started, result: { status: "ok", value: "Hello Ada" } },
    ]);
  });

  it("errors with a code each, asking again, and an overloaded server that is waited for as it asks [P-client-gaps]", async () => {
    await using server = await fakeOpenai([{ status: 429, retryAfter: 0.01 }, "Hello.", { status: 401 }]);
    const model = openaiCompatible("m", { baseUrl: `${server.url}/v1`, fetch: server.fetch });
    const { events, result } = await watch(agent({ name: "a", model }).stream("Hi"));
    expect(result.text).toBe("Hello.");
    expect(ofType(events, "retry-start")).toMatchObject([{ attempt: 1 }]);
    await expect(agent({ name: "a", model })("Hi")).rejects.toMatchObject({
      code: "provider-refused-key",
      retryable: false,
    });
  });

  it("cancelling, and a bound on time, in the middle of a request and of a call [P-client-gaps]", async () => {
    await using slow = await fakeOpenai([{ text: "Late.", delayMs: 5_000 }]);
    const model = openaiCompatible("m", { baseUrl: `${slow.url}/v1` });
    const patient = agent({ name: "a", model });
    const cancelled = await patient.run("Hi", { signal: AbortSignal.timeout(20) });
    expect(cancelled.outcome.type).toBe("cancelled");
    const late = await patient.with({ budget: { durationMs: 20 } }).run("Hi");
    expect(late.outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
    const deaf = tool({
      name: "deaf",
      description: "",
      inputSchema: z.object({}),
      timeoutMs: 20,
      execute: () => new Promise(() => undefined),
    });
    const told = await agent({ name: "b", model: scripted([calling("deaf"), "Done."]), tools: [deaf] }).run(
      "Hi",
    );
    expect(resultsIn(told.transcript)).toMatchObject([{ status: "timeout" }]);
  });

  it("counts of tokens, a record of each run, and where a call came from [P-client-gaps]", async () => {
    const usage = { inputTokens: 7, outputTokens: 3 };
    const journal = memoryJournal();
    const model = scripted([
      { ...calling("look"), usage },
      { text: "Done.", usage },
    ]);
    const { events, result } = await watch(
      agent({ name: "a", model, tools: [look] }).stream("Look", { journal }),
    );
    expect(result.usage).toMatchObject({ inputTokens: 14, outputTokens: 6 });
    expect(ofType(events, "usage-add").map(({ total }) => total.inputTokens)).toEqual([7, 14]);
    expect(journal.records.length).toBeGreaterThan(2);
    const [ended] = ofType(events, "tool-end");
    expect(ended).toMatchObject({ agent: "a", runId: result.runId, turn: 1, callId: expect.any(String) });
  });

  it("lists of who may call what, data that stays inside, and secrets that nobody sees [P-client-gaps]", async () => {
    const diary = tool({
      name: "diary",
      description: "",
      inputSchema: z.object({}),
      secrecy: "private",
      execute: () => "I was ill",
    });
    const send = tool({
      name: "send",
      description: "",
      inputSchema: z.object({ to: z.email() }),
      effect: "irreversible",
      needs: [secret("WRIT_TEST_KEY")],
      execute: (_, context) => `sent with ${String(context.secret("WRIT_TEST_KEY"))}`,
    });
    vi.stubEnv("WRIT_TEST_KEY", "hunter2-hunter2");
    onTestFinished(() => void vi.unstubAllEnvs());
    const sending = calling(["send", { to: "ada@example.com" }]);
    const model = scripted([calling("erase"), sending, calling("diary"), sending, "Done."]);
    const clerk = agent({ name: "a", model, tools: [diary, send], grants: [secret("WRIT_TEST_KEY")] });
    const { events, result } = await watch(clerk.stream("Write to ada@example.com"));
    expect(resultsIn(result.transcript)).toMatchObject([
      { name: "erase", status: "denied" },
      { name: "send", status: "ok", text: expect.stringContaining("[secret WRIT_TEST_KEY]") },
      { name: "diary", status: "ok" },
      { name: "send", status: "denied" },
    ]);
    expect(result.label.secrecy).toBe("private");
    expect(JSON.stringify([events, result.transcript])).not.toContain("hunter2");
  });
});
