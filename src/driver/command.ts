import { describeType } from "./describe-type.ts";
import type { Driver } from "./driver.ts";
import { oneOf } from "../util/shape.ts";
import { checkOptions, type TextDriverOptions } from "./text-options.ts";
import { readCommands } from "./command-calls.ts";
import { textWithout } from "./free-text.ts";
import { terminal } from "./grammar/grammar.ts";
import { callsOrAnswer, moreCalls, plainAnswer } from "./plain-answer.ts";
import type { ReplyShape } from "./reply-shape.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import { textDriver } from "./text-driver.ts";

/** Options of {@link commandDriver}. */
export interface CommandDriverOptions extends TextDriverOptions {
  /**
   * Treatment of a reply with commands and other text: `refuse` (default) sends it back, `keep` runs the
   * commands that begin a line. A command in a code block is quoted, and never runs.
   */
  readonly prose?: "refuse" | "keep";
}

/**
 * Makes the driver for models that get a line right, but not a whole object: a call is `@tool <name> {arguments}`, several calls are several
 * commands, and a reply without a command is the answer. Arguments may stand on more lines. After metal-kompanion's command DSL.
 *
 * @throws WritError `definition-invalid` for an option that there is not.
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { commandDriver } from "writ/drivers";
 *
 * export const noter = agent({ name: "noter", model: () => "Noted.", driver: commandDriver({ prose: "keep" }) });
 * ```
 */
export function commandDriver(options: CommandDriverOptions = {}): Driver {
  const { prose = "refuse", resultRole = "user", maxRetries } = options;
  checkOptions("commandDriver()", options, { prose: oneOf("refuse", "keep") });
  return textDriver({
    name: "command",
    maxRetries,
    conversation: asChat(
      instructions,
      inWords({
        calls: (calls) =>
          calls.map(({ name, arguments: args }) => `@tool ${name} ${JSON.stringify(args)}`).join("\n"),
        result: ({ name, status, text }) => `${status === "ok" ? "Result" : "Error"} of ${name}: ${text}`,
        resultRole,
      }),
    ),
    format: { grammar: commandGrammar },
    read: (text) => readCommands(text, prose),
    feedback: resend(
      "To call tools, write only lines of the form @tool <name> {arguments}; otherwise answer in words.",
    ),
    plainAnswers: true,
    partialAnswer: (partial) => partial,
  });
}

const instructions = callsOrAnswer({
  noun: "tool",
  tool: ({ name, description, input }) => `@tool ${name} ${describeType(input.jsonSchema)}\n  ${description}`,
  calling: [
    "To call a tool, reply with one line and nothing else, with the arguments as JSON:",
    "@tool <name> {arguments}",
    "Several calls are several such lines. Their results come back to you. Never invent tools or arguments.",
  ],
});

function commandGrammar(shape: ReplyShape): string {
  return plainAnswer(shape, { text: textWithout("@tool") }, (args) => {
    const calls = shape.tools.map(({ name }, index) => `${terminal(`${name} `)} ${args[index] ?? "object"}`);
    return {
      expression: `call (${terminal("\n")} call)${moreCalls}`,
      rules: [`call ::= ${terminal("@tool ")} (${calls.join(" | ")})`],
    };
  });
}
