import { expect, it } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../../src/index.ts";
import { chat } from "../../../src/doors.ts";
import { pipe, subagents } from "../../../src/compose.ts";
import { evaluate } from "../../../src/eval.ts";
import { fileTools, shellTool } from "../../../src/workspace.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

// Plain JavaScript: TypeScript refuses most of these.
const define = (fields: object) => () => agent({ name: "a", model: scripted(["ok"]), ...fields });
const inRun =
  (options: object, fields: object = {}) =>
  () =>
    define(fields)()("x", options);
const makes = (fields: object) => () =>
  tool({ name: "t", description: "d", inputSchema: z.object({}), execute: () => 1, ...fields });
const anything = z.object({});
const tools = "`tools` must be a list of tools, collections of tools and names of tools";

const definitions: readonly (readonly [string, () => unknown, string])[] = [
  [
    "nothing",
    () => (agent as () => unknown)(),
    'agent(): it takes an object. Write agent({ name: "helper", model: "ollama/qwen2.5:7b" }).',
  ],
  ["system", define({ system: "x" }), 'Agent "a": write `instructions` in place of `system`.'],
  ["maxSteps", define({ maxSteps: 3 }), 'Agent "a": write `budget: { turns }` in place of `maxSteps`.'],
  [
    "outputSchema",
    define({ outputSchema: anything }),
    'Agent "a": write `output` in place of `outputSchema`.',
  ],
  [
    "temperature",
    define({ temperature: 1 }),
    'Agent "a": write `settings: { temperature }` in place of `temperature`.',
  ],
  [
    "maxTokens",
    define({ maxTokens: 1 }),
    'Agent "a": write `settings: { maxOutputTokens }` in place of `maxTokens`.',
  ],
  [
    "needsApproval of a tool",
    makes({ needsApproval: true }),
    'Tool "t": write `agent({ policy: guarded({ extraRules: [ask("name_of_tool")] }) })` in place of `needsApproval`.',
  ],
  [
    "prepareStep",
    define({ prepareStep: () => ({}) }),
    'Agent "a": write `hooks: [{ beforeModel }]` in place of `prepareStep`.',
  ],
  [
    "onStepFinish in a run",
    inRun({ onStepFinish: () => undefined }),
    'The run of "a": write `onEvent` in place of `onStepFinish`.',
  ],
  [
    "activeTools",
    define({ activeTools: ["t"] }),
    'Agent "a": write `run(input, { tools })` in place of `activeTools`.',
  ],
  [
    "checkpointer",
    define({ checkpointer: {} }),
    'Agent "a": write `durableRuns({ store, agents })` in place of `checkpointer`.',
  ],
  [
    "approve",
    define({ approve: () => true }),
    'Agent "a": `approve` is given to each run: write `run(input, { approve })`.',
  ],
  [
    "instructions that are a function",
    define({ instructions: () => "x" }),
    'Agent "a": `instructions` must be a string, got a function; words for one run go with it: `run(input, { instructions })`.',
  ],
  [
    "a plain object as a tool",
    define({ tools: [{ name: "t", description: "", execute: () => 1 }] }),
    `Agent "a": ${tools}: \`tools[0]\` is a plain object: write \`tool({ ... })\` around it.`,
  ],
  [
    "an agent as a tool",
    define({ tools: [agent({ name: "b", model: () => "" })] }),
    `Agent "a": ${tools}: \`tools[0]\` is an agent: write \`.asTool()\` behind it.`,
  ],
  [
    "a tool of the AI SDK",
    define({ tools: [{ description: "", inputSchema: anything, execute: () => 1 }] }),
    `Agent "a": ${tools}: \`tools[0]\` has no name: write \`tool({ name, ... })\` around it, or \`...fromAiSdk({ name: it })\`.`,
  ],
  [
    "tools of the AI SDK",
    define({ tools: { look: { description: "", inputSchema: anything, execute: () => 1 } } }),
    `Agent "a": \`tools\` is an object of tools: write \`fromAiSdk(tools)\`, or a list.`,
  ],
  [
    "tools by their names",
    define({ tools: { look: fakeTool("look", 1) } }),
    `Agent "a": \`tools\` is an object of tools: write \`Object.values(tools)\`, or a list.`,
  ],
  [
    "a tool of LangChain",
    define({
      tools: [
        new (class {
          name = "n";
          schema = anything;
          invoke(): void {}
        })(),
      ],
    }),
    `Agent "a": ${tools}: \`tools[0]\` is a tool of LangChain: write \`...fromLangChain([it])\`.`,
  ],
  ["an object of tools", define({ tools: {} }), `Agent "a": ${tools}, like \`[add]\`, got an object.`],
  [
    "an async policy",
    define({ policy: async () => ({ verdict: "allow" }) }),
    'Agent "a": `policy` must answer at once, and is an async function; what it waits for a `beforeToolCall` hook can look up.',
  ],
  [
    "a misspelt setting",
    define({ settings: { temprature: 1 } }),
    'The settings of agent "a": there is no option "temprature"; did you mean "temperature"?',
  ],
  [
    "a setting of another library",
    define({ settings: { maxTokens: 5 } }),
    'The settings of agent "a": write `maxOutputTokens` in place of `maxTokens`.',
  ],
  [
    "a setting of a wrong kind",
    define({ settings: { temperature: "hot" } }),
    'The settings of agent "a": `temperature` must be a finite number, got "hot".',
  ],
  [
    "a bound of a reply in parts of a token",
    define({ settings: { maxOutputTokens: 0.5 } }),
    'The settings of agent "a": `maxOutputTokens` must be a whole number of at least 1, got 0.5.',
  ],
  [
    "toolChoice",
    define({ toolChoice: { tool: "ad" } }),
    '`toolChoice` of agent "a" lists the tool "ad", which is not there. There are: none.',
  ],
  [
    "toolChoice as the AI SDK has it",
    define({ toolChoice: { type: "tool", toolName: "t" } }),
    'Agent "a": `toolChoice` must be "auto" or "required" or "none" or { tool: name }, got an object.',
  ],
  ...[{ type: "tool", toolName: "t" }, "t", 5].map(
    (toolChoice) =>
      [
        `toolChoice ${JSON.stringify(toolChoice)} of a request`,
        () =>
          chat({ model: scripted(["ok"]), messages: "x", tools: [fakeTool("t", 1)], toolChoice } as never),
        `chat(): \`toolChoice\` must be "auto" or "required" or "none" or { tool: name }, got ${typeof toolChoice === "object" ? "an object" : JSON.stringify(toolChoice)}; write chat({ model, messages }).`,
      ] as const,
  ),
  [
    "a required call without tools",
    define({ toolChoice: "required" }),
    'The `toolChoice` of agent "a": it requires a call, and there are no tools.',
  ],
  [
    "a required call without tools, in a request",
    () => chat({ model: scripted(["ok"]), messages: "x", toolChoice: "required" }),
    "The `toolChoice` of a chat request: it requires a call, and there are no tools.",
  ],
  [
    "an example",
    define({ examples: [{ input: "x", calls: [{ tool: "t", arguments: {}, result: 1 }], anwser: "y" }] }),
    'Agent "a": `examples` must be a list of worked examples: `examples[0]` has the unknown field "anwser"; did you mean "answer"?',
  ],
  [
    "a call of an example",
    define({ examples: [{ input: "x", calls: [{ tool: "t", argument: {}, result: 1 }], answer: "y" }] }),
    'Agent "a": `examples` must be a list of worked examples: `examples[0].calls[0]` has the unknown field "argument"; did you mean "arguments"?',
  ],
  [
    "an option of evaluate",
    () => evaluate(define({})(), [], { run: 2 } as object),
    'evaluate(): it has the unknown field "run"; did you mean "runs"?',
  ],
  [
    "an option of subagents",
    () => subagents([define({})()], { timeoutMS: 5, nmae: "x" } as object),
    'subagents(): it has the unknown field "timeoutMS"; did you mean "timeoutMs"?',
  ],
  [
    "an option of fileTools",
    () => fileTools({ root: "/srv", writes: true } as never),
    'fileTools(): it has the unknown field "writes"; did you mean "write"?',
  ],
  [
    "an option of shellTool",
    () => shellTool({ programs: ["ls"], cdw: "/srv" } as never),
    'shellTool(): it has the unknown field "cdw"; did you mean "cwd"?',
  ],
  [
    "a reply of a script",
    () => scripted(["ok", { call: [{ name: "t" }] } as object]),
    'Step 2 of scripted(): it has the unknown field "call"; did you mean "calls"?',
  ],
  ...[5, null].map(
    (step) =>
      [
        `a step of a script that is ${step}`,
        () => scripted([step as never]),
        `Step 1 of scripted(): it must be a text, a reply like { calls }, a list of deltas, an Error or a function, got ${step}.`,
      ] as const,
  ),
  [
    "a call of a script",
    () => scripted([{ calls: [{ name: "t", argument: {} }] } as object]),
    'Step 1 of scripted(): `calls[0]` has the unknown field "argument"; did you mean "arguments"?',
  ],
  [
    "abort",
    inRun({ abort: new AbortController().signal }),
    'The run of "a": write `signal` in place of `abort`.',
  ],
  [
    "a tool of a run",
    inRun({ tools: ["lok", "look"] }, { tools: [fakeTool("look", 1), fakeTool("list", 1)] }),
    '`tools` of the run of "a" lists the tool "lok", which is not there; did you mean "look"? There are: look, list.',
  ],
  [
    "a tool of a run that is near none",
    inRun({ tools: ["erase"] }),
    '`tools` of the run of "a" lists the tool "erase", which is not there. There are: none.',
  ],
  [
    "a tool of a run of a composition",
    async () => {
      const look = agent({ name: "a", model: scripted(["ok"]), tools: [fakeTool("look", 1)] });
      const list = agent({ name: "b", model: scripted(["ok"]), tools: [fakeTool("list", 1)] });
      const both = pipe(look, pipe(list, list));
      await both("x", { tools: ["look", "list", "read_result"] }); // each agent has those of its own
      await both.run("x", { tools: ["look", "lits"] });
    },
    '`tools` of the run of "pipe(a, pipe(b, b))" lists the tool "lits", which is not there; did you mean "list"? There are: look, list.',
  ],
  [
    "an id of a run without a sign",
    inRun({ runId: "" }),
    'The run of "a": `runId` must be a text that is not empty, got an empty text.',
  ],
  [
    "an accepted change of a run that there is not",
    inRun({ accept: ["tolls"] }),
    'The run of "a": `accept` must be a list: `accept[0]` must be one of text, constants, agent, skill, policy, tools, limits, model, instructions, messages, settings, skills, members, input, tool, arguments, got "tolls".',
  ],
  [
    "a budget of a run",
    inRun({ budget: { turns: 1 } }),
    'The run of "a": `budget` belongs to the agent: write `agent.with({ budget }).run(input)`.',
  ],
  [
    "maxTurns of a run",
    inRun({ maxTurns: 1 }),
    'The run of "a": `maxTurns` belongs to the agent: write `agent.with({ budget: { turns } }).run(input)`.',
  ],
  [
    "a setting of a run",
    inRun({ temperature: 1 }),
    'The run of "a": `temperature` belongs to the agent: write `agent.with({ settings: { temperature } }).run(input)`.',
  ],
  [
    "parameters",
    makes({ inputSchema: undefined, parameters: anything }),
    'Tool "t": write `inputSchema` in place of `parameters`.',
  ],
  [
    "handler",
    makes({ execute: undefined, handler: () => 1 }),
    'Tool "t": write `execute` in place of `handler`.',
  ],
  [
    "z.date()",
    makes({ inputSchema: z.object({ at: z.date() }) }),
    'The input schema of "t" cannot be used: zod cannot describe it as JSON Schema: Date cannot be represented in JSON Schema. A model writes JSON: take text, like `z.iso.datetime()`, of which the tool makes its Date',
  ],
  [
    "z.bigint()",
    makes({ inputSchema: z.object({ n: z.bigint() }) }),
    'The input schema of "t" cannot be used: zod cannot describe it as JSON Schema: BigInt cannot be represented in JSON Schema. A model writes JSON: take a whole number or text, like `z.int()` or `z.string()`, of which the tool makes its bigint',
  ],
  [
    "z.file()",
    makes({ inputSchema: z.object({ at: z.array(z.file()) }) }),
    'The input schema of "t" cannot be used: zod cannot describe it as JSON Schema: File cannot be represented in JSON Schema. A model writes JSON: take text, like the path or the address of a file',
  ],
];

it.each(definitions)("says what to write in place of %s", async (_what, make, message) => {
  await expect(Promise.resolve().then(make)).rejects.toMatchObject({ message });
});

it("takes every setting that there is", () => {
  const all = {
    temperature: 1,
    topP: 1,
    topK: 1,
    maxOutputTokens: 1,
    stopSequences: ["\n"],
    seed: 1,
    frequencyPenalty: 0,
    presencePenalty: 0,
    providerOptions: {},
  };
  expect(define({ settings: all })).not.toThrow();
  expect(define({ settings: { temperature: undefined } })).not.toThrow();
});

it("says of empty replies what a library's user can do", async () => {
  await expect(define({ model: scripted([""], { whenDone: "repeat" }) })()("x")).rejects.toMatchObject({
    code: "protocol-violated",
    hint: 'Try another driver (`driver: "json"` of the agent, `--driver json` on the command line), a larger model, or shorter tool descriptions. Empty replies often mean that a proxy cut them off: check what the provider sends.',
  });
});
