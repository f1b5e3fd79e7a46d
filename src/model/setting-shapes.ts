import { either, finite, list, object, oneOf, optional, record, type Shape, string } from "../util/shape.ts";
import { fromOne } from "../error/check-shape.ts";
import type { ModelSettings, ToolChoice } from "./model.ts";

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
