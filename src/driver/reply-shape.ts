import { callsOf, type ReplyPart } from "../message/message.ts";
import type { ModelFeatures, ReplyFormat } from "../model/model.ts";
import { type AllowList, offeredTools } from "../policy/allow-list.ts";
import type { Schema } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { JsonObject } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import type { Reading, TurnInput } from "./driver.ts";
import { grammarOf } from "./grammar/grammar.ts";

/** The allowed replies of a turn: a call of one of the tools, an answer, or either. */
export interface ReplyShape {
  readonly tools: readonly Tool[];
  readonly mayAnswer: boolean;
  /** The JSON Schema of the answer, if it has one. */
  readonly output?: JsonObject;
}

/**
 * The replies that the turn's choice of tools permits. A choice of a tool that is not there forces
 * nothing.
 */
export function shapeOf({ allowed, toolChoice, output }: Omit<Shaping, "model">): ReplyShape {
  const answer = output === undefined ? {} : { output: output.jsonSchema };
  const tools = toolChoice === "none" ? [] : offeredTools(allowed);
  const named = typeof toolChoice === "object" ? allowed.tools.get(toolChoice.tool) : undefined;
  if (named !== undefined) return { tools: [named], mayAnswer: false, ...answer };
  return { tools, mayAnswer: toolChoice !== "required" || tools.length === 0, ...answer };
}

/**
 * Turns a reading that the turn's choice of tools forbids into a violation, so that a call is forced, or forbidden, with any model: not every
 * provider can enforce that, and some that say so do not.
 */
export function heldToShape(reading: Reading, turn: TurnInput): Reading {
  if (reading.type === "violation" || reading.type === "pending" || turn.toolChoice === "auto")
    return reading;
  const { tools, mayAnswer } = shapeOf(turn);
  const names = tools.map(({ name }) => name);
  if (reading.type === "final") return mayAnswer ? reading : refused(reading, mustCall(names, "answered"));
  if (turn.toolChoice === "none") return refused(reading, mustAnswer);
  if (typeof turn.toolChoice === "string" || mayAnswer) return reading;
  const isForced = callsOf(reading.message).every(({ name }) => names.includes(name));
  return isForced ? reading : refused(reading, mustCall(names, "called another"));
}

type Words = Pick<Extract<Reading, { type: "violation" }>, "reason" | "feedback">;

const mustAnswer: Words = {
  reason: "it had to answer without tools, and called one",
  feedback: "No tool can be called now. Answer with what you know.",
};

function mustCall(names: readonly string[], did: string): Words {
  const wanted = names.length === 1 ? `the tool ${names.join()}` : `one of the tools ${names.join(", ")}`;
  return {
    reason: `it had to call ${wanted}, and ${did}`,
    feedback: `This reply must call ${wanted}. Call it now; answer afterwards.`,
  };
}

/** A reading that does not count. A call in a transcript needs a result, so a refused call becomes words. */
export function refused({ message }: Reading, words: Words): Reading {
  const parts = message.parts.map((part): ReplyPart =>
    part.type === "tool-call" && part.providerExecuted !== true
      ? { type: "text", text: `(called ${part.name}, which was not run)` }
      : part,
  );
  return { type: "violation", message: { ...message, parts }, ...words };
}

/**
 * Writes the allowed replies of a protocol: as a JSON Schema, and as a grammar in GBNF. A kind that is
 * left out is not used.
 */
export interface ShapeWriter {
  readonly schema?: (shape: ReplyShape) => JsonObject;
  readonly grammar?: (shape: ReplyShape) => string;
}

const wholeAnswer = {
  schema: ({ output = {} }: ReplyShape) => output,
  grammar: ({ output = {} }: ReplyShape) => grammarOf(output),
};
const writtenAnswer = shapeFormat(wholeAnswer);

/** The format of a reply that is just the answer. A text answer has none: under a schema it would be in quotes. */
export function answerFormat(turn: TurnInput): ReplyFormat | undefined {
  const { output } = turn;
  return output === undefined || output.jsonSchema["type"] === "string" ? undefined : writtenAnswer(turn);
}

/** The parts of a turn that determine the shape of its reply, and so everything that a driver says about it. */
export interface Shaping extends Pick<TurnInput, "allowed" | "toolChoice" | "output"> {
  readonly model: { readonly features: Pick<ModelFeatures, "format"> };
}

interface Made<Value> {
  readonly output: Schema | undefined;
  readonly value: Value;
}

/**
 * Remembers the value of `make` for the shape of a reply: once for each list of tools, output, choice, and kind
 * of format.
 */
export function onceForShape<Value>(make: (shaping: Shaping) => Value): (shaping: Shaping) => Value {
  const madeOf = remembered((_allowed: AllowList) => new Map<string, Made<Value>>());
  return (shaping) => {
    const { allowed, toolChoice, output, model } = shaping;
    const choice = typeof toolChoice === "object" ? `tool ${toolChoice.tool}` : toolChoice;
    const key = `${String(model.features.format)} ${choice}`;
    const byKey = madeOf(allowed);
    let made = byKey.get(key);
    if (made === undefined || made.output !== output)
      byKey.set(key, (made = { output, value: make(shaping) }));
    return made.value;
  };
}

/** Makes the format of a turn, in the kind that its model supports; undefined if it supports none. */
export function shapeFormat(writer: ShapeWriter): (shaping: Shaping) => ReplyFormat | undefined {
  return onceForShape((shaping) => writeFormat(writer, shaping.model.features.format, shapeOf(shaping)));
}

function writeFormat(
  { schema, grammar }: ShapeWriter,
  kind: ReplyFormat["type"] | undefined,
  shape: ReplyShape,
): ReplyFormat | undefined {
  if (kind === "grammar" && grammar !== undefined) return { type: "grammar", grammar: grammar(shape) };
  return kind === "schema" && schema !== undefined ? { type: "schema", schema: schema(shape) } : undefined;
}
