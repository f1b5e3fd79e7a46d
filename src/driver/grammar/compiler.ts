import type { Json, JsonObject } from "../../util/json.ts";
import { type Expression, never, rewrite, rule, weightOf } from "./expression.ts";
import { judgingSchemas, type JudgingSchemas } from "./judging-schemas.ts";
import type { Parts } from "./parts.ts";

/** Something that a schema says and its grammar does not: validation has to refuse it afterwards. */
export interface Relaxed {
  /** A JSON pointer to the schema. */
  readonly path: string;
  readonly keyword: string;
  readonly reason: string;
}

/** What writes the parts of a value; see {@link compiler}. */
export interface Compiler {
  /** What writes a value that all of the schemas accept. */
  valueOf(schemas: readonly Json[]): Expression;
  /** As {@link valueOf} for the same value from another side, as an alternative is: without a step into a part of it. */
  sameValueOf(schemas: readonly Json[]): Expression;
  /** What judges a value with these schemas; undefined when nothing fits one of them. */
  partsOf(schemas: readonly Json[]): Parts | undefined;
  /** Puts what is long into a rule of its own, so that it can be written twice. */
  named(expression: Expression): Expression;
  relax(part: JsonObject, keyword: string, reason: string): void;
  /** The schema without a keyword; the same object each time. */
  without(part: JsonObject, keyword: string): JsonObject;
}

/** Rules that are made, in the order in which they are needed. */
export type Rules = Map<string, Expression>;

/** Schemas nested deeper are any JSON from there on. */
const maxDepth = 40;
/** Schemas with more places than this are any JSON in those that come last. */
const maxPlaces = 2000;
/** What is lighter is written in its place, not by a rule. */
const longestInline = 8;

/** What a compiler writes into, and by what. */
export interface CompilerOptions {
  readonly root: Json;
  readonly rules: Rules;
  readonly relaxed: Relaxed[];
  /** A name for a rule that no other has, of this schema or of those beside it in the grammar. */
  readonly freshName: () => string;
  /** What writes a value with these schemas, of which there is at least one. */
  readonly write: (parts: Parts, compiler: Compiler) => Expression;
}

interface CompilerState extends CompilerOptions {
  readonly schemas: JudgingSchemas;
  /** What writes each set of parts; while it is being compiled, a rule that will. */
  readonly places: Map<string, Expression>;
  /** The rules that were referred to while they were being compiled. */
  readonly handed: Set<string>;
  /** The sets that are being compiled for the value at hand, without a step into a part of it. */
  same: Set<string>;
  depth: number;
}

/**
 * Makes the compiler of one schema. The schemas of a value are taken together (`allOf`, `$ref`, an alternative with what stands around it),
 * and each such set is compiled once: that a set comes back inside itself is what makes a grammar recursive.
 */
export function compiler(options: CompilerOptions): Compiler {
  const { root, rules, relaxed, freshName } = options;
  const schemas = judgingSchemas(root);
  const state: CompilerState = {
    ...options,
    schemas,
    places: new Map(),
    handed: new Set(),
    same: new Set(),
    depth: 0,
  };
  const self: Compiler = {
    sameValueOf: (given) => placeOf(given, state, self),
    valueOf(given) {
      const outside = state.same;
      state.same = new Set();
      const value = placeOf(given, state, self);
      state.same = outside;
      return value;
    },
    partsOf: (given) => schemas.partsOf(given),
    named(expression) {
      if (weightOf(expression) <= longestInline) return expression;
      const name = freshName();
      rules.set(name, expression);
      return rule(name);
    },
    relax(part, keyword, reason) {
      const path = schemas.pathOf(part);
      const isKnown = relaxed.some((one) => one.path === path && one.keyword === keyword);
      if (!isKnown) relaxed.push({ path, keyword, reason });
    },
    without: (part, keyword) => schemas.without(part, keyword),
  };
  return self;
}

function placeOf(given: readonly Json[], state: CompilerState, self: Compiler): Expression {
  const { schemas, places, handed, rules } = state;
  const parts = schemas.partsOf(given);
  if (parts === undefined) return never;
  const [first] = parts;
  if (first === undefined) return anyValue;
  const key = schemas.keyOf(parts);
  const known = places.get(key);
  const limit = state.same.has(key) ? circle : known === undefined ? limitOf(state) : undefined;
  if (limit !== undefined) {
    self.relax(first, limit.keyword, limit.reason);
    return anyValue;
  }
  if (known !== undefined) {
    if (known.type === "rule") handed.add(known.name);
    return known;
  }
  const name = state.freshName();
  places.set(key, rule(name));
  rules.set(name, never); // holds its place until it is known
  state.same.add(key);
  state.depth += 1;
  const body = state.write(parts, self);
  state.depth -= 1;
  state.same.delete(key);
  const isShort = weightOf(body) <= longestInline && !handed.has(name);
  if (isShort) rules.delete(name);
  else rules.set(name, body);
  const made = isShort ? body : rule(name);
  places.set(key, made);
  return made;
}

const anyValue = rule("value");

interface Limit {
  readonly keyword: string;
  readonly reason: string;
}

const circle: Limit = { keyword: "$ref", reason: "it leads to itself without a step into the value" };

function limitOf({ depth, places }: CompilerState): Limit | undefined {
  if (depth >= maxDepth)
    return { keyword: "(depth)", reason: `it is nested deeper than ${maxDepth} schemas` };
  return places.size >= maxPlaces
    ? { keyword: "(size)", reason: `the whole schema has more than ${maxPlaces} places` }
    : undefined;
}

/** An expression with the rules that it needs. */
export interface Closed {
  readonly expression: Expression;
  readonly rules: ReadonlyMap<string, Expression>;
}

/** What is left of an expression and its rules without what could never be written to an end: a rule that needs itself. */
export function withoutEndless(expression: Expression, rules: ReadonlyMap<string, Expression>): Closed {
  const ending = new Set<string>();
  const isMade = (name: string): boolean => !rules.has(name) || ending.has(name);
  const ends = (part: Expression): boolean => {
    if (part.type === "rule") return isMade(part.name);
    if (part.type === "sequence") return part.parts.every(ends);
    if (part.type === "choice") return part.options.some(ends);
    if (part.type === "repeat") return part.least === 0 || ends(part.of);
    return part.type !== "never";
  };
  for (let before = -1; before < ending.size;) {
    before = ending.size;
    for (const [name, body] of rules) if (!ending.has(name) && ends(body)) ending.add(name);
  }
  const cut = (part: Expression): Expression =>
    rewrite(part, (inner) => (inner.type === "rule" && !isMade(inner.name) ? never : undefined));
  const whole = cut(expression);
  const needed = new Map<string, Expression>();
  const collect = (part: Expression): void => {
    rewrite(part, (inner) => {
      const body = inner.type === "rule" && !needed.has(inner.name) ? rules.get(inner.name) : undefined;
      if (inner.type !== "rule" || body === undefined) return undefined;
      const left = cut(body);
      needed.set(inner.name, left);
      collect(left);
      return undefined;
    });
  };
  collect(whole);
  return { expression: whole, rules: needed };
}
