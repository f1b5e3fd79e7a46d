import { isJsonObject } from "../util/json.ts";
import type { LongThought } from "./json-protocol.ts";
import { type RecogniserMode, recogniserModes } from "./recognise/recognise.ts";
import { oneOf, whole } from "../util/shape.ts";
import { checkOptions, defaultRetries, resultRole as aRole, type TextDriverOptions } from "./text-options.ts";
import type { TextProtocol } from "./text-protocol.ts";
import type { ShownTools } from "./describe-type.ts";

/**
 * The JSON that a model writes. `action`: `{"thought", "action": {"tool", "args"}}` or `{"final":
 * {"content"}}`, always one object. `inline`: `{"tool", "arguments"}`, or the answer as plain text. `hermes`:
 * `<tool_call>{"name", "arguments"}</tool_call>`, any number of them, or the answer as plain text.
 */
export type JsonDialect = "action" | "inline" | "hermes";

/** Options of {@link jsonDriver}. */
export interface JsonDriverOptions extends TextDriverOptions {
  /** Default `action`. */
  readonly dialect?: JsonDialect;
  /**
   * `strict` (default) refuses every reply that does not follow the dialect exactly, says what is wrong, and asks again. `safe` and
   * `lenient` also accept calls in other formats, like {@link recogniser}, and the event `message-end` says what was repaired.
   */
  readonly mode?: RecogniserMode;
  /** The most characters of a thought. Default 200. Only the dialect `action` has thoughts. */
  readonly maxThought?: number;
  /** The treatment of a longer thought: `cut` (default), or `refuse` the reply. */
  readonly longThought?: LongThought;
  /**
   * The form of the tools in the prompt: `types`, a short notation, or their exact JSON `schemas`. Default: schemas
   * if all of them together have at most 4,000 characters, otherwise types.
   */
  readonly show?: ShownTools;
}

/** The options with their defaults. */
export type JsonSettings = Readonly<Required<Omit<JsonDriverOptions, "show">>> &
  Pick<JsonDriverOptions, "show">;

/** @throws WritError `definition-invalid` for an invalid option */
export function jsonSettings(options: JsonDriverOptions): JsonSettings {
  checkOptions("jsonDriver()", options, {
    dialect: oneOf("action", "inline", "hermes"),
    mode: oneOf(...recogniserModes),
    longThought: oneOf("cut", "refuse"),
    show: oneOf("types", "schemas"),
    maxThought: whole,
    resultRole: aRole,
  });
  const { dialect = "action", mode = "strict", resultRole = "user", longThought = "cut" } = options;
  const { show, maxThought = 200, maxRetries = defaultRetries } = options;
  return { dialect, mode, resultRole, longThought, show, maxThought, maxRetries };
}

/** Reads an answer that is the whole reply. An object that may still become a call is not an answer. */
export const wholeAnswers: Pick<TextProtocol, "plainAnswers" | "partialAnswer"> = {
  plainAnswers: true,
  partialAnswer: (partial) =>
    isJsonObject(partial) && (Object.keys(partial).length === 0 || Object.hasOwn(partial, "tool"))
      ? undefined
      : partial,
};
