import { type JsonObject, wholeJson } from "./json.ts";
import { leaveUnheard } from "./maybe.ts";

/**
 * The place at which a value does not fit a shape (`parts[0].text`, empty for the value itself), and the
 * reason: `must be a string, got a list`.
 */
export interface Misfit {
  readonly path: string;
  readonly reason: string;
}

/** The form that a value from outside must have. */
export interface Shape<Value> {
  /** In words: `a string`, `a list of names`. */
  readonly wanted: string;
  /** The first thing in the value that does not fit. */
  readonly misfit: (value: unknown) => Misfit | undefined;
  /** Stands for the type of values that fit. No shape has it. */
  readonly fitting?: Value;
}

/** The values that fit a shape. */
export type Fitting<Of> = Of extends Shape<infer Value> ? Value : never;

/** Says whether the value fits. */
export function fits<Value>(shape: Shape<Value>, value: unknown): value is Value {
  return shape.misfit(value) === undefined;
}

/**
 * Says in a sentence why a value does not fit: `` `parts[0].text` must be a string, got a list ``. Where the value has a `path` of its own, the
 * sentence begins with what stands there: `` `endOn` must be a list of names: `endOn[1]` must be … ``. Undefined when it fits.
 */
export function misfitText(shape: Shape<unknown>, value: unknown, path = ""): string | undefined {
  const found = shape.misfit(value);
  if (found === undefined) return undefined;
  const at = under(path, found).path;
  const fault = `${at === "" ? "it" : `\`${at}\``} ${found.reason}`;
  return path === "" || at === path ? fault : `\`${path}\` must be ${shape.wanted}: ${fault}`;
}

/** A shape by its words and a test of the whole value. `shown` says what stands there instead. */
export function shapeOf<Value>(
  wanted: string,
  test: (value: unknown) => boolean,
  shown: (value: unknown) => string = kindOf,
): Shape<Value> {
  return {
    wanted,
    misfit: (value) =>
      test(value) ? undefined : { path: "", reason: `must be ${wanted}, got ${shown(value)}` },
  };
}

/** The kind of a value that is refused, in words. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value === "") return "an empty text";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) {
    leaveUnheard(value);
    return "a promise (`await` it)";
  }
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A word or a number as it is; the kind of any other value. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  return typeof value === "number" ? String(value) : kindOf(value);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Promise);

export const anything: Shape<unknown> = shapeOf("anything", () => true);
export const string: Shape<string> = shapeOf("a string", (value) => typeof value === "string");
export const filled: Shape<string> = shapeOf(
  "a text that is not empty",
  (value) => typeof value === "string" && value !== "",
);
export const boolean: Shape<boolean> = shapeOf("true or false", (value) => typeof value === "boolean");
export const number: Shape<number> = shapeOf("a number", (value) => typeof value === "number");
export const finite: Shape<number> = shapeOf("a finite number", Number.isFinite, shownValue);
export const record: Shape<Readonly<Record<string, unknown>>> = shapeOf("an object", isRecord);
export const jsonObject: Shape<JsonObject> = shapeOf("an object", isRecord);
export const json: Shape<unknown> = shapeOf("JSON", (value) => wholeJson(value).ok);
export const callable: Shape<unknown> = shapeOf("a function", (value) => typeof value === "function");

/** A number from 0 on. */
export const count: Shape<number> = shapeOf(
  "a number from 0 on",
  (value) => fits(number, value) && value >= 0,
  shownValue,
);

/** A whole number from 0 on. */
export const whole: Shape<number> = shapeOf(
  "a whole number from 0 on",
  (value) => fits(count, value) && Number.isSafeInteger(value),
  shownValue,
);

/** A shape by another name. */
export function named<Value>(wanted: string, shape: Shape<Value>): Shape<Value> {
  return shapeOf(wanted, (value) => fits(shape, value));
}

