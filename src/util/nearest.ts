/**
 * The known word that was most likely meant, or undefined when none is near: two letters wrong in a long word, one in a short one. Case,
 * hyphens and underscores make no difference. `atMost` so many letters are wrong.
 */
export function nearest(word: string, known: Iterable<string>, atMost = 2): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  const meant = plain(word);
  for (const name of known) {
    const distance = distanceOf(meant, plain(name));
    const allowed = Math.min(meant.length, name.length) < 5 ? 1 : atMost;
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** `; did you mean "name"?` for a word that is near a known one; empty for any other. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

// A longer word is not a slip of the fingers, and would cost its length squared.
const longest = 64;

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, "").slice(0, longest);
}

/** The number of letters that must be put in, left out, replaced or swapped with the next one. */
function distanceOf(from: string, to: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      const swapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const edited = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (same ? 0 : 1));
      next.push(swapped ? Math.min(edited, at(before, j - 2) + 1) : edited);
    }
    before = row;
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
