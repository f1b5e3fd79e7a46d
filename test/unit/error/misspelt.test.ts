import { describe, expect, it } from "vitest";
import * as root from "../../../src/index.ts";
import * as doors from "../../../src/doors.ts";
import { connectMcp, mcpTools } from "../../../src/adapters/mcp/tools.ts";
import { parallel, repeat } from "../../../src/compose.ts";
import { withRetry } from "../../../src/models.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";
import { retriever, toolCatalogue } from "../../../src/tools.ts";

/** The public functions as JavaScript calls them, with whatever it likes. */
type Loose = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- mistakes that types would refuse
const writ = {
  ...root,
  ...doors,
  connectMcp,
  mcpTools,
  parallel,
  repeat,
  withRetry,
  retriever,
  toolCatalogue,
  scripted,
  fakeTool,
} as unknown as Loose;
const call = async (name: string, ...given: readonly unknown[]): Promise<unknown> => writ[name]?.(...given);

const model = scripted(["Never."]);
const look = fakeTool("look", 1);
const store = root.inMemorySessions();
const base = { name: "a", model };
const one = root.agent(base);
const about = { name: "x", description: "d" };
const executes = { ...about, inputSchema: { type: "object" }, execute: () => 1 };

/** A call, and what its error must say: where, what, and what was meant. */
const misspelt: readonly (readonly [name: string, given: readonly unknown[], says: RegExp])[] = [
  [
    "agent",
    [{ ...base, policy: [] }],
    /Agent "a": `policy` must be a function, as `policy\(\)` .*make one, got a list\./,
  ],
  ["agent", [{ ...base, policy: { rules: [] } }], /`policyFromJson\(\)`.*, got an object\./],
  ["agent", [{ ...base, tols: [] }], /Agent "a": .*"tols"; did you mean "tools"\?/],
  [
    "agent",
    [{ ...base, settings: { temprature: 1 } }],
    /settings of agent "a": .*did you mean "temperature"\?/,
  ],
  ["agent", [{ ...base, budget: { turnz: 3 } }], /budget of "a" has turnz = 3, .*did you mean "turns"\?/],
  ["agent", [{ ...base, budget: { maxTurns: 3 } }], /budget of "a" has maxTurns = 3, .*write `turns`/],
  ["agent", [{ ...base, routing: { treshold: 1 } }], /Agent "a": `routing` .*did you mean "threshold"\?/],
  ["agent", [{ ...base, retry: { attempt: 1 } }], /Agent "a": .*`retry\.attempt`.*did you mean "attempts"\?/],
  [
    "agent",
    [{ ...base, maxRetries: 3 }],
    /Agent "a": write `retry: \{ attempts \}` in place of `maxRetries`/,
  ],
  ["agent", [{ ...base, timeout: { chunkM: 1 } }], /Agent "a": `timeout` .*did you mean "chunkMs"\?/],
  [
    "agent",
    [{ ...base, timeout: 5000 }],
    /Agent "a": `timeout` must be an object like .* `budget: \{ durationMs \}`/,
  ],
  [
    "agent",
    [{ ...base, on: { "tool-ent": () => 1 } }],
    /Agent "a": `on` .*"tool-ent"; did you mean "tool-end"\?/,
  ],
  ["agent", [{ ...base, hooks: [{ name: "h", beforeTurns: () => 1 }] }], /did you mean "beforeTurn"\?/],
  ["agent", [{ ...base, model: Promise.resolve("x") }], /model of "a" is a promise/],
  ["agent", [{ ...base, tools: Promise.resolve([]) }], /`tools` must be .*, got a promise \(`await` it\)/],
  [
    "agent",
    [{ ...base, tools: [Promise.resolve([])] }],
    /`tools\[0\]` must be .*, got a promise \(`await` it\)/,
  ],
  [
    "agent",
    [{ ...base, output: { city: "string" } }],
    /The output schema of "a" cannot be used: it has no keyword/,
  ],
  ["tool", [], /tool\(\): it must be an object like/],
  ["tool", [{ ...executes, efect: "write" }], /Tool "x": .*"efect"; did you mean "effect"\?/],
  ["tool", [{ ...executes, timeout: 5 }], /Tool "x": write `timeoutMs` in place of `timeout`/],
  ["fakeTool", ["x", 1, { efect: "read" }], /Tool "x": .*did you mean "effect"\?/],
  ["skill", [], /skill\(\): it must be an object like/],
  ["skill", [{ ...about, tools: [], instruction: "x" }], /Skill "x": .*did you mean "instructions"\?/],
  ["skill", [{ ...about, tols: [look] }], /Skill "x": .*did you mean "tools"\?/],
  ["policy", [{ name: "p", ruls: [] }], /policy "p" .*"ruls"; did you mean "rules"\?/],
  ["limit", ["look", { perRn: 2 }], /limit\(\): .*did you mean "perRun"\?/],
  ["session", [], /session\(\): .*a store of sessions, like inMemorySessions\(\)/],
  ["session", [store], /session\(\): .*id/],
  ["session", [store, "s", { histori: "all" }], /Session "s": .*did you mean "history"\?/],
  ["session", [store, "s", { history: "al" }], /Session "s": `history` must be/],
  ["knowledge", [], /knowledge\(\): it must be an object like/],
  ["knowledge", [{ ...about, lod: () => "" }], /Knowledge "x": .*did you mean "load"\?/],
  ["retriever", [{ ...about, retreive: () => [] }], /Retriever "x": .*did you mean "retrieve"\?/],
  ["memoryBank", [{ maxLine: 3 }], /memory bank: .*did you mean "maxLines"\?/],
  ["toolCatalogue", [{ tols: [look] }], /toolCatalogue\(\): .*did you mean "tools"\?/],
  ["withRetry", [model, { attempt: 2 }], /withRetry.*did you mean "attempts"\?/],
  ["chat", [{ model, messages: "x", tols: [] }], /chat\(\): .*did you mean "tools"\?/],
  [
    "chat",
    [{ model, messages: "x", settings: { temprature: 1 } }],
    /chat\(\): .*did you mean "temperature"\?/,
  ],
  ["chat", [{ model, messages: "x", temperature: 1 }], /chat\(\): .*`settings: \{ temperature \}`/],
  ["execute", [{ calls: [], tools: [], polcy: 1 }], /execute\(\): .*did you mean "policy"\?/],
  ["llmStep", [{ model, prompt: "x", catalog: [], contxt: "" }], /llmStep\(\): .*did you mean "context"\?/],
  [
    "safeLoop",
    [{ model, question: "x", tools: {}, maxStep: 1, budget: 3 }],
    /safeLoop\(\): .*did you mean "maxSteps"\?/,
  ],
  [
    "decide",
    [{ model, question: "x", options: ["a", "b"], contxt: "" }],
    /decide\(\): .*did you mean "context"\?/,
  ],
  ["callTool", [look, {}, { timeoutMS: 1, signl: 1 }], /callTool\(\): .*did you mean/],
  ["repeat", [one, { util: () => true }], /repeat\(\): .*did you mean "until"\?/],
  ["repeat", [one], /repeat\(\): it must be an object, got nothing/],
  ["parallel", [{ one }, { agregate: () => 1 }], /parallel\(\): .*did you mean "aggregate"\?/],
  [
    "mcpTools",
    [{ command: "npx" }],
    /mcpTools\(\): .*a connected client of an MCP server; connectMcp\(\) makes one/,
  ],
  [
    "mcpTools",
    [{ listTools: () => 1, callTool: () => 1 }, { pin: "pins.json" }],
    /mcpTools\(\): .*"pin"; did you mean "pins"\?/,
  ],
  [
    "connectMcp",
    [{ name: "a", command: "x", pin: "pins.json" }],
    /connectMcp\(\): .*"pin"; did you mean "pins"\?/,
  ],
  ["scripted", [["x"], { whenDon: "throw" }], /scripted\(\): .*did you mean "whenDone"\?/],
];

describe("a misspelt option", () => {
  it.each(misspelt)("of %s(%j) is told what was meant", async (name, given, says) => {
    const error: unknown = await call(name, ...given).then(
      () => "no error",
      (thrown: unknown) => thrown,
    );
    expect(root.isWritError(error), String(error)).toBe(true);
    const { message, hint } = error as root.WritError;
    expect(`${message} ${hint}`).toMatch(says);
    expect(`${message} ${hint}`).not.toMatch(/undefined|\[object|\?\./);
    expect(model.requests).toHaveLength(0);
  });
});
