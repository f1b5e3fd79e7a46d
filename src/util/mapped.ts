/**
 * A list of what `change` makes of each item, as `map` gives it, for code that every step passes. V8's interpreter makes a list without holes in `map`,
 * and V8's compilers make a list that may have holes. V8 throws away the code that reads such a list when the compiled code takes over.
 */
export function mapped<Item, Made>(
  items: readonly Item[],
  change: (item: Item, index: number) => Made,
): Made[] {
  const made: Made[] = [];
  for (const item of items) made.push(change(item, made.length));
  return made;
}
