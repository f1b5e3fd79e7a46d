import { expect, it } from "vitest";
import { z } from "zod";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { connectMcp } from "../../../src/adapters/mcp/tools.ts";
import { durableRuns } from "../../../src/durable.ts";
import { loop, readTranscript, userMessage } from "../../../src/doors.ts";
import { pipe } from "../../../src/compose.ts";
import { settingShapes } from "../../../src/model/setting-shapes.ts";
import { withRetry } from "../../../src/models.ts";
import { agent, ask, guarded, inMemorySessions, session, skill, tool } from "../../../src/index.ts";
import { serve } from "../../../src/server.ts";
import { telemetry } from "../../../src/otel.ts";
import { sqliteRuns } from "../../../src/sqlite.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

/** What each option of another library is called here: of an agent, of a run, of a tool. */
const agents: Readonly<Record<string, string>> = {
  handoffDescription: "description",
  max_turns: "budget: { turns }",
  recursionLimit: "budget: { turns }",
  maxBudgetUsd: "budget: { costUsd }",
  toolCallConcurrency: "concurrency",
  modelSettings: "settings",
  experimental_repairToolCall: "recover: { invalidArguments }",
  experimental_output: "output",
  inputProcessors: "hooks",
  experimental_telemetry: "onEvent: telemetry()",
  mcpServers: "tools: (await connectMcp({ name, url })).tools",
  toolsContext: "tools: toolsOf(user)",
  requestContext: "tools: toolsOf(user)",
  requireApproval: 'policy: guarded({ extraRules: [ask("name_of_tool")] })',
  handoffs: "tools: [subagents(agents)]",
  maxToolCalls: "budget: { toolCalls }",
};
const runs: Readonly<Record<string, string>> = {
  thread_id: "write `session: session(store, id)` in place of `thread_id`.",
  memory: "write `session: session(store, id)` in place of `memory`.",
  configurable: "write `session: session(store, id)` in place of `configurable`.",
  messages: "write `agent.run(messages)` in place of `messages`.",
  resourceId: "write `session: session(store, id)` in place of `resourceId`.",
  id: "write `runId` in place of `id`.",
  maxRetries: "write `retry: { attempts }` in place of `maxRetries`.",
  handoffs: "`handoffs` belongs to the agent: write `agent.with({ tools: [subagents(agents)] }).run(input)`.",
  stream: "write `agent.stream(input)` in place of `stream`.",
  experimental_context:
    "`experimental_context` belongs to the agent: write `agent.with({ tools: toolsOf(user) }).run(input)`.",
  recursionLimit:
    "`recursionLimit` belongs to the agent: write `agent.with({ budget: { turns } }).run(input)`.",
  requireToolApproval:
    '`requireToolApproval` belongs to the agent: write `agent.with({ policy: guarded({ extraRules: [ask("name_of_tool")] }) }).run(input)`.',
};
const tools: Readonly<Record<string, string>> = {
  requireApproval: 'agent({ policy: guarded({ extraRules: [ask("name_of_tool")] }) })',
  invoke: "execute",
  schema: "inputSchema",
};

const named = (name: string) => ({ name, description: "" });
const scriptedAgent = { name: "a", model: scripted(["ok"]) };
const written = { name: "t", description: "", inputSchema: z.object({}), execute: () => 1 };

it.each(Object.entries(agents))("an agent's %s", (field, here) => {
  expect(() => agent({ ...scriptedAgent, [field]: "x" })).toThrow(
    `write \`${here}\` in place of \`${field}\`.`,
  );
});

it.each(Object.entries(runs))("a run's %s", async (field, says) => {
  await expect(agent(scriptedAgent).run("x", { [field]: "x" })).rejects.toThrow(says);
});

it.each(Object.entries(tools))("a tool's %s", (field, here) => {
  const { inputSchema: _schema, execute: _execute, ...bare } = written;
  expect(() => tool({ ...bare, [field]: "x" } as never)).toThrow(
    `write \`${here}\` in place of \`${field}\`.`,
  );
});

