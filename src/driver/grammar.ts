import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";

/**
 * Compiles a JSON Schema to a GBNF grammar (llama.cpp's `grammars/README.md`) of compact JSON. Optional properties can be left out;
 * required ones come first, each group in the order of the schema. What a grammar cannot say (patterns, bounds, formats, `not`) is
 * allowed here and refused by validation afterwards. The grammar never forbids a value that the schema permits in this order, but for
 * properties that the schema does not name.
 */
export function grammarOf(schema: JsonObject): string {
  return grammarFor([schema], ([start = "value"]) => start);
}

/**
 * The grammar whose root is made of the expressions of several schemas, each compiled as {@link grammarOf} does.
 */
export function grammarFor(
  schemas: readonly JsonObject[],
  rootOf: (expressions: readonly string[]) => string,
): string {
  const rules = new Map(Object.entries(basics));
  const expressions = schemas.map((root) => expression(root, { root, rules, refs: new Map(), depth: 0 }));
  return [`root ::= ${rootOf(expressions)}`, ...[...rules].map(([name, body]) => `${name} ::= ${body}`)].join(
    "\n",
  );
}

/** The expression of a text as it stands. */
export function terminal(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

interface Compiler {
  readonly root: JsonObject;
  readonly rules: Map<string, string>;
  readonly refs: Map<string, string>;
  depth: number;
}

/** Deeper schemas are any JSON from there on. */
const maxDepth = 24;

const basics = {
  value: 'object | array | string | number | "true" | "false" | "null"',
  object: '"{" (string ":" value ("," string ":" value)*)? "}"',
  array: '"[" (value ("," value)*)? "]"',
  string: '"\\"" char* "\\""',
  char: '[^"\\\\\\x00-\\x1f] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  number: 'integer ("." [0-9]{1,17})? ([eE] [-+]? [0-9]{1,3})?',
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  boolean: '"true" | "false"',
};

/** The right side of a rule that writes values of the schema. */
function expression(schema: Json | undefined, compiler: Compiler): string {
  if (schema === false) return '"null"';
  if (!isJsonObject(schema) || compiler.depth > maxDepth) return "value";
  const nested = { ...compiler, depth: compiler.depth + 1 };
  if (typeof schema["$ref"] === "string") return reference(schema, nested);
  if (schema["const"] !== undefined) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return choice(schema["enum"].map(literal));
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(alternatives))
    return choice(alternatives.map((option: Json) => expression(withBase(schema, option), nested)));
  if (Array.isArray(schema["allOf"])) return expression(mergeAll(schema, nested.root), nested);
  const { type } = schema;
  if (Array.isArray(type))
    return choice(type.map((name: Json) => expression({ ...schema, type: name }, nested)));
  return typed(schema, nested);
}

function typed(schema: JsonObject, compiler: Compiler): string {
  const type = schema["type"] ?? (isJsonObject(schema["properties"]) ? "object" : undefined);
  if (type === "object") return objectExpression(schema, compiler);
  if (type === "array") return arrayExpression(schema, compiler);
  if (type === "string") return stringExpression(schema);
  if (type === "null") return '"null"';
  if (type === "number" || type === "integer" || type === "boolean") return type;
  return "value";
}

function objectExpression(schema: JsonObject, compiler: Compiler): string {
  const properties = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const names = Array.isArray(schema["required"]) ? schema["required"] : [];
  const closed = schema["additionalProperties"] === false;
  const unnamed = names.filter(
    (name: Json): name is string => typeof name === "string" && !properties.some(([known]) => known === name),
  );
  if (properties.length === 0) return closed && names.length === 0 ? '"{}"' : "object";
  const field = ([name, property]: [string, Json]): string =>
    `${literal(name)} ":" ${expression(property, compiler)}`;
  const required = [
    ...properties.filter(([name]) => names.includes(name)),
    ...unnamed.map((name): [string, Json] => [name, {}]),
  ].map(field);
  const optional = properties
    .filter(([name]) => !names.includes(name))
    .map((entry) => addRule(field(entry), compiler));
  const tail = optional.map((rule) => `("," ${rule})?`).join(" ");
  if (required.length > 0) return `"{" ${required.join(' "," ')} ${tail} "}"`;
  const firsts = optional.map((rule, index) =>
    [rule, ...optional.slice(index + 1).map((later) => `("," ${later})?`)].join(" "),
  );
  return `"{" (${firsts.join(" | ")})? "}"`;
}

