import { describeType } from "./describe-type.ts";
import type { Driver } from "./driver.ts";
import { oneOf } from "../util/shape.ts";
import { checkOptions, resultRole as aRole, type TextDriverOptions } from "./text-options.ts";
import { endOfObject, oneObject } from "./one-object.ts";
import { type TextCall, type TextReading, violation } from "./text-protocol.ts";
import { textWithout } from "./free-text.ts";
import { terminal } from "./grammar/grammar.ts";
import { callsOrAnswer, moreCalls, plainAnswer } from "./plain-answer.ts";
import type { ReplyShape } from "./reply-shape.ts";
import { asChat, inWords, resend } from "./text-chat.ts";
import { textDriver } from "./text-driver.ts";

/** Options of {@link commandDriver}. */
export interface CommandDriverOptions extends TextDriverOptions {
  /**
   * The treatment of a reply with commands and other text: `refuse` (default) sends it back, `keep` runs the
   * commands that begin a line. A command in a code block is a quotation, and never runs.
   */
  readonly prose?: "refuse" | "keep";
}

/**
 * Makes the driver for models that get a line right, but not a whole object: a call is `@tool <name> {arguments}`, several calls are several
 * commands, and a reply without a command is the answer. Arguments may span lines. After metal-kompanion's command DSL.
 *
 * @throws WritError `definition-invalid` for an unknown option
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { commandDriver } from "writ/drivers";
 *
 * export const noter = agent({ name: "noter", model: () => "Noted.", driver: commandDriver({ prose: "keep" }) });
 * ```
 */
export function commandDriver(options: CommandDriverOptions = {}): Driver {
  checkOptions("commandDriver()", options, { prose: oneOf("refuse", "keep"), resultRole: aRole });
  const { prose = "refuse", resultRole = "user", maxRetries } = options;
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

/** A line that may begin or end a code block, or a command line, up to its arguments. */
const line = /^([ \t]*)(?:(`{3,}|~{3,})(.*)|@tool\b[ \t]*(?:([^\s{]+)[ \t]*)?)/gm;

/** Reads a reply with commands, each on its line; a reply without a command is the answer. Never throws. */
function readCommands(text: string, prose: "refuse" | "keep"): TextReading {
  const calls: TextCall[] = [];
  const around: string[] = [];
  let quoted = 0;
  let at = 0;
  let fence = "";
  line.lastIndex = 0;
  for (let found = line.exec(text); found !== null; found = line.exec(text)) {
    const [whole, indent = "", marks, behind = "", name] = found;
    if (marks !== undefined) {
      if (!isIndented(indent)) fence = fenceAfter(fence, marks, behind.trim());
      continue;
    }
    if (fence !== "" || isIndented(indent)) {
      quoted += 1;
      continue;
    }
    const read = readCommand(text, { name, from: found.index + whole.length });
    if ("reason" in read) return violation(read.reason);
    calls.push(read.call);
    around.push(text.slice(at, found.index));
    at = read.end;
    line.lastIndex = at;
  }
  around.push(text.slice(at));
  const isAlone = quoted === 0 && around.every((part) => part.trim() === "");
  if (calls.length > 0 && isAlone) return { type: "calls", calls };
  if (calls.length > 0 && prose === "keep") return { type: "calls", calls, text: around.join("").trim() };
  if (calls.length > 0) return violation("there is text beside the commands");
  if (quoted > 0) return violation("its command stands in a code block, where it does not run");
  return { type: "final", content: text, plain: true };
}

/** True for an indent of four blanks, which makes a code block in Markdown. */
function isIndented(indent: string): boolean {
  return indent.length > 3 || indent.includes("\t");
}

/** The open fence after a line of fence marks: a block ends with at least the marks that it began with, and nothing else on the line. */
function fenceAfter(fence: string, marks: string, behind: string): string {
  if (fence === "") return marks.startsWith("`") && behind.includes("`") ? "" : marks;
  return marks.startsWith(fence) && behind === "" ? "" : fence;
}

type ReadCommand = { readonly call: TextCall; readonly end: number } | { readonly reason: string };

/** Reads a command. The object after the name, over any number of lines, is its arguments; without an object it has none. The line must end after that. */
function readCommand(
  text: string,
  { name, from }: { readonly name: string | undefined; readonly from: number },
): ReadCommand {
  if (name === undefined) return { reason: "a command has no name: @tool <name> {arguments}" };
  const rest = text.slice(from);
  const object = /^\s*(?=\{)/.exec(rest)?.[0];
  if (object === undefined) {
    const behind = firstLine(rest);
    if (behind.trim() !== "") return { reason: `the arguments of @tool ${name} are no JSON object` };
    return { call: { name, arguments: {} }, end: from + behind.length };
  }
  const end = endOfObject(rest, object.length);
  if (end === undefined) return { reason: `the arguments of @tool ${name} are not closed` };
  const read = oneObject(rest.slice(object.length, end));
  if (!read.ok) return { reason: `the arguments of @tool ${name} are no JSON object: ${read.reason}` };
  if (firstLine(rest.slice(end)).trim() !== "")
    return { reason: `there is text behind the arguments of @tool ${name}` };
  return { call: { name, arguments: read.value }, end: from + end };
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end === -1 ? text : text.slice(0, end);
}
