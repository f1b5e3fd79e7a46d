/**
 * Remembers what `make` makes of an object, as long as the object lives. The value must depend on that object alone, and on what never changes.
 * Where the objects belong to a run, it must not hold them either: V8 keeps such a pair until it collects everything, with all that it can see.
 * A value of two objects is `remembered((one) => remembered((other) => …))`: what `make` can see is the key.
 */
export function remembered<Key extends object, Made extends object | string | boolean>(
  make: (key: Key) => Made,
): (key: Key) => Made {
  const known = new WeakMap<Key, Made>();
  return (key) => {
    let made = known.get(key);
    if (made === undefined) known.set(key, (made = make(key)));
    return made;
  };
}

/** Gives a value that is made when it is first asked for, and kept. What throws is tried again. */
export function lazy<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
