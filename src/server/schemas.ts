import { runStatuses } from "../durable/run-store.ts";
import type { JsonSchema } from "../schema/schema.ts";

/** A name, an id or another short text. */
export const text = { type: "string", minLength: 1, maxLength: 500 } as const;
const words = { type: "string", maxLength: 100_000 } as const;

/** An object of these properties alone. */
export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** A run to start. Only the server gives instructions and powers, not the caller. */
export const start: JsonSchema = object(
  {
    agent: text,
    input: { description: "What the agent takes: text, or a value of its input schema" },
    id: { ...text, description: "A name of the caller's for the run. Default: a new one" },
    session: text,
    whenWaiting: {
      enum: ["keep", "after", "withdraw"],
      description:
        "after: the run begins when earlier runs of the session have ended; withdraw: their questions are answered with no",
    },
    skill: text,
    intent: {
      ...words,
      description: "The wish of the user in the user's own words, where the input holds more than that",
    },
    tools: { type: "array", items: text, maxItems: 1000, description: "The only tools that may be called" },
  },
  ["agent", "input"],
);

/** An answer to a question. */
export const answer: JsonSchema = object(
  {
    key: text,
    hash: { ...text, description: "Of the request that was shown: an answer to another one is refused" },
    policy: { ...text, description: "The same, of the policy that asks" },
    approved: { type: "boolean" },
    for: { enum: ["once", "run"] },
    free: {
      type: "array",
      items: text,
      maxItems: 100,
      description:
        "With for: run, arguments that later calls may have others in: some of `open` of the request",
    },
    arguments: {
      type: "object",
      description: "In the place of the model's; they are checked and judged again",
    },
    reason: words,
  },
  ["key", "hash", "approved"],
);

/** The fate of a call that was at work when its process died. */
export const settle: JsonSchema = object(
  {
    call: { ...text, description: "The key of the call, like turn/1/call/0, or that of its question" },
    happened: {
      enum: [true, false, "unknown"],
      description: "false: it runs now. unknown: the model is told that nobody can tell",
    },
    value: { description: "What it gave, where it happened" },
  },
  ["call", "happened"],
);

/** A run to begin from the records of another one. */
export const fork: JsonSchema = object(
  {
    beforeTurn: { type: "integer", minimum: 1, description: "The turn from which on it goes its own way" },
    id: text,
    results: { type: "object", description: "Other values of calls, by the keys of these: turn/2/call/0" },
  },
  ["beforeTurn"],
);

/** A signal for which a tool waits. */
export const signal: JsonSchema = object(
  {
    name: text,
    value: { description: "What it brings. Default: null" },
    id: { ...text, description: "A second signal of the same id changes nothing. Default: a new one" },
  },
  ["name"],
);

export const cancel: JsonSchema = object({ reason: words }, []);

/** The body that `useChat` sends. Of its messages only the last is read. */
export const chat: JsonSchema = {
  type: "object",
  properties: {
    id: text,
    trigger: { type: "string" },
    messages: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          role: { type: "string" },
          parts: { type: "array", items: { type: "object" } },
        },
        required: ["id", "role", "parts"],
      },
      minItems: 1,
    },
    arguments: {
      type: "object",
      additionalProperties: { type: "object" },
      description: "Arguments in the place of the model's, by the id of the approval",
    },
  },
  required: ["id", "messages"],
};

const clientTools = {
  type: ["array", "null"],
  items: { type: "object" },
  maxItems: 128,
  description: "Functions of the client, beside the agent's own tools: the client carries out their calls",
} as const;
const toolChoice = {
  enum: ["auto", "none", null],
  description: "`none`: without the client's functions",
} as const;
const format = {
  type: ["object", "null"],
  description:
    "JSON only where the agent's own `output` gives it; a schema that this does not fit is refused",
} as const;
const never = { description: "Not taken: the agent has its own", maxItems: 0 } as const;

const notTaken = { type: "null", description: "Not taken: the agent has its own" } as const;

/** The body that OpenAI's clients send. Settings of sampling are accepted but left to the agent. Fields that would change its powers are refused. */
export const completion: JsonSchema = {
  type: "object",
  properties: {
    model: text,
    messages: { type: "array", items: { type: "object" }, minItems: 1 },
    stream: { type: ["boolean", "null"] },
    stream_options: { type: ["object", "null"] },
    tools: clientTools,
    tool_choice: toolChoice,
    functions: { type: "array", ...never },
    n: { enum: [1, null] },
    modalities: { type: ["array", "null"], items: { const: "text" }, description: "Answers are text" },
    web_search_options: notTaken,
    logprobs: { enum: [false, null] },
    response_format: format,
  },
  required: ["model", "messages"],
};