it("a tool's or an agent's id, where it has no name", () => {
  const { name: _name, ...nameless } = written;
  expect(() => tool({ ...nameless, id: "t" } as never)).toThrow("A tool: write `name` in place of `id`.");
  expect(() => tool(nameless as never)).toThrow("A tool: `name` is missing.");
  expect(() => agent({ id: "a", model: scripted([]) } as never)).toThrow(
    "An agent: write `name` in place of `id`.",
  );
  expect(() => agent({ model: scripted([]) } as never)).toThrow("An agent: `name` is missing.");
});

it("the policy that these errors name asks about the tool, and leaves the others as they are", async () => {
  const [pay, mail] = [fakeTool("pay", "paid"), fakeTool("mail", "sent")];
  const model = scripted([{ calls: [{ name: "pay" }, { name: "mail" }] }, "Done."]);
  const policy = guarded({ extraRules: [ask("pay")] });
  const { calls } = await agent({ name: "a", model, tools: [pay, mail], policy }).run("x", {
    approve: () => false,
  });
  expect(calls.map(({ name, status }) => `${name} ${status}`)).toEqual(["pay denied", "mail ok"]);
});

const made = agent(scriptedAgent);
const listening = (option: string): string =>
  `npx writ serve --${option}\` on the command line, or \`createServer(getRequestListener(server.fetch)).listen({ ${option} })`;
const store = sqliteRuns(":memory:");
it.each([
  ["a skill's", () => skill({ ...named("s"), tools: [], systemPrompt: "x" } as never), "instructions"],
  ["a skill's", () => skill({ ...named("s"), "allowed-tools": [] } as never), "tools"],
  ["a skill's", () => skill({ ...named("s"), tools: [], outputSchema: z.string() } as never), "output"],
  ["a plain skill's", () => skill({ ...named("s"), handler: () => 1 } as never), "execute"],
  ["asTool's", () => made.asTool({ toolName: "x" } as never), "name"],
  ["asTool's", () => made.asTool({ tool_description: "x" } as never), "description"],
  ["asTool's", () => made.asTool({ activeTools: [] } as never), "allow"],
  ["telemetry's", () => telemetry({ recordInputs: true } as never), "content"],
  [
    "a start's",
    () => durableRuns({ store, agents: [made] }).start(made, "x", { threadId: "t" } as never),
    "session",
  ],
  [
    "a start's",
    () => durableRuns({ store, agents: [made] }).start(made, "x", { workflowID: "t" } as never),
    "id",
  ],
  ["a server's", () => connectMcp({ name: "s", baseUrl: "http://localhost" } as never), "url"],
  ["withRetry's", () => withRetry(scripted([]), { maxRetries: 2 } as never), "attempts"],
  ["pipe's", () => pipe(made, made).with({ timeout: 5 } as never), "budget: { durationMs }"],
  ["serve()'s", () => serve({ store, agents: [made], basePath: "/agents" } as never), "path"],
  ["serve()'s", () => serve({ store, agents: [made], cors: "*" } as never), "origins"],
  ["serve()'s", () => serve({ store, agents: [made], concurrency: 3 } as never), "work: { concurrency }"],
  ["a session's", () => session(inMemorySessions(), "s", { lastMessages: 10 } as never), "lastRuns"],
  ["durableRuns'", () => durableRuns({ checkpointer: store, agents: [made] } as never), "store"],
  [
    "durableRuns'",
    () => durableRuns({ store, agents: [made], concurrency: 3 } as never),
    "durableRuns(options).work({ concurrency })",
  ],
  ["serve()'s", () => serve({ store, agents: [made], port: 3000 } as never), listening("port")],
  ["serve()'s", () => serve({ store, agents: [made], hostname: "0.0.0.0" } as never), listening("host")],
])("%s other name of %#", async (_whose, make, here) => {
  await expect((async () => make())()).rejects.toThrow(`write \`${here}\` in its place`);
});

it.each(["threadId", "abortSignal", "approve"])("an agent's %s, which is a run's", (field) => {
  expect(() => agent({ ...scriptedAgent, [field]: "x" })).toThrow(
    "is given to each run: write `run(input, { ",
  );
});

