import {
  agent,
  type Agent,
  allow,
  ask,
  deny,
  type Policy,
  policy,
  sensible,
  skill,
  tool,
} from "../../src/index.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { fakeTool, type SimulationOptions } from "../../src/testing.ts";
import { fixed, retry } from "../../src/tools.ts";

/** An agent to simulate, and how. */
export interface Case {
  readonly agent: Agent<string>;
  readonly options: SimulationOptions;
}

const fields = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const order = fields({ order: { enum: ["A1", "A2"] } });
const money = fields({
  order: { enum: ["A1", "A2"] },
  amount: { type: "integer", minimum: 1, maximum: 100 },
});

const pay = fakeTool("pay", "", { effect: "irreversible", inputSchema: money });
const look = fakeTool("look", "", { effect: "read", inputSchema: order });
const note = fakeTool("note", "", { effect: "write", inputSchema: order, timeoutMs: 500 });
const book = fakeTool("book", "", { effect: "write", retry: "keyed", inputSchema: order });
const wire = fakeTool("wire", "", { effect: "irreversible", reconcile: "person", inputSchema: order });
const ship = fakeTool("ship", "", { effect: "write", reconcile: () => undefined, inputSchema: order });
const mended = fakeTool("mended", "", {
  effect: "irreversible",
  inputSchema: order,
  recover: {
    invalidArguments: () => fixed({ order: "A1" }),
    executionFailed: () => fixed("nothing was done"),
  },
});
const retried = fakeTool("retried", "", {
  effect: "read",
  inputSchema: order,
  recover: { executionFailed: () => retry(2) },
});
const spy = fakeTool("spy", "", { effect: "read", inputSchema: order });
const secret = fakeTool("secret", "", { effect: "read", secrecy: "private", inputSchema: order });

/** Asks about money. What it closes over nobody can see, so that no call starts while the model still writes. */
const careful: Policy = ({ tool }) => {
  const verdict = tool === "pay" || tool === "wire" ? "ask" : "allow";
  return { verdict, rule: tool, reason: "the table says so" };
};
/** The same as data, and forbids what nobody may do: calls that only look start early. */
const written = (more: readonly string[], denied: readonly string[]): Policy =>
  policy({
    name: "written",
    rules: [
      ...denied.map((tool) => deny(tool)),
      ask("pay").because("money goes out"),
      ...more.map((tool) => allow(tool)),
    ],
  });
const free: Policy = () => ({ verdict: "allow", rule: "all", reason: "" });
/** What strangers said last needs a person. */
const wary: Policy = ({ knows, effect }) => ({
  verdict: knows.label.integrity === "untrusted" && effect !== "read" ? "ask" : "allow",
  rule: "label",
  reason: "after data of strangers",
});

const reader = agent({
  name: "reader",
  description: "Reads.",
  model: () => "",
  tools: [look, note, pay],
  policy: careful,
  budget: { turns: 4 },
});
const plain = { model: () => "" };
const parcel = tool({
  name: "parcel",
  description: "",
  effect: "read",
  inputSchema: order,
  execute: (_args, { waitFor }) => waitFor("parcel", { within: "1h" }),
});
const receiver = agent({
  name: "receiver",
  description: "Receives.",
  model: () => "",
  tools: [parcel, note, pay],
  policy: careful,
  budget: { turns: 4, durationMs: 30_000 },
});

/** The agents that are simulated: each has what another part of the runtime carries out. */
export const cases: Readonly<Record<string, Case>> = {
  clerk: {
    agent: agent({
      ...plain,
      name: "clerk",
      tools: [pay, look, note, book, spy],
      policy: written(["look", "note"], ["book", "spy"]),
      budget: { turns: 5 },
    }),
    options: {},
  },
  /** Five turns, the same where nothing deviates: a reply that broke off is written again. */
  scripted: {
    agent: agent({
      ...plain,
      name: "scripted",
      tools: [pay, look, note],
      policy: written(["look", "note"], []),
    }),
    options: {
      script: [
        { calls: [{ name: "look", arguments: { order: "A1" } }] },
        { calls: [{ name: "pay", arguments: { order: "A1", amount: 20 } }] },
        { calls: [{ name: "note", arguments: { order: "A1" } }] },
        { calls: [{ name: "look", arguments: { order: "A2" } }] },
        "done",
      ],
    },
  },
  conversation: {
    agent: agent({ ...plain, name: "clerk", tools: [pay, look], policy: written(["look"], []) }),
    options: { inputs: ["one", "two"] },
  },
  delegating: {
    agent: agent({
      ...plain,
      name: "boss",
      tools: [reader.asTool(), look, pay],
      policy: careful,
      budget: { turns: 4, toolCalls: 4 },
    }),
    options: {},
  },
  skilled: {
    agent: agent({
      ...plain,
      name: "skilled",
      skills: [
        skill({ name: "reading", description: "", tools: [look] }),
        skill({ name: "writing", description: "", tools: [note, pay] }),
      ],
      policy: careful,
    }),
    options: {},
  },
  recovering: {
    agent: agent({
      ...plain,
      name: "recovering",
      tools: [wire, book, ship, note, look],
      policy: careful,
      approvals: { within: "2h", by: ["kim"] },
    }),
    options: {},
  },
  /** Its author mends what the model wrote, makes results of failures, and has a blocked call end its turn. */
  mending: {
    agent: agent({
      ...plain,
      name: "mending",
      tools: [mended, retried, pay, spy],
      policy: written(["mended", "retried"], ["spy"]),
      endOn: ["blocked-call"],
    }),
    options: { inputs: ["one", "two"] },
  },
  wary: {
    agent: agent({
      ...plain,
      name: "wary",
      tools: [secret, look, note],
      policy: wary,
      compaction: { atTokens: 30, keepTurns: 1, summarise: () => "Things were looked at." },
    }),
    options: {},
  },
  remembering: {
    agent: agent({
      ...plain,
      name: "remembering",
      tools: [secret, look],
      policy: wary,
      compaction: { atTokens: 30, keepTurns: 1, summarise: () => "Things were looked at." },
    }),
    options: { inputs: ["one", "two"] },
  },
  sensible: {
    agent: agent({ ...plain, name: "sensible", tools: [pay, look, note], policy: sensible }),
    options: {},
  },
  bounded: {
    agent: agent({
      ...plain,
      name: "bounded",
      tools: [look, note],
      policy: free,
      budget: { turns: 5, toolCalls: 3, tokens: 20 },
    }),
    options: {},
  },
  /** Waits for signals, itself and in agents inside agents, each of which has a time of its own. */
  receiving: {
    agent: agent({
      ...plain,
      name: "office",
      tools: [
        agent({
          name: "desk",
          description: "Has others receive.",
          model: () => "",
          tools: [receiver.asTool(), note],
          policy: careful,
          budget: { turns: 3 },
        }).asTool(),
        receiver.asTool(),
        parcel,
      ],
      policy: careful,
      budget: { turns: 4, durationMs: 60_000 },
    }),
    options: { tools: { parcel: "own" } },
  },
};
