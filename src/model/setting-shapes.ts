import {
  boolean,
  either,
  finite,
  list,
  object,
  oneOf,
  optional,
  record,
  type Shape,
  shapeOf,
  string,
} from "../util/shape.ts";
import { closed, fromOne } from "../error/check-shape.ts";
import { driverNames } from "./driver-names.ts";
import type { ModelFeatures, ModelSettings, ToolChoice } from "./model.ts";

/** A number that JSON does not write as null. */
const amount = optional(finite);

/** The shape of a choice of calls, as agents, hooks and requests take it. */
export const toolChoiceShape: Shape<ToolChoice> = either(
  oneOf("auto", "required", "none"),
  object({ tool: string }, "{ tool: name }"),
);

/** The shapes of the settings of a model. */
export const settingShapes: { readonly [Field in keyof Required<ModelSettings>]: Shape<unknown> } = {
  temperature: amount,
  topP: amount,
  topK: amount,
  maxOutputTokens: optional(fromOne),
  stopSequences: optional(list(string, "a list of strings")),
  seed: amount,
  frequencyPenalty: amount,
  presencePenalty: amount,
  providerOptions: optional(record),
};

const featureShapes: { readonly [Field in keyof Required<ModelFeatures>]: Shape<unknown> } = {
  tools: optional(boolean),
  format: optional(oneOf("schema", "grammar")),
  formatWithTools: optional(boolean),
  completion: optional(boolean),
  small: optional(boolean),
  resultFiles: optional(oneOf("inside", "after", "none")),
  fixedTools: optional(boolean),
  toolNames: optional(shapeOf("a regular expression", (value) => value instanceof RegExp)),
  driver: optional(oneOf(...driverNames)),
};

/** The shape of what a model can do. */
export const modelFeatures: Shape<unknown> = closed(featureShapes);
