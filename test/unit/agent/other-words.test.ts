import { expect, it } from "vitest";
import { z } from "zod";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { connectMcp } from "../../../src/adapters/mcp/tools.ts";
import { durableRuns } from "../../../src/durable.ts";
import { pipe } from "../../../src/compose.ts";
import { settingShapes } from "../../../src/model/setting-shapes.ts";
import { withRetry } from "../../../src/models.ts";
import { agent, ask, guarded, skill, tool } from "../../../src/index.ts";
import { telemetry } from "../../../src/otel.ts";
import { sqliteRuns } from "../../../src/sqlite.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

/** What each option of another library is called here: of an agent, of a run, of a tool. */
const agents: Readonly<Record<string, string>> = {
  id: "name",
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
  expect(() => tool({ ...nameless, id: "t" } as never)).toThrow("write `name` in place of `id`.");
  expect(() => tool(nameless as never)).toThrow('A tool has the name "undefined"');
  expect(() => agent({ id: "a", model: scripted([]) } as never)).toThrow("write `name` in place of `id`.");
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
  ["durableRuns'", () => durableRuns({ checkpointer: store, agents: [made] } as never), "store"],
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

it("a setting among the options of a model", () => {
  const make = () => openaiCompatible("m", { baseUrl: "http://localhost", temperature: 1 } as never);
  expect(make).toThrow(
    expect.objectContaining({
      hint: expect.stringContaining("write `settings: { temperature }` in its place. Options:"),
    }),
  );
});
