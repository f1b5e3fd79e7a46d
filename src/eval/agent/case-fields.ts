import { resultStatuses } from "../../message/message.ts";
import type { Outcome } from "../../event/outcome.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { CostBounds, EvalCase, Expectations, ExpectedAnswer, ExpectedCall } from "./eval-case.ts";

const outcomes: readonly Outcome["type"][] = [
  "answered",
  "exhausted",
  "suspended",
  "refused",
  "cancelled",
  "failed",
];

const text = { type: "string", minLength: 1 } as const;
const texts = { type: "array", items: text, minItems: 1 } as const;
const count = { type: "integer", minimum: 0 } as const;
const amount = { type: "number", minimum: 0 } as const;

const call: Readonly<Record<keyof ExpectedCall, JsonSchema>> = {
  tool: text,
  with: { type: "object" },
  status: { enum: [...resultStatuses, "any"] },
  times: { type: "integer", minimum: 1 },
};

const calls = { type: "array", items: fields(call, ["tool"]), minItems: 1 } as const;
const { times: _times, ...unrepeated } = call;
const unrepeatedCalls = { type: "array", items: fields(unrepeated, ["tool"]), minItems: 1 } as const;

const answer: Readonly<Record<keyof ExpectedAnswer, JsonSchema>> = {
  equals: {},
  contains: texts,
  omits: texts,
  matches: text,
  json: {},
  schema: { type: "object" },
};

const atMost: Readonly<Record<keyof CostBounds, JsonSchema>> = {
  turns: count,
  toolCalls: count,
  tokens: count,
  costUsd: amount,
  durationMs: amount,
};

const expect: Readonly<Record<keyof Expectations, JsonSchema>> = {
  outcome: { enum: outcomes },
  answer: fields(answer),
  calls,
  order: unrepeatedCalls,
  never: unrepeatedCalls,
  atMost: fields(atMost),
  judge: fields({ rubric: text, model: text, advisory: { type: "boolean" } }, ["rubric"]),
  snapshot: { type: "boolean" },
};

const replyCall = fields({ id: text, name: text, arguments: {} }, ["name"]);
const usage = fields({ inputTokens: count, outputTokens: count });
const reply = {
  type: ["string", "object"],
  properties: {
    text: { type: "string" },
    reasoning: { type: "string" },
    calls: { type: "array", items: replyCall },
    usage,
  },
  additionalProperties: false,
} as const;

const message = fields({ role: { enum: ["user", "assistant"] }, text: { type: "string" } }, ["role", "text"]);
const result = fields({ tool: text, with: { type: "object" }, result: {}, error: { type: "string" } }, [
  "tool",
]);

const inCase: Readonly<Record<keyof Omit<EvalCase, "file" | "recorded">, JsonSchema>> = {
  name: text,
  input: { type: ["string", "object", "array"], items: message, minItems: 1 },
  expect: fields(expect),
  results: { type: "array", items: result },
  replies: { type: "array", items: reply, minItems: 1 },
  approve: { type: ["boolean", "array"], items: text },
  runs: { type: "integer", minimum: 1, maximum: 1000 },
  atLeast: { type: "number", exclusiveMinimum: 0, maximum: 1 },
};

/** The fields of a case, with its short forms written out. */
export const caseFields: JsonSchema = fields(inCase, ["name", "input"]);

/** The fields of a file with several cases. */
export const caseListFields: JsonSchema = fields(
  { cases: { type: "array", items: caseFields, minItems: 1 } },
  ["cases"],
);

function fields(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
