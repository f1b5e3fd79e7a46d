/** One difference between two manifests, and its effect on the agent's powers. */
export interface ManifestChange {
  readonly type: "widened" | "narrowed" | "changed";
  /** The place, from the outermost field: `skills`, `mail`, `tools`, `send`, `effect`. */
  readonly path: string;
  readonly text: string;
}

/** The fields on the way to a place. */
export type Path = readonly string[];

export function note(type: ManifestChange["type"], path: Path, text: string): ManifestChange {
  return { type, path: path.join(" › "), text };
}

/** The place and name of a list, and the kinds of change if an entry is added or removed. */
export interface Sides {
  readonly path: Path;
  readonly what: string;
  /** The kind of change if an entry was added. */
  readonly more: ManifestChange["type"] | ((entry: string) => ManifestChange["type"]);
  /** The kind of change if an entry was removed. */
  readonly less: ManifestChange["type"];
}

/** The texts that were added and removed. */
export function compareSets(
  before: readonly string[],
  after: readonly string[],
  { path, what, more, less }: Sides,
): readonly ManifestChange[] {
  return [
    ...after
      .filter((each) => !before.includes(each))
      .map((each) => note(typeof more === "function" ? more(each) : more, path, `new ${what} ${each}`)),
    ...before
      .filter((each) => !after.includes(each))
      .map((each) => note(less, path, `${what} ${each} is gone`)),
  ];
}

/** Walks the names of two records in order: those in one of them, and those in both. */
export function compareRecords<Value>(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
  compare: (name: string, was: Value | undefined, is: Value | undefined) => readonly ManifestChange[],
): readonly ManifestChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const at = (record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
    Object.hasOwn(record, name) ? record[name] : undefined;
  return names.flatMap((name) => compare(name, at(before, name), at(after, name)));
}

/** The change of a step on a scale from narrow to wide. */
export function compareStep(
  [was, is]: readonly [was: string, is: string],
  scale: readonly string[],
  path: Path,
): readonly ManifestChange[] {
  if (was === is) return [];
  const isWider = scale.indexOf(is) > scale.indexOf(was);
  return [note(isWider ? "widened" : "narrowed", path, `${was} → ${is}`)];
}

/** The change of something that is so or not; more is permitted where it is so. */
export function compareFlag(was: boolean, is: boolean, path: Path): readonly ManifestChange[] {
  return compareStep([String(was), String(is)], ["false", "true"], path);
}
