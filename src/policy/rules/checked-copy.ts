import { messageOf, WritError } from "../../error/writ-error.ts";
import { fits, object, type Shape, string } from "../../util/shape.ts";
import { sameWritten } from "../../util/written-at.ts";

/**
 * A deep frozen copy of a value with this shape.
 *
 * @throws WritError `policy-invalid` with the path of the first fault
 */
export function checkedCopy<Value>(given: unknown, shape: Shape<Value>): Value {
  const copy = copied(given);
  if (fits(shape, copy)) return copy;
  const { path = "", reason = "" } = shape.misfit(copy) ?? {};
  const name = fits(object({ name: string }), copy) ? copy.name : "?";
  throw new WritError("policy-invalid", { name, reason: `\`${path || "policy"}\` ${reason}` });
}

function copied(given: unknown): unknown {
  try {
    return plainCopy(given, []);
  } catch (error) {
    const reason = `it cannot be read: ${messageOf(error)}`;
    throw new WritError("policy-invalid", { name: "?", reason }, { cause: error });
  }
}

type Path = readonly (string | number)[];

/** The deepest nesting of conditions: deeper ones are not meant seriously, and would overflow the stacks of readers. */
const deepest = 32;
const longest = 10_000;

/**
 * A deep frozen copy of lists, plain objects and their own fields. Other values are kept as they are. Undefined fields are left out.
 *
 * @throws TypeError with the path of a getter (which is not run), of an object of a class, of a field `__proto__`, of a number that is not finite,
 * and of a value that is too deep or too long
 */
function plainCopy(value: unknown, path: Path): unknown {
  if (path.length > deepest) throw faultAt(path, `is nested deeper than ${deepest} levels`);
  if (typeof value === "number" && !Number.isFinite(value))
    throw faultAt(path, `must be a finite number, got ${value}`);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length > longest) throw faultAt(path, `has more than ${longest} elements`);
    return Object.freeze(Array.from({ length: value.length }, (_, index) => copyOfField(value, index, path)));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw faultAt(path, "must be a plain object");
  const fields = Object.keys(value).map((key) => [key, copyOfField(value, key, path)] as const);
  const copy = Object.freeze(Object.fromEntries(fields.filter(([, field]) => field !== undefined)));
  sameWritten(copy, value);
  return copy;
}

function copyOfField(value: object, key: string | number, path: Path): unknown {
  if (key === "__proto__") throw faultAt(path, 'has the field "__proto__", which is refused');
  const descriptor = Object.getOwnPropertyDescriptor(value, key);
  if (descriptor !== undefined && !("value" in descriptor))
    throw faultAt(path, `has a getter for ${JSON.stringify(key)}, which is refused`);
  return plainCopy(descriptor?.value, [...path, key]);
}

function faultAt(path: Path, reason: string): TypeError {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  return new TypeError(`\`${steps.join("").slice(1) || "policy"}\` ${reason}`);
}
