import { listAt, mapAt } from "../schema/keywords.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { textNotBeginningWith } from "./free-text.ts";
import { terminal } from "./grammar/grammar.ts";
import { moreCalls, plainAnswer } from "./plain-answer.ts";
import type { ReplyShape } from "./reply-shape.ts";

/** A value as Python writes it. */
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

/** The arguments that a tool names, those that it needs first. References still lead to the definitions of the whole schema. */
function parametersOf({ input: { jsonSchema } }: Tool): readonly Parameter[] {
  const { $defs, definitions } = jsonSchema;
  const needed = listAt(jsonSchema, "required");
  const around = {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
  const parameters = Object.entries(mapAt(jsonSchema, "properties")).map(([name, schema]) => ({
    name,
    schema: { ...(isJsonObject(schema) ? schema : {}), ...around },
    isRequired: needed.includes(name),
  }));
  return [
    ...parameters.filter(({ isRequired }) => isRequired),
    ...parameters.filter(({ isRequired }) => !isRequired),
  ];
}

/**
 * The grammar of lists of calls, or an answer that begins with no bracket. Arguments have names. A tool that names none of its own is called
 * without.
 */
export function pythonicGrammar(shape: ReplyShape): string {
  const { tools } = shape;
  const parameters = tools.map(parametersOf);
  const schemas = parameters.flat().map(({ schema }) => schema);
  const grammar = plainAnswer(shape, { text: textNotBeginningWith("["), schemas }, (expressions) => {
    let next = 0;
    const calls = tools.map(({ name }, tool) => {
      const given = (parameters[tool] ?? []).map((parameter) => ({
        ...parameter,
        value: `(${expressions[next++] ?? "value"})`,
      }));
      return { name, ...callRules(given, `call-${tool}`) };
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

/** A name that Python takes for an argument; others stand in an object, `**{"user id": 7}`. */
export const argumentName: RegExp = /^[A-Za-z_]\w*$/;

interface Rules {
  readonly expression: string;
  readonly rules: readonly string[];
}

/** The arguments of a call: those that have names of Python, then an object of the others. */
function callRules(given: readonly (Parameter & { readonly value: string })[], name: string): Rules {
  const plain = given.filter((parameter) => argumentName.test(parameter.name));
  const others = given.filter((parameter) => !argumentName.test(parameter.name));
  const written = plain.map((parameter) => ({
    isRequired: parameter.isRequired,
    expression: `${terminal(`${parameter.name}=`)} ${parameter.value}`,
  }));
  if (others.length === 0) return argumentRules(written, name);
  const fields = others.map((parameter) => ({
    isRequired: parameter.isRequired,
    expression: `${terminal(`${JSON.stringify(parameter.name)}: `)} ${parameter.value}`,
  }));
  const inner = argumentRules(fields, `${name}-object`);
  const object = {
    isRequired: others.some(({ isRequired }) => isRequired),
    expression: `${terminal("**{")} ${inner.expression} "}"`,
  };
  const outer = argumentRules([...written, object], name);
  return { expression: outer.expression, rules: [...outer.rules, ...inner.rules] };
}

interface Given {
  readonly isRequired: boolean;
  readonly expression: string;
}

/** Those that are needed, then any of the others in their order: a rule for each place says what may still come there. */
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

/** The same grammar with the words of Python for those of JSON. */
function inPython(grammar: string): string {
  return grammar.replaceAll(
    /(?<!\\)"(true|false|null)"(?!\\)/g,
    (_, word: string) => `"${literalOf(JSON.parse(word))}"`,
  );
}
