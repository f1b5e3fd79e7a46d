import { listAt, mapAt } from "../schema/keywords.ts";
import type { Tool } from "../tool/tool.ts";
import { asObject, isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { textNotBeginningWith } from "./free-text.ts";
import { terminal } from "./grammar/grammar.ts";
import { moreCalls, plainAnswer } from "./plain-answer.ts";
import type { ReplyShape } from "./reply-shape.ts";

/** A value in Python's notation. */
export function literalOf(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map((item: Json) => literalOf(item)).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${literalOf(field)}`);
  return `{${entries.join(", ")}}`;
}

interface Parameter {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** Keywords that restrict arguments beyond their single properties. */
const sayMore = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "propertyNames", "minProperties"];

/** True if a tool restricts its arguments as a whole, or in terms of the whole schema: they are then written as one object. */
function takesObject({ input: { jsonSchema } }: Tool): boolean {
  const named = mapAt(jsonSchema, "properties");
  const isUnnamed = (name: Json): boolean => typeof name === "string" && !Object.hasOwn(named, name);
  const saysMore = sayMore.some((keyword) => Object.hasOwn(jsonSchema, keyword));
  const leadsToRoot = /"\$ref":"#(?!\/(?:\$defs|definitions)\/)/.test(JSON.stringify(jsonSchema));
  return saysMore || leadsToRoot || listAt(jsonSchema, "required").some(isUnnamed);
}

/** The object of the unnamed arguments of an open tool; undefined if it takes no others. */
function unnamedOf({ input: { jsonSchema } }: Tool): JsonObject | undefined {
  const named = mapAt(jsonSchema, "properties");
  const others = own(jsonSchema, "additionalProperties") ?? !Object.hasOwn(jsonSchema, "properties");
  if (others === false) return undefined;
  const properties = Object.fromEntries(Object.keys(named).map((name) => [name, false]));
  return { ...definitionsOf(jsonSchema), type: "object", properties, additionalProperties: others };
}

/** The schemas of the open parts of a call: all arguments as one object, or each argument, and the object of others. */
function schemasOf(tool: Tool): readonly JsonObject[] {
  if (takesObject(tool)) return [tool.input.jsonSchema];
  const others = unnamedOf(tool);
  return [...parametersOf(tool).map(({ schema }) => schema), ...(others === undefined ? [] : [others])];
}

/** The definitions that references point to. */
function definitionsOf({ $defs, definitions }: JsonObject): JsonObject {
  return {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** The arguments that a tool names, required ones first. References still point to the definitions of the whole schema. */
function parametersOf({ input: { jsonSchema } }: Tool): readonly Parameter[] {
  const needed = listAt(jsonSchema, "required");
  const around = definitionsOf(jsonSchema);
  const parameters = Object.entries(mapAt(jsonSchema, "properties")).map(([name, schema]) => ({
    name,
    schema: { ...asObject(schema), ...around },
    isRequired: needed.includes(name),
  }));
  return [
    ...parameters.filter(({ isRequired }) => isRequired),
    ...parameters.filter(({ isRequired }) => !isRequired),
  ];
}

/**
 * The grammar of lists of calls, or of an answer that does not begin with a bracket. Arguments have names. A tool that names no arguments is called
 * without any.
 */
export function pythonicGrammar(shape: ReplyShape): string {
  const { tools } = shape;
  const schemas = tools.flatMap(schemasOf);
  const grammar = plainAnswer(shape, { text: textNotBeginningWith("["), schemas }, (expressions) => {
    let next = 0;
    const nextValue = (): string => `(${expressions[next++] ?? "value"})`;
    const calls = tools.map((tool, index) => {
      const { name } = tool;
      if (takesObject(tool)) return { name, expression: `"**" ${nextValue()}`, rules: [] };
      const given = parametersOf(tool).map((parameter) => ({ ...parameter, value: nextValue() }));
      const others = unnamedOf(tool) === undefined ? undefined : nextValue();
      return { name, ...callRules({ given, others }, `call-${index}`) };
    });
    const call = calls.map(({ name, expression }) =>
      `${terminal(`${name}(`)} ${expression} ")"`.replace("  ", " "),
    );
    return {
      expression: `"[" call (", " call)${moreCalls} "]"`,
      rules: [`call ::= ${call.join(" | ")}`, ...calls.flatMap(({ rules }) => rules)],
    };
  });
  return shape.output === undefined ? inPython(grammar) : grammar; // an answer with a schema is JSON
}

/** A name that Python accepts for an argument; others are in an object, `**{"user id": 7}`. */
export const argumentName: RegExp = /^[A-Za-z_]\w*$/;

interface Rules {
  readonly expression: string;
  readonly rules: readonly string[];
}

interface CallValues {
  readonly given: readonly (Parameter & { readonly value: string })[];
  /** The rule that writes the object of unnamed arguments. */
  readonly others: string | undefined;
}

/** The arguments of a call: first those with Python names, then an object of those with other names, then one of unnamed arguments. */
function callRules({ given, others }: CallValues, name: string): Rules {
  const plain = given.filter((parameter) => argumentName.test(parameter.name));
  const strange = given.filter((parameter) => !argumentName.test(parameter.name));
  const written: Given[] = plain.map((parameter) => ({
    isRequired: parameter.isRequired,
    expression: `${terminal(`${parameter.name}=`)} ${parameter.value}`,
  }));
  const fields = strange.map((parameter) => ({
    isRequired: parameter.isRequired,
    expression: `${terminal(`${JSON.stringify(parameter.name)}: `)} ${parameter.value}`,
  }));
  const inner = argumentRules(fields, `${name}-object`);
  if (strange.length > 0)
    written.push({
      isRequired: strange.some(({ isRequired }) => isRequired),
      expression: `${terminal("**{")} ${inner.expression} "}"`,
    });
  if (others !== undefined) written.push({ isRequired: false, expression: `"**" ${others}` });
  const outer = argumentRules(written, name);
  return { expression: outer.expression, rules: [...outer.rules, ...inner.rules] };
}

interface Given {
  readonly isRequired: boolean;
  readonly expression: string;
}

/** The required arguments, then any of the others in order: a rule for each place says which may still follow. */
function argumentRules(given: readonly Given[], name: string): Rules {
  const needed = given.filter(({ isRequired }) => isRequired).map(({ expression }) => expression);
  const others = given.filter(({ isRequired }) => !isRequired).map(({ expression }) => expression);
  const tail = (index: number): string => (index < others.length ? ` ${name}-${index}` : "");
  const rules = others.map(
    (expression, index) => `${name}-${index} ::= (", " ${expression})?${tail(index + 1)}`,
  );
  if (needed.length > 0) return { expression: `${needed.join(' ", " ')}${tail(0)}`, rules };
  if (others.length === 0) return { expression: "", rules };
  const first = others.map((expression, index) => `${expression}${tail(index + 1)}`);
  return { expression: `(${first.join(" | ")})?`, rules };
}

/** The same grammar with Python's words in place of JSON's. Text in quotes is not changed. */
function inPython(grammar: string): string {
  return grammar.replaceAll(
    /^(true|false|null) ::= .*$/gm,
    (_, word: string) => `${word} ::= ${terminal(literalOf(JSON.parse(word)))}`,
  );
}
