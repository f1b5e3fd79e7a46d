import { isJsonObject, type Json } from "../util/json.ts";
import { oneOf } from "../util/shape.ts";
import { describeType } from "./describe-type.ts";
import type { Driver } from "./driver.ts";
import { callsOrAnswer } from "./plain-answer.ts";
import { readBeyond } from "./read-beyond.ts";
import { type RecogniserMode, recogniserModes } from "./recognise/recognise.ts";
import { argumentName, literalOf, pythonicGrammar } from "./pythonic-grammar.ts";
import { readPythonic } from "./pythonic-calls.ts";
import { checkOptions, resultRole as aRole, type TextDriverOptions } from "./text-options.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import { textDriver } from "./text-driver.ts";
import type { TextProtocol } from "./text-protocol.ts";

/** Options of {@link pythonicDriver}. */
export interface PythonicDriverOptions extends TextDriverOptions {
  /** `strict` (default) accepts only lists of calls. `safe` and `lenient` also accept calls in other formats, like {@link recogniser}. */
  readonly mode?: RecogniserMode;
}

/**
 * Makes the driver for models that were trained on calls in Python's notation (Llama, LFM2, Gemma, most that write code): a reply is a list of
 * calls, `[weather(city="Lima", days=3)]`, or any other text, which is the answer.
 *
 * @throws WritError `definition-invalid` unless `maxRetries` is a whole number of at least 0
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { pythonicDriver } from "writ/drivers";
 *
 * export const caller = agent({ name: "caller", model: () => "Done.", driver: pythonicDriver({ mode: "safe" }) });
 * ```
 */
export function pythonicDriver(options: PythonicDriverOptions = {}): Driver {
  checkOptions("pythonicDriver()", options, { mode: oneOf(...recogniserModes), resultRole: aRole });
  const { mode = "strict", resultRole = "user", maxRetries } = options;
  const protocol: TextProtocol = {
    name: "pythonic",
    maxRetries,
    conversation: asChat(
      instructions,
      inWords({
        calls: (calls) =>
          `[${calls.map(({ name, arguments: args }) => `${name}(${argumentsOf(args)})`).join(", ")}]`,
        result: ({ name, status, text }) => `${name} ${status === "ok" ? "returned" : "failed"}: ${text}`,
        resultRole,
      }),
    ),
    format: { grammar: pythonicGrammar },
    read: readPythonic,
    feedback: resend(
      "To call tools, reply with [name(argument=value, …)] and nothing else; otherwise answer in words.",
    ),
    plainAnswers: true,
    partialAnswer: (partial) => (isJsonObject(partial) ? partial : undefined), // a list may still become calls
  };
  return textDriver(readBeyond(protocol, mode));
}

const instructions = callsOrAnswer({
  noun: "function",
  tool: ({ name, description, input }) =>
    `${name}(${signature(describeType(input.jsonSchema))})\n  ${description}`,
  calling: [
    "To call functions, reply with a list of calls as Python writes them, and nothing else:",
    '[name(argument="text", other=3), other_name(flag=True)]',
    "Their results come back to you. Never invent functions or arguments.",
  ],
});

/** The arguments. Names that Python does not accept for arguments are in an object, as in Python. */
function argumentsOf(args: Json): string {
  if (!isJsonObject(args)) return literalOf(args);
  const entries = Object.entries(args);
  if (!entries.every(([name]) => argumentName.test(name))) return `**${literalOf(args)}`;
  return entries.map(([name, value]) => `${name}=${literalOf(value)}`).join(", ");
}

/** The fields of an object, without the braces around them. */
function signature(type: string): string {
  return /^\{ (.*) \}$/s.exec(type)?.[1] ?? (type === "{}" ? "" : type);
}