/** The same, of the Responses API. */
export const response: JsonSchema = {
  type: "object",
  properties: {
    model: text,
    input: { type: ["string", "array"], items: { type: "object" }, minItems: 1, minLength: 1 },
    instructions: {
      type: ["string", "null"],
      description: "Told as the user's: instructions are the server's",
    },
    previous_response_id: {
      type: ["string", "null"],
      description: "A response of the caller that is gone on from",
    },
    stream: { type: ["boolean", "null"] },
    text: { type: ["object", "null"], properties: { format } },
    tools: clientTools,
    tool_choice: toolChoice,
    prompt: notTaken,
    top_logprobs: { enum: [0, null] },
    background: { enum: [false, null] },
    conversation: { type: "null", description: "Not taken: give previous_response_id" },
  },
  required: ["model", "input"],
};

export const nothing: JsonSchema = object({}, []);

const limit = { type: "string", pattern: "^([1-9][0-9]?[0-9]?|1000)$" } as const;

export const filter: Readonly<Record<string, JsonSchema>> = {
  status: { enum: runStatuses },
  agent: text,
  session: text,
  before: { ...text, description: "The id of a run: only those that were begun before it" },
  limit: { ...limit, description: "At most 1 000. Default 100" },
};

/** A page of questions. */
export const questionPage: Readonly<Record<string, JsonSchema>> = {
  after: {
    type: "string",
    maxLength: 3000,
    description:
      "The `since`, `runId` and `key` of a question, as an array of JSON: only those behind it, also once it is answered. To look for new questions, begin without it",
  },
  limit: { ...limit, description: "At most 1 000. Default: all" },
};

export const after: Readonly<Record<string, JsonSchema>> = {
  after: {
    type: "string",
    pattern: "^[0-9]{1,15}(,[^,:]+:[0-9]{1,15})*$",
    description:
      "The id of the last event that is known: its number; with `inside`, `,run:number` of each run inside too",
  },
};

export const inside: Readonly<Record<string, JsonSchema>> = {
  inside: { enum: ["true", "false"], description: "Facts of agents inside the run are told too" },
};

/** A run in an answer. Answers are described as far as clients rely on them. */
export const run: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string" },
    agent: { type: "string" },
    input: {},
    session: { type: "string" },
    status: {
      enum: runStatuses,
    },
    begunAt: { type: "number", description: "Milliseconds since 1970" },
    endedAt: { type: "number" },
    fork: {
      type: "object",
      properties: { run: { type: "string" }, beforeTurn: { type: "integer" } },
      required: ["run", "beforeTurn"],
    },
    end: {
      type: "object",
      properties: {
        outcome: { type: "object" },
        output: {},
        usage: { type: "object" },
        turns: { type: "integer" },
      },
      required: ["outcome"],
    },
  },
  required: ["id", "agent", "input", "status", "begunAt"],
};
export const runs: JsonSchema = listIn("runs", run);

export const questions: JsonSchema = listIn("questions", {
  type: "object",
  properties: {
    runId: { type: "string" },
    agent: { type: "string" },
    key: { type: "string" },
    since: { type: "number" },
    until: {
      type: "number",
      description: "The answer is no, where nobody has answered by then; a tool that waits goes on then",
    },
    by: {
      type: "array",
      items: { type: "string" },
      description: "The principals who may answer. Default: all",
    },
    request: {
      type: "object",
      description:
        "The call with its arguments, where each value comes from, its hash, and the `inputSchema` for a form; `waitsFor` where its tool waits for a signal or a time",
    },
  },
  required: ["runId", "key", "since", "request"],
});

export const agents: JsonSchema = listIn("agents", {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
});

export const problem: JsonSchema = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string" },
    detail: { type: "string" },
    hint: { type: "string" },
  },
  required: ["type", "title", "status", "code"],
};

function listIn(name: string, items: JsonSchema): JsonSchema {
  return { type: "object", properties: { [name]: { type: "array", items } }, required: [name] };
}

export const chatMessages: JsonSchema = object(
  { messages: { type: "array", items: { type: "object" }, description: "`UIMessage` of the AI SDK 7" } },
  ["messages"],
);

export const toolPage: JsonSchema = object(
  {
    uri: { type: "string" },
    mimeType: { type: "string", enum: ["text/html;profile=mcp-app"] },
    html: { type: "string" },
    meta: { type: "object", description: "What the server says of how it is shown" },
  },
  ["uri", "mimeType", "html"],
);
