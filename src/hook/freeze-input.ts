/**
 * A copy of a hook's input that the hook cannot change: writing to it fails, rather than changing
 * what others see, or doing nothing without a word. Messages are frozen in place,
 * because nobody writes to them, and only when they are read, because there can be many; tools and models work
 * with the rest, so a hook gets a copy of that.
 */
export function freezeInput<At extends object>(at: At): At {
  const given = {};
  const fields: [string, unknown][] = Object.entries(at);
  for (const [field, value] of fields)
    Object.defineProperty(given, field, { enumerable: true, ...propertyOf(field, value) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the fields of what it was made of
  return Object.freeze(given) as At;
}

function propertyOf(field: string, value: unknown): PropertyDescriptor {
  if (field !== "messages" && field !== "transcript") return { value: frozenCopy(value) };
  return {
    get() {
      freeze(typeof value === "object" && value !== null && "messages" in value ? value.messages : value);
      return value;
    },
  };
}

/** Freezes a value and everything in it. A frozen value counts as frozen throughout: the messages of earlier turns cost nothing. */
function freeze(value: unknown): void {
  if (!isPlain(value) || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const field of Object.values(value)) freeze(field);
}

/** A copy that cannot be changed, of a value and of everything plain in it. */
export function frozenCopy<Value>(value: Value): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a copy has the type of the value it is made of
  return copied(value) as Value;
}

function copied(value: unknown): unknown {
  if (!isPlain(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((entry) => copied(entry)));
  const fields = Object.entries(value).map(
    ([key, field]: [string, unknown]) => [key, copied(field)] as const,
  );
  return Object.freeze(Object.fromEntries(fields));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
