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
 * `<tool_call>{"name", "arguments"}</tool_call>`, several if need be, or the answer as plain text.
 */
export type JsonDialect = "action" | "inline" | "hermes";

/** Options of {@link jsonDriver}. */
export interface JsonDriverOptions extends TextDriverOptions {
  /** Default `action`. */
  readonly dialect?: JsonDialect;
  /**
   * `strict` (default) refuses every reply that is not the dialect to the letter, says what is wrong, and asks again. `safe` and
   * `lenient` also take calls in other formats, as {@link recogniser} does, and the event `message-end` says what was mended.
   */
  readonly mode?: RecogniserMode;
  /** Most characters of a thought. Default 200. The dialect `action` alone has thoughts. */
  readonly maxThought?: number;
  /** Treatment of a thought that is longer: `cut` (default), or `refuse` the reply. */
  readonly longThought?: LongThought;
  /**
   * The tools in the prompt: as `types`, a short notation, or as their JSON `schemas` to the letter. Default: schemas
   * when all of them have 4,000 characters at most, else types.
   */
  readonly show?: ShownTools;
}

/** The options with their defaults. */
export type JsonSettings = Readonly<Required<Omit<JsonDriverOptions, "show">>> &
  Pick<JsonDriverOptions, "show">;

/** @throws WritError `definition-invalid` for what is no such option. */
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

/** Reads an answer that is the whole reply. An object that may still become a call is not one. */
export const wholeAnswers: Pick<TextProtocol, "plainAnswers" | "partialAnswer"> = {
  plainAnswers: true,
  partialAnswer: (partial) =>
    isJsonObject(partial) && (Object.keys(partial).length === 0 || Object.hasOwn(partial, "tool"))
      ? undefined
      : partial,
};
