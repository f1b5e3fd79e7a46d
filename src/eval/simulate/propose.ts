import { callsOf, type Message, textOf } from "../../message/message.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { asObject, isJsonObject, type Json } from "../../util/json.ts";
import { pick, type ProposedCall, type Random } from "./schedule.ts";
import { writtenValue } from "./written-value.ts";

/** A tool as the adversary knows it. */
export interface KnownTool {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** The things from which the adversary makes calls. */
export interface Sight {
  /** The tools of the manifest, including those that may not be called now. */
  readonly tools: readonly KnownTool[];
  /** The names of the tools that the request offers. */
  readonly offered: ReadonlySet<string>;
  readonly messages: readonly Message[];
  /** The calls of the script's replies: they may be made at another time, or twice. */
  readonly script: readonly (readonly ProposedCall[])[];
}

/** The calls that an adversary proposes in one reply: of any tool, with arguments of its schema, or calls that were made before. */
export function proposal(random: Random, sight: Sight): readonly ProposedCall[] {
  const seen = [...sight.script.flat(), ...callsIn(sight.messages)];
  const values = stringsIn(sight.messages);
  const count = 1 + Math.floor(random() ** 2 * 3);
  const calls: ProposedCall[] = [];
  for (let at = 0; at < count; at += 1) {
    const call = oneCall(random, { ...sight, seen: [...seen, ...calls], values });
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** The calls of a recorded reply, changed in one place: one left out, one twice, in reverse order, with other arguments, or with those of the next reply. */
export function mutated(
  random: Random,
  [calls, after]: readonly [readonly ProposedCall[], readonly ProposedCall[]],
  { tools, messages }: Pick<Sight, "tools" | "messages">,
): readonly ProposedCall[] {
  const at = Math.floor(random() * calls.length);
  const one = calls[at];
  const schema = tools.find(({ name }) => name === one?.name)?.schema;
  const changes: readonly (readonly ProposedCall[])[] = [
    calls.toSpliced(at, 1),
    [...calls, ...calls.slice(at, at + 1)],
    calls.toReversed(),
    [...calls, ...after],
    one === undefined || schema === undefined
      ? calls
      : calls.with(at, { name: one.name, arguments: valueOf(random, schema, stringsIn(messages)) }),
  ];
  return pick(random, changes) ?? calls;
}

interface Seeing extends Sight {
  readonly seen: readonly ProposedCall[];
  readonly values: readonly string[];
}

function oneCall(random: Random, sight: Seeing): ProposedCall | undefined {
  const chance = random();
  if (chance < 0.3 && sight.seen.length > 0) return pick(random, sight.seen);
  if (chance > 0.97) return { name: "no_such_tool", arguments: {} };
  const offered = sight.tools.filter(({ name }) => sight.offered.has(name));
  const tool = pick(random, chance < 0.85 && offered.length > 0 ? offered : sight.tools);
  if (tool === undefined) return undefined;
  const args = random() < 0.04 ? { odd: true } : valueOf(random, tool.schema, sight.values);
  return { name: tool.name, arguments: args };
}

function callsIn(messages: readonly Message[]): readonly ProposedCall[] {
  return messages.flatMap((message) =>
    message.role === "assistant"
      ? callsOf(message).map(({ name, arguments: args }) => ({ name, arguments: args }))
      : [],
  );
}

/** Words of the conversation that could be values: `A1`, `ada@example.com`. */
function stringsIn(messages: readonly Message[]): readonly string[] {
  const words = new Set<string>();
  for (const message of messages)
    if (message.role === "user" || message.role === "tool")
      for (const word of (message.role === "tool" ? message.text : textOf(message)).match(
        /[\w.@-]*[\d@][\w.@-]*/g,
      ) ?? [])
        if (words.size < 20) words.add(word);
  return [...words];
}

const plainTexts = ["a", "b", "A1"];
/** Texts of formats that no grammar writes as people do. */
const usualOf: Readonly<Record<string, string>> = { email: "eve@example.org", uri: "https://example.org/a" };

/** The inputs for making values: the whole schema, words of the conversation, and the depth. */
interface Making {
  readonly random: Random;
  readonly root: JsonSchema;
  readonly values: readonly string[];
  readonly depth: number;
}

/** A value that a schema takes, in most cases. */
export function valueOf(random: Random, schema: JsonSchema, values: readonly string[]): Json {
  return madeBy(schema, { random, root: schema, values, depth: 0 });
}

/** Keywords that only the grammar of a schema heeds. */
const hard = [
  "$ref",
  "allOf",
  "oneOf",
  "not",
  "prefixItems",
  "multipleOf",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minProperties",
];

function madeBy(schema: JsonSchema, making: Making): Json {
  const { enum: choices, const: only, anyOf, default: usual } = schema;
  const { random } = making;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return pick(random, choices as readonly Json[]) ?? null;
  if (Array.isArray(anyOf)) return inside(pick(random, anyOf as readonly Json[]), making);
  if (usual !== undefined && random() < 0.3) return usual;
  const isHard = hard.some((keyword) => Object.hasOwn(schema, keyword));
  const written = isHard ? writtenValue(making.random, schema, making.root) : undefined;
  return written ?? ofType(schema, making);
}

function ofType(schema: JsonSchema, making: Making): Json {
  const { type, items, minItems } = schema;
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return textOfSchema(schema, making);
    case "integer":
    case "number":
      return numberOf(making.random, schema);
    case "boolean":
      return making.random() < 0.5;
    case "null":
      return null;
    case "array":
      return Array.from({ length: typeof minItems === "number" ? minItems : 1 }, () => inside(items, making));
    default:
      return objectOf(schema, making);
  }
}

function inside(schema: Json | undefined, making: Making): Json {
  const { depth } = making;
  return isJsonObject(schema) && depth < 5 ? madeBy(schema, { ...making, depth: depth + 1 }) : "a";
}

function objectOf({ properties, required }: JsonSchema, making: Making): Json {
  const needed = Array.isArray(required) ? required : [];
  const fields = Object.entries(asObject(properties));
  return Object.fromEntries(
    fields
      .filter(([name]) => needed.includes(name) || making.random() < 0.5)
      .map(([name, field]) => [name, inside(field, making)]),
  );
}

function textOfSchema(schema: JsonSchema, making: Making): Json {
  const { random, root, values } = making;
  const { format, examples, pattern, minLength = 0, maxLength = Infinity } = schema;
  const fitting = format === "email" ? values.filter((value) => value.includes("@")) : values;
  const known = Array.isArray(examples) ? examples.filter((each) => typeof each === "string") : [];
  const usual = typeof format === "string" ? usualOf[format] : undefined;
  const made = pick(random, [...known, ...fitting, ...(usual === undefined ? plainTexts : [usual])]) ?? "a";
  const isFormed = usual === undefined && (pattern ?? format) !== undefined;
  const fits = made.length >= Number(minLength) && made.length <= Number(maxLength);
  return fits && !(isFormed && random() < 0.5) ? made : (writtenValue(random, schema, root) ?? made);
}

function numberOf(random: Random, { minimum = 0, maximum = 100 }: JsonSchema): number {
  const low = typeof minimum === "number" ? minimum : 0;
  const high = typeof maximum === "number" ? maximum : low + 100;
  return pick(random, [low, Math.min(low + 1, high), high]) ?? low;
}
