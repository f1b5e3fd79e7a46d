import { messageOf } from "../../error/writ-error.ts";
import { checkSchema } from "../../schema/check-schema.ts";
import type { JsonObject } from "../../util/json.ts";
import { lazy } from "../../util/remembered.ts";
import { Compiler, type CompilerOptions, type Relaxed, type Rules, withoutEndless } from "./compiler.ts";
import { choice, type Expression, rule, text } from "./expression.ts";
import { jsonWords, textRules } from "./json-text.ts";
import { numberExpression, numberRules } from "./number-range.ts";
import { valueExpression } from "./value-expression.ts";
import { terminal, writeGbnf } from "./write-gbnf.ts";

export { terminal } from "./write-gbnf.ts";
export type { Relaxed } from "./compiler.ts";

/** A grammar, and what of its schema it does not say. */
export interface CompiledGrammar {
  /** GBNF, as llama.cpp reads it. */
  readonly grammar: string;
  /** Empty when every text of the grammar is valid under the schema. Otherwise values are validated after they are written, as ever. */
  readonly relaxed: readonly Relaxed[];
}

/**
 * Compiles a JSON Schema 2020-12 to a GBNF grammar (llama.cpp's `grammars/README.md`) of compact JSON. Never throws, whatever the schema.
 *
 * - Properties come in the order of the schema, each optional one may be left out.
 * - What a grammar cannot say is allowed, and listed in `relaxed`; a text of the grammar is otherwise valid. A schema that nothing fits is
 *   listed too, and its grammar is that of any value.
 * - Every value that the schema permits can be written, in the form of `JSON.stringify` with the properties in this order, but for: properties
 *   that an object neither names nor speaks of (`additionalProperties`, `patternProperties`) when it names some; integers beyond
 *   ±(2^53 - 1), which readers of JSON round; halves of characters; unusual forms of a `format`.
 *
 * @example
 * ```ts
 * import { compileGrammar } from "writ/drivers";
 *
 * const { grammar, relaxed } = compileGrammar({
 *   type: "object",
 *   properties: { days: { type: "integer", minimum: 1, maximum: 14 }, tags: { type: "array", uniqueItems: true } },
 *   required: ["days"],
 * });
 * console.log(grammar, relaxed.map(({ path, keyword }) => `${path} ${keyword}`)); // ["/properties/tags uniqueItems"]
 * ```
 */
export function compileGrammar(schema: JsonObject): CompiledGrammar {
  const relaxed: Relaxed[] = wrongWith(schema);
  return { grammar: grammarWith([schema], ([start = "value"]) => start, relaxed), relaxed };
}

/** The fault of a schema as a whole: a reference that leads nowhere, a keyword with a wrong value. */
function wrongWith(schema: JsonObject): Relaxed[] {
  try {
    if ("~standard" in schema) throw new Error("it is a schema of a library, and not a JSON Schema");
    checkSchema(schema);
    return [];
  } catch (error) {
    return [{ path: "", keyword: "(schema)", reason: messageOf(error) }];
  }
}

/** The grammar of {@link compileGrammar} alone. */
export function grammarOf(schema: JsonObject): string {
  return compileGrammar(schema).grammar;
}

/**
 * The grammar whose root is made of the expressions of several schemas, each compiled as {@link compileGrammar} does. The root can also refer to
 * the rules `value`, `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`, and `char`, which is one character inside a string.
 */
export function grammarFor(
  schemas: readonly JsonObject[],
  rootOf: (expressions: readonly string[]) => string,
): string {
  return grammarWith(schemas, rootOf, []);
}

function grammarWith(
  schemas: readonly JsonObject[],
  rootOf: (expressions: readonly string[]) => string,
  relaxed: Relaxed[],
): string {
  const rules: Rules = new Map();
  let made = 0;
  const freshName = (): string => `r${made++}`;
  const expressions = schemas.map((root) => writeGbnf(startOf({ root, rules, relaxed, freshName })));
  const root = `root ::= ${rootOf(expressions)}`;
  const named = [...rules].map(([name, body]) => writeRule(name, body));
  return [root, basics(), ...named].join("\n");
}

/** Writes the values of a schema. Its rules are added to the others. */
function startOf({ rules, ...options }: Omit<CompilerOptions, "write">): Expression {
  const made: Rules = new Map();
  const whole = new Compiler({ ...options, rules: made, write: valueExpression }).valueOf([options.root]);
  const start = withoutEndless(whole, made);
  if (start.expression.type === "never") {
    options.relaxed.push({ path: "", keyword: "(whole)", reason: "no value that can be written fits it" });
    return rule("value");
  }
  for (const [name, body] of start.rules) rules.set(name, body);
  return start.expression;
}

/** The values of a schema as an expression, with the rules that it names. */
export interface WrittenValues {
  readonly start: Expression;
  /** Without those of any JSON: `value`, `object`, `array`, `string` and `char`. */
  readonly rules: ReadonlyMap<string, Expression>;
}

/** The expression of a schema's values, for a reader that writes them itself. */
export function expressionOf(root: JsonObject): WrittenValues {
  const rules: Rules = new Map();
  let made = 0;
  const start = startOf({ root, rules, relaxed: [], freshName: () => `r${made++}` });
  for (const word of jsonWords) rules.set(word, text(word));
  rules.set("boolean", choice([text("true"), text("false")]));
  const numbers = { number: false, integer: true };
  for (const [name, isInteger] of Object.entries(numbers))
    rules.set(name, numberExpression({ ...anyNumber, isInteger }).expression);
  for (const [name, body] of Object.entries({ ...numberRules(), ...textRules() })) rules.set(name, body);
  return { start, rules };
}

function writeRule(name: string, body: Expression): string {
  const options = body.type === "choice" ? body.options : [body];
  return `${name} ::= ${options.map(writeGbnf).join(" | ")}`;
}

const anyNumber = { least: -Infinity, most: Infinity };

/** The rules that every grammar has. */
const basics = lazy((): string =>
  [
    "value ::= object | array | string | number | boolean | null",
    'object ::= "{" (string ":" value ("," string ":" value)*)? "}"',
    'array ::= "[" (value ("," value)*)? "]"',
    'string ::= "\\"" char* "\\""',
    String.raw`char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-Ce-fE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))`,
    "boolean ::= true | false",
    ...jsonWords.map((word) => `${word} ::= ${terminal(word)}`),
    writeRule("number", numberExpression({ ...anyNumber, isInteger: false }).expression),
    writeRule("integer", numberExpression({ ...anyNumber, isInteger: true }).expression),
    ...Object.entries({ ...numberRules(), ...textRules() }).map(([name, body]) => writeRule(name, body)),
  ].join("\n"),
);