it("each setting of a model that stands outside of `settings`", () => {
  for (const setting of Object.keys(settingShapes))
    expect(() => agent({ ...scriptedAgent, [setting]: 1 })).toThrow(`write \`settings: { ${setting} }\``);
});

it("an approval in asTool() and skill() is named where it belongs", () => {
  const says = 'agent({ policy: guarded({ extraRules: [ask("name_of_tool")] }) })';
  expect(() => made.asTool({ needsApproval: true } as never)).toThrow(says);
  expect(() => skill({ ...named("s"), tools: [], requireApproval: true } as never)).toThrow(says);
});

it.each([
  ["toModelOutput", "execute: (args) => whatTheModelReads"],
  ["strict", "providerOptions: { openai: { strict } }"],
  ["annotations", "effect"],
  ["suspendSchema", "execute: (args, { waitFor }) => result"],
  ["onInputAvailable", "agent({ onEvent })"],
])("a field %s of a tool", (field, write) => {
  const make = () =>
    tool({ name: "t", description: "", inputSchema: { type: "object" }, execute: () => 1, [field]: true });
  expect(make).toThrow(`write \`${write}\` in place of \`${field}\``);
});

it("a setting among the options of a model", () => {
  const make = () => openaiCompatible("m", { baseUrl: "http://localhost", temperature: 1 } as never);
  expect(make).toThrow(
    expect.objectContaining({
      hint: expect.stringContaining("write `settings: { temperature }` in its place. Options:"),
    }),
  );
});

it.each([
  [
    "an agent's title",
    () => agent({ ...scriptedAgent, title: "A" } as never),
    "leave out `title`: `name` is there.",
  ],
  [
    "an agent's temperature",
    () => agent({ ...scriptedAgent, settings: { temperature: 1 }, temperature: 1 } as never),
    "leave out `temperature`: `settings: { temperature }` is there.",
  ],
  [
    "an agent's temperature beside other settings",
    () => agent({ ...scriptedAgent, settings: { topP: 1 }, temperature: 1 } as never),
    "write `settings: { temperature }` in place of `temperature`.",
  ],
  [
    "an agent's maxSteps",
    () => agent({ ...scriptedAgent, budget: { turns: 1 }, maxSteps: 1 } as never),
    "leave out `maxSteps`: `budget: { turns }` is there.",
  ],
  ["a tool's title", () => tool({ ...written, title: "T" } as never), "leave it out: `name` is there."],
  [
    "a tool's handler",
    () => tool({ ...written, handler: () => 2 } as never),
    "leave it out: `execute` is there.",
  ],
  ["a run's id", () => made.run("x", { runId: "1", id: "2" } as never), "leave out `id`: `runId` is there."],
])("%s is not told to write what is there", async (_whose, make, says) => {
  await expect((async () => make())()).rejects.toThrow(says);
});

const transcript = readTranscript({ messages: [userMessage("x")] });
it.each<[given: object, options: object, says: string]>([
  [
    { abortSignal: 1 },
    {},
    "`abortSignal` belongs to one run: write `loop({ model, transcript }, { signal })`.",
  ],
  [{ runId: "1" }, {}, "`runId` belongs to one run: write `loop({ model, transcript }, { runId })`."],
  [{ system: "x" }, {}, "`system` is for agents: write a system message at the beginning of `transcript`."],
  [{ id: "x", name: undefined }, {}, "write `name` in place of `id`."],
  [{ threadId: "x" }, {}, "`threadId` is for agents: go on from the `transcript` of the result."],
  [
    {},
    { maxSteps: 3 },
    "`maxSteps` belongs to the definition: write `loop({ model, transcript, budget: { turns } })`.",
  ],
  [{}, { instructions: "x" }, "`instructions` is for agents: write a system message"],
  [{}, { skill: "x" }, "`skill` is for agents: leave it out."],
  [{}, { session: session(inMemorySessions(), "s") }, "`session` is for agents: go on from"],
])("a loop's %j %j", async (given, options, says) => {
  const run = loop({ ...scriptedAgent, transcript, ...given }, options);
  await expect(run.next()).rejects.toThrow(`loop(): ${says}`);
});
