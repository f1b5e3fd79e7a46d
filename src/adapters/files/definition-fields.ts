import { driverChoices } from "../../model/driver-names.ts";
import type { ModelSettings } from "../../model/model.ts";
import type { Budget } from "../../policy/account/budget.ts";
import { endCauses } from "../../run/end.ts";
import type { JsonSchema } from "../../schema/schema.ts";

const bound = { type: "number", exclusiveMinimum: 0 } as const;

const budget: Readonly<Record<Exclude<keyof Budget, "price">, JsonSchema>> = {
  turns: bound,
  toolCalls: bound,
  durationMs: bound,
  tokens: bound,
  costUsd: bound,
  toolMs: bound,
  sameToolInARow: bound,
  repeats: bound,
  depth: bound,
  argumentBytes: bound,
  llmCalls: bound,
  resultBytes: bound,
  warnAt: { type: "number", exclusiveMinimum: 0, maximum: 1 },
};

const settings: Readonly<Record<keyof ModelSettings, JsonSchema>> = {
  temperature: { type: "number" },
  topP: { type: "number" },
  topK: { type: "integer" },
  maxOutputTokens: { type: "integer", minimum: 1 },
  stopSequences: { type: "array", items: { type: "string" } },
  seed: { type: "integer" },
  frequencyPenalty: { type: "number" },
  presencePenalty: { type: "number" },
  providerOptions: { type: "object" },
};

const names = { type: "array", items: { type: "string" } } as const;
/** A list of names. Null, like a missing field, means all tools. */
const namesOrAll = { type: ["array", "null"], items: { type: "string" } } as const;

const fields = {
  name: { type: "string" },
  description: { type: "string" },
  model: { type: "string" },
  driver: { enum: driverChoices },
  tools: namesOrAll,
  toolsDeny: names,
  skills: {
    type: "array",
    items: {
      type: "object",
      properties: {
        name: { type: "string" },
        description: { type: "string" },
        instructions: { type: "string" },
        tools: namesOrAll,
      },
      required: ["name", "description"],
      additionalProperties: false,
    },
  },
  budget: { type: "object", properties: budget, additionalProperties: false },
  settings: { type: "object", properties: settings, additionalProperties: false },
  toolChoice: {
    anyOf: [
      { enum: ["auto", "required", "none"] },
      {
        type: "object",
        properties: { tool: { type: "string" } },
        required: ["tool"],
        additionalProperties: false,
      },
    ],
  },
  lastTurn: { enum: ["tools", "answer"] },
  endOn: { type: "array", items: { enum: endCauses } },
  metadata: { type: "object" },
  input: { type: "object" },
  output: { type: "object" },
} as const;

/** The fields of the front matter of a Markdown definition, whose body is the instructions. */
export const markdownFields: JsonSchema = {
  type: "object",
  properties: fields,
  required: ["name"],
  additionalProperties: false,
};

/** The fields of a JSON definition. */
export const jsonFields: JsonSchema = {
  ...markdownFields,
  properties: { ...fields, instructions: { type: "string" } },
};
