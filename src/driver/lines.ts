import type { Schema } from "../schema/schema.ts";
import { type Message, textOf, userMessage } from "../message/message.ts";
import { type AllowList, offeredTools } from "../policy/allow-list.ts";
import { parseJson } from "../util/json.ts";
import { oneLine } from "../util/one-line.ts";
import { answerPlace } from "./describe-type.ts";
import type { Driver, TurnInput, WorkedExample } from "./driver.ts";
import { blanks } from "./free-text.ts";
import { grammarFor, terminal } from "./grammar/grammar.ts";
import { argumentSchemas, callLine, headLine, lineExpression, readCallLine } from "./notation.ts";
import type { ReplyShape } from "./reply-shape.ts";
import { textDriver } from "./text-driver.ts";
import { type TextReading, violation } from "./text-protocol.ts";

const step = "Step: ";
const answer = "Answer: ";

/**
 * For models too weak to plan in JSON (about a hundred million parameters): a task is a question, one line per step, and an answer.
 * A line is exactly one call or the answer, so nothing is lost compared with the JSON protocol.
 *
 *     Q: What is 30 - 21?
 *     Step: 30 - 21 = 9
 *     Answer: 9
 *
 * The model writes up to the `=`; the runtime runs the call and writes its result. If the model can be constrained, a grammar fixes the
 * tools and the types of their arguments. The prompt only grows, so that the model's prompt cache holds. An answer is one line: text,
 * or JSON if the answer has a schema.
 */
export const linesDriver: Driver = textDriver({
  name: "lines",
  plainResults: true,
  conversation(turn) {
    const prompt = promptOf(turn);
    const stopSequences = ["\n", ...(turn.settings.stopSequences ?? [])];
    return {
      messages: [userMessage(prompt)],
      prompt,
      settings: { temperature: 0, ...lengthOf(turn), ...turn.settings, stopSequences },
    };
  },
  format: { grammar: lineGrammar },
  read: readLine,
  feedback: () => "Write one line: a step with one of the tools, or the answer.",
  cut: { reason: "it was cut off at the token limit" },
});

/** A line of words is short; the JSON of an answer is as long as its schema wants. */
function lengthOf({ output }: TurnInput): { readonly maxOutputTokens?: number } {
  return output === undefined ? { maxOutputTokens: 200 } : {};
}

function readLine(line: string, { allowed }: TurnInput): TextReading {
  if (line.startsWith(answer.trim())) {
    const content = line.slice(answer.trim().length).trim();
    if (content !== "") return { type: "final", content };
  }
  const call = line.startsWith(step.trim())
    ? readCallLine(line.slice(step.trim().length), allowed)
    : undefined;
  if (call !== undefined) return { type: "calls", calls: [call] };
  const start = JSON.stringify(line.slice(0, 80));
  return violation(`the line is neither a step nor an answer: ${start}`);
}

function lineGrammar({ tools, mayAnswer, output }: ReplyShape): string {
  const isText = output === undefined || output["type"] === "string";
  const schemas = tools.map(argumentSchemas);
  return grammarFor([...(isText ? [] : [output]), ...schemas.flat()], (expressions) => {
    const content = isText ? `[^${blanks}] [^\\n]{0,399}` : (expressions[0] ?? "value");
    let next = isText ? 0 : 1;
    const lines = tools.map((tool, index) =>
      lineExpression(tool, expressions.slice(next, (next += schemas[index]?.length ?? 0))),
    );
    const call = `${terminal(step)} (${lines.join(" | ")}) " ="`;
    const ending = `${terminal(answer)} (${content}) "\\n"`;
    return [...(lines.length === 0 ? [] : [call]), ...(mayAnswer ? [ending] : [])].join(" | ");
  });
}

/** The whole conversation as text. All but the last lines were in the previous request. */
function promptOf({ transcript, allowed, examples, output }: TurnInput): string {
  const { messages } = transcript;
  const instructions = messages[0]?.role === "system" ? messages[0].text : "";
  return messages.reduce(
    (prompt, message) => prompt + written(message, allowed),
    head([instructions, toolLines(allowed), answerLine(output)], allowed, examples),
  );
}

function written(message: Message, allowed: AllowList): string {
  if (message.role === "system") return ""; // it is in the head
  if (message.role === "user") return `Q: ${inLine(textOf(message))}\n`;
  if (message.role === "tool") return ` ${message.status === "ok" ? "" : "error: "}${inLine(message.text)}\n`;
  const call = message.parts.find((part) => part.type === "tool-call");
  if (call !== undefined) return `${step}${callLine(call.name, call.arguments, allowed)} =`;
  return `${message.raw?.trim() ?? `${answer}${inLine(textOf(message))}`}\n`;
}

function head(beginning: readonly string[], allowed: AllowList, examples: readonly WorkedExample[]): string {
  const blocks = [...beginning, ...examples.map((example) => exampleText(example, allowed))];
  return blocks.map((block) => (block === "" ? "" : `${block}\n\n`)).join("");
}

function toolLines(allowed: AllowList): string {
  return offeredTools(allowed).map(headLine).join("\n");
}

/** The form of an answer that has a schema. */
function answerLine(output: Schema | undefined): string {
  return output === undefined ? "" : `${answer}${answerPlace(output)}`;
}

function exampleText({ input, calls, answer: expected }: WorkedExample, allowed: AllowList): string {
  const steps = calls.map(({ tool, arguments: args, result }) => {
    const shown = inLine(typeof result === "string" ? result : JSON.stringify(result));
    return `${step}${callLine(tool, args, allowed)} = ${shown}`;
  });
  return [`Q: ${inLine(input)}`, ...steps, `${answer}${inLine(expected)}`].join("\n");
}

/** A value of the transcript in one line: JSON as JSON, other text without its line ends. */
function inLine(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok && typeof parsed.value === "object" ? JSON.stringify(parsed.value) : oneLine(text);
}
