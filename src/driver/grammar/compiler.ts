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

/** Rules that are made, in the order in which they are needed. */
export type Rules = Map<string, Expression>;

/** Schemas nested deeper are any JSON from there on. */
const maxDepth = 40;
/** Schemas with more places than this are any JSON in those that come last. */
const maxPlaces = 2000;
/** A lighter expression is written in its place, not by a rule. */
const longestInline = 8;

/** The schema that a compiler reads, and the lists that it writes into. */
export interface CompilerOptions {
  readonly root: Json;
  readonly rules: Rules;
  readonly relaxed: Relaxed[];
  /** A name for a rule that no other has, of this schema or of those beside it in the grammar. */
  readonly freshName: () => string;
  /** Writes a value with these schemas, of which there is at least one. */
  readonly write: (parts: Parts, compiler: Compiler) => Expression;
}

/**
 * Writes the values of one schema. The schemas of a value are taken together (`allOf`, `$ref`, an alternative with what stands around it),
 * and each such set is compiled once: that a set comes back inside itself is what makes a grammar recursive.
 */
export class Compiler {
  readonly #options: CompilerOptions;
  readonly #schemas: JudgingSchemas;
  /** The expression of each set of parts; while it is being compiled, a rule that will be. */
  readonly #places = new Map<string, Expression>();
  /** The rules that were referred to while they were being compiled. */
  readonly #handed = new Set<string>();
  /** The sets that are being compiled for the value at hand, without a step into a part of it. */
  #same = new Set<string>();
  #depth = 0;

  constructor(options: CompilerOptions) {
    this.#options = options;
    this.#schemas = judgingSchemas(options.root);
  }

  /** The expression of a value that all of the schemas accept. */
  valueOf(given: readonly Json[]): Expression {
    const outside = this.#same;
    this.#same = new Set();
    const value = this.sameValueOf(given);
    this.#same = outside;
    return value;
  }

  /** As {@link valueOf} for the same value from another side, as an alternative is: without a step into a part of it. */
  sameValueOf(given: readonly Json[]): Expression {
    const { rules, freshName, write } = this.#options;
    const parts = this.#schemas.partsOf(given);
    if (parts === undefined) return never;
    const [first] = parts;
    if (first === undefined) return anyValue;
    const key = this.#schemas.keyOf(parts);
    const known = this.#places.get(key);
    const limit = this.#same.has(key) ? circle : known === undefined ? this.#limit() : undefined;
    if (limit !== undefined) {
      this.relax(first, limit.keyword, limit.reason);
      return anyValue;
    }
    if (known !== undefined) {
      if (known.type === "rule") this.#handed.add(known.name);
      return known;
    }
    const name = freshName();
    this.#places.set(key, rule(name));
    rules.set(name, never); // holds its place until it is known
    this.#same.add(key);
    this.#depth += 1;
    const body = write(parts, this);
    this.#depth -= 1;
    this.#same.delete(key);
    const isShort = weightOf(body) <= longestInline && !this.#handed.has(name);
    if (isShort) rules.delete(name);
    else rules.set(name, body);
    const made = isShort ? body : rule(name);
    this.#places.set(key, made);
    return made;
  }

  /** The schemas that judge a value with these; undefined when nothing fits one of them. */
  partsOf(given: readonly Json[]): Parts | undefined {
    return this.#schemas.partsOf(given);
  }

  /** Puts what is long into a rule of its own, so that it can be written twice. */
  named(expression: Expression): Expression {
    if (weightOf(expression) <= longestInline) return expression;
    const name = this.#options.freshName();
    this.#options.rules.set(name, expression);
    return rule(name);
  }

  /** Lists a keyword that the grammar does not hold to. */
  relax(part: JsonObject, keyword: string, reason: string): void {
    const path = this.#schemas.pathOf(part);
    const { relaxed } = this.#options;
    const isKnown = relaxed.some((one) => one.path === path && one.keyword === keyword);
    if (!isKnown) relaxed.push({ path, keyword, reason });
  }

  /** Lists a keyword of each of the parts that has it. */
  relaxIn(parts: Parts, keyword: string, reason: string): void {
    for (const part of parts) if (Object.hasOwn(part, keyword)) this.relax(part, keyword, reason);
  }

  /** The schema without a keyword; the same object each time. */
  without(part: JsonObject, keyword: string): JsonObject {
    return this.#schemas.without(part, keyword);
  }

  #limit(): Limit | undefined {
    if (this.#depth >= maxDepth)
      return { keyword: "(depth)", reason: `it is nested deeper than ${maxDepth} schemas` };
    return this.#places.size >= maxPlaces
      ? { keyword: "(size)", reason: `the whole schema has more than ${maxPlaces} places` }
      : undefined;
  }
}

const anyValue = rule("value");

interface Limit {
  readonly keyword: string;
  readonly reason: string;
}

const circle: Limit = { keyword: "$ref", reason: "it leads to itself without a step into the value" };

/** An expression with the rules that it needs. */
export interface Closed {
  readonly expression: Expression;
  readonly rules: ReadonlyMap<string, Expression>;
}

/**
 * The expression and its rules without those that cannot be written to an end, since they need themselves.
 */
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
