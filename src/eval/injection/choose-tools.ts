/** Ways of working, by their names, with the tools of each. */
export type Skills = Readonly<Record<string, readonly string[]>>;

/** The allow-list of a task, with the skills that it comes from. */
export interface ChosenTools {
  /** The names of the skills; empty if the policy file has no skills. */
  readonly skills: readonly string[];
  readonly tools: readonly string[];
}

/**
 * The allow-list of a task: the skill with the fewest tools that has all tools the task needs. If no skill has them all, it takes one skill after another:
 * the one with most of the missing tools; of several, the one with the fewest tools, then the first in the file. Skills that the others make unnecessary
 * are dropped. A tool that no skill has is left out. Time grows with skills × tools.
 */
export function chooseTools(skills: Skills, needed: readonly string[]): ChosenTools {
  const all = Object.entries(skills).map(([name, tools]) => ({ name, tools: new Set(tools) }));
  const known = new Set(Object.values(skills).flat());
  const wanted = new Set(needed.filter((name) => known.has(name)));
  const bySize = all.toSorted((a, b) => a.tools.size - b.tools.size);
  const whole = bySize.find(({ tools }) => wanted.isSubsetOf(tools));
  const chosen = whole === undefined ? without(covering(bySize, wanted), wanted) : [whole];
  const names = all.filter((each) => chosen.includes(each)).map(({ name }) => name);
  return { skills: names, tools: [...new Set(names.flatMap((name) => skills[name] ?? []))] };
}

interface Named {
  readonly name: string;
  readonly tools: ReadonlySet<string>;
}

function covering(bySize: readonly Named[], wanted: ReadonlySet<string>): readonly Named[] {
  const chosen: Named[] = [];
  for (let missing = wanted; missing.size > 0;) {
    const gain = ({ tools }: Named): number => missing.intersection(tools).size;
    const best = bySize.reduce((first, other) => (gain(other) > gain(first) ? other : first));
    chosen.push(best);
    missing = missing.difference(best.tools);
  }
  return chosen;
}

/** The skills without those that later ones made unnecessary. */
function without(chosen: readonly Named[], wanted: ReadonlySet<string>): readonly Named[] {
  return chosen.reduce((kept, each) => {
    const others = kept.filter((other) => other !== each);
    return wanted.isSubsetOf(new Set(others.flatMap(({ tools }) => [...tools]))) ? others : kept;
  }, chosen);
}