/** One of these words. */
export function oneOf<const Word extends string | number>(...words: readonly Word[]): Shape<Word> {
  const quoted = words.map((word) => JSON.stringify(word)).join(" or ");
  const wanted = words.length > 3 ? `one of ${words.join(", ")}` : quoted;
  const known = new Set<unknown>(words);
  return shapeOf(wanted, (value) => known.has(value), shownValue);
}

/** A value that fits one of two shapes. */
export function either<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One | Other> {
  return shapeOf(
    `${one.wanted} or ${other.wanted}`,
    (value) => fits(one, value) || fits(other, value),
    shownValue,
  );
}

/** An object with these methods, its own or inherited. */
export function having(wanted: string, ...methods: readonly string[]): Shape<object> {
  return shapeOf(
    wanted,
    (value) => isRecord(value) && methods.every((method) => typeof value[method] === "function"),
  );
}

/** A shape for a field that may be left out. */
export function optional<Value>({ wanted, misfit }: Shape<Value>): Shape<Value | undefined> {
  return { wanted, misfit: (value) => (value === undefined ? undefined : misfit(value)) };
}

/** A shape for a field that may be left out or null. */
export function orNull<Value>({ wanted, misfit }: Shape<Value>): Shape<Value | undefined | null> {
  return {
    wanted,
    misfit: (value) => (value === null ? undefined : optional({ wanted, misfit }).misfit(value)),
  };
}

/** A list of values of one shape. */
export function list<Value>(item: Shape<Value>, wanted = "a list"): Shape<readonly Value[]> {
  return {
    wanted,
    misfit(value) {
      if (!Array.isArray(value)) return notA(wanted, value);
      for (let index = 0; index < value.length; index += 1) {
        const found = item.misfit(value[index]);
        if (found !== undefined) return under(`[${index}]`, found);
      }
      return undefined;
    },
  };
}

type Fields = Readonly<Record<string, Shape<unknown>>>;

/** An object with at least these fields. */
export function object<const Of extends Fields>(
  fields: Of,
  wanted = "an object",
): Shape<{ readonly [Name in keyof Of]: Fitting<Of[Name]> }> {
  const entries = Object.entries(fields);
  return {
    wanted,
    misfit(value) {
      if (!isRecord(value)) return notA(wanted, value);
      for (const [name, shape] of entries) {
        const found = shape.misfit(value[name]);
        if (found !== undefined) return under(name, found);
      }
      return undefined;
    },
  };
}

/** An object whose fields are of one shape, whatever their names. */
export function map<Value>(field: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return {
    wanted: record.wanted,
    misfit: (value) =>
      isRecord(value)
        ? object(Object.fromEntries(Object.keys(value).map((name) => [name, field]))).misfit(value)
        : record.misfit(value),
  };
}

/** An object whose field `tag` says which of these shapes it has. */
export function variants(tag: string, shapes: Fields, wanted = "an object"): Shape<object> {
  const known = new Map<unknown, Shape<unknown>>(Object.entries(shapes));
  const tagged = object({ [tag]: oneOf(...Object.keys(shapes)) }, wanted);
  return {
    wanted,
    misfit(value) {
      const shape = isRecord(value) ? known.get(value[tag]) : undefined;
      return shape === undefined ? tagged.misfit(value) : shape.misfit(value);
    },
  };
}

/** A value of a shape that also passes a test, which is told in words: `must have one name`. */
export function refined<Value>(
  shape: Shape<Value>,
  reason: string,
  test: (value: Value) => boolean,
): Shape<Value> {
  return {
    wanted: shape.wanted,
    misfit: (value) =>
      fits(shape, value) ? (test(value) ? undefined : { path: "", reason }) : shape.misfit(value),
  };
}

function notA(wanted: string, value: unknown): Misfit {
  return { path: "", reason: `must be ${wanted}, got ${kindOf(value)}` };
}

/** The misfit of a part, told of the whole. */
function under(step: string, { path, reason }: Misfit): Misfit {
  const isJoined = step === "" || path === "" || path.startsWith("[");
  return { path: `${step}${isJoined ? "" : "."}${path}`, reason };
}
