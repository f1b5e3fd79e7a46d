/** Ways of working, by their names, with the tools of each. */
export type Skills = Readonly<Record<string, readonly string[]>>;

/** The allow-list of a task, and what it is made of. */
export interface ChosenTools {
  /** The names of the skills, none where the policy file has no skills. */
  readonly skills: readonly string[];
  readonly tools: readonly string[];
}

/**
 * The allow-list that a task is given: the skill with the fewest tools that has all that the task needs; where no skill has them all, the fewest
 * skills that have them together; of several ways, the one with the fewest tools, then the first in the file. A tool that no skill has stays out.
 */
export function chooseTools(skills: Skills, needed: readonly string[]): ChosenTools {
  const names = Object.keys(skills);
  const known = new Set(Object.values(skills).flat());
  const wanted = [...new Set(needed)].filter((name) => known.has(name));
  for (let size = 1; size <= names.length; size += 1) {
    const best = combinations(names, size)
      .map((some) => ({ skills: some, tools: [...new Set(some.flatMap((name) => skills[name] ?? []))] }))
      .filter(({ tools }) => wanted.every((name) => tools.includes(name)))
      .toSorted((a, b) => a.tools.length - b.tools.length)[0];
    if (best !== undefined) return best;
  }
  return { skills: names, tools: [...known] };
}

function combinations(names: readonly string[], size: number): readonly (readonly string[])[] {
  if (size === 0) return [[]];
  return names.flatMap((name, index) =>
    combinations(names.slice(index + 1), size - 1).map((rest) => [name, ...rest]),
  );
}