function arrayExpression(schema: JsonObject, compiler: Compiler): string {
  const first = schema["prefixItems"];
  if (Array.isArray(first) && first.length > 0) return tupleExpression(first, schema["items"], compiler);
  const item = addRule(expression(schema["items"], compiler), compiler);
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  const most = typeof schema["maxItems"] === "number" ? schema["maxItems"] : undefined;
  if (most === 0) return '"[]"';
  const more = `("," ${item}){${Math.max(0, least - 1)},${most === undefined ? "" : most - 1}}`;
  return least > 0 ? `"[" ${item} ${more} "]"` : `"[" (${item} ${more})? "]"`;
}

/** All of the first items, and any others that the schema lets follow. */
function tupleExpression(first: readonly Json[], rest: Json | undefined, compiler: Compiler): string {
  const items = first.map((item) => expression(item, compiler)).join(' "," ');
  return rest === false
    ? `"[" ${items} "]"`
    : `"[" ${items} ("," ${addRule(expression(rest, compiler), compiler)})* "]"`;
}

/** Long bounds make grammars slow and are left to validation. */
const longestBound = 400;

function stringExpression(schema: JsonObject): string {
  const most = schema["maxLength"];
  if (typeof most !== "number" || most > longestBound) return "string";
  const least = typeof schema["minLength"] === "number" ? Math.min(schema["minLength"], most) : 0;
  return `"\\"" char{${least},${most}} "\\""`;
}

/** A reference on its own is a rule, so that it can come back to itself; what stands beside it is merged with what it means. */
function reference({ $ref: ref, ...beside }: JsonObject, compiler: Compiler): string {
  if (typeof ref !== "string") return "value";
  const target = resolve(ref, compiler.root);
  if (target === undefined) return "value";
  if (Object.keys(beside).length > 0 && isJsonObject(target))
    return expression(merge(target, beside), compiler);
  const known = compiler.refs.get(ref);
  if (known !== undefined) return known;
  const name = `ref${compiler.rules.size}`;
  compiler.refs.set(ref, name);
  compiler.rules.set(name, "value");
  compiler.rules.set(name, expression(target, { ...compiler, depth: 0 }));
  return name;
}

function resolve(ref: string, root: JsonObject): Json | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let target: Json | undefined = root;
  for (const key of ref.slice(2).split("/")) {
    const name = decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
    target = isJsonObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  return target;
}

function addRule(body: string, compiler: Compiler): string {
  const name = `r${compiler.rules.size}`;
  compiler.rules.set(name, body);
  return name;
}

function choice(options: readonly string[]): string {
  return options.length === 0 ? "value" : `(${options.join(" | ")})`;
}

function literal(value: Json): string {
  return terminal(JSON.stringify(value));
}

/** An alternative keeps what the schema around it says. */
function withBase(schema: JsonObject, option: Json): Json {
  if (!isJsonObject(option)) return option;
  const { anyOf: _anyOf, oneOf: _oneOf, ...base } = schema;
  return merge(base, option);
}

function mergeAll(schema: JsonObject, root: JsonObject): JsonObject {
  const { allOf, ...base } = schema;
  return (Array.isArray(allOf) ? allOf : [])
    .map((part: Json) =>
      isJsonObject(part) && typeof part["$ref"] === "string" ? resolve(part["$ref"], root) : part,
    )
    .filter((part): part is JsonObject => isJsonObject(part))
    .reduce(merge, base);
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const required = [
    ...(Array.isArray(a["required"]) ? a["required"] : []),
    ...(Array.isArray(b["required"]) ? b["required"] : []),
  ];
  const properties = {
    ...(isJsonObject(a["properties"]) ? a["properties"] : {}),
    ...(isJsonObject(b["properties"]) ? b["properties"] : {}),
  };
  return {
    ...a,
    ...b,
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}
