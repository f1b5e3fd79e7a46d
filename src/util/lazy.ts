/** Gives a value that is made when it is first asked for, and kept. What throws is tried again. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
