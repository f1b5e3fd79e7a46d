import type { Leaf } from "./values.ts";

/** More texts beside each other are no name. */
const mostParts = 6;

/** The names, as people write them, that texts beside each other in an object are parts of: `first_name` and `last_name`, in either order. */
export function dividedNames(leaves: readonly Leaf[]): ReadonlyMap<Leaf, readonly string[]> {
  const named = new Map<Leaf, readonly string[]>();
  const texts = leaves.flatMap((leaf) => {
    const { path, value: text } = leaf;
    return path.includes(".") && typeof text === "string" && text !== "" ? [{ leaf, path, text }] : [];
  });
  const byPlace = Map.groupBy(texts, ({ path }) => path.slice(0, path.lastIndexOf(".")));
  for (const group of byPlace.values())
    for (const { leaf, text } of group.length > mostParts ? [] : group)
      named.set(
        leaf,
        group.flatMap((other) => (other.leaf === leaf ? [] : together(text, other.text))),
      );
  return named;
}

function together(one: string, other: string): readonly string[] {
  return [`${one} ${other}`, `${other} ${one}`];
}
