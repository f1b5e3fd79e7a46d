import type { ListedRun } from "./view.ts";

/** A filter of runs: fields with their wanted values, and words that must occur. */
export interface WantedRuns {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly words: readonly string[];
  /** Fields that do not exist. */
  readonly unknown: readonly string[];
}

/** The fields by which runs are filtered, each with its test. */
const fields: Readonly<Record<string, (run: ListedRun, value: string) => boolean>> = {
  status: ({ status }, value) => status.startsWith(value),
  agent: ({ agent }, value) => has(agent, value),
  tool: ({ tools }, value) => tools.some((tool) => has(tool, value)),
  session: ({ session = "" }, value) => has(session, value),
  id: ({ id }, value) => has(id, value),
  fork: ({ forkOf = "" }, value) => (value === "yes" ? forkOf !== "" : has(forkOf, value)),
  refused: ({ refused }, value) => (value === "no" ? refused === 0 : refused > 0),
  calls: ({ calls }, value) => isWithin(calls, value),
  turns: ({ turns }, value) => isWithin(turns, value),
  tokens: ({ tokens = 0 }, value) => isWithin(tokens, value),
};

/** The names of the fields. */
export const filterFields: readonly string[] = Object.keys(fields);

const has = (text: string, part: string): boolean => text.toLowerCase().includes(part);

/** `>3`, `>=3`, `<3`, `<=3`, `3`. */
function isWithin(count: number, value: string): boolean {
  const [, sign = "", isAlso = "", text = ""] = /^([<>]?)(=?)(.*)$/.exec(value) ?? [];
  const bound = Number(text);
  if (count === bound) return sign === "" || isAlso !== "";
  return sign === ">" ? count > bound : sign === "<" && count < bound;
}

/** A field with its value. An address, `https://…`, is a word. */
const field = /^([a-z]+):(?!\/\/)(.*)$/;

/** Reads a filter: `status:waiting tool:send_mail invoice`. */
export function readFilter(text: string): WantedRuns {
  const parts = text
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== "");
  const named = parts.flatMap((part) => {
    const [, name = "", value = ""] = field.exec(part) ?? [];
    return name === "" ? [] : [{ name, value }];
  });
  return {
    fields: named.filter(({ name, value }) => Object.hasOwn(fields, name) && value !== ""),
    words: parts.filter((part) => !field.test(part)),
    unknown: named.filter(({ name }) => !Object.hasOwn(fields, name)).map(({ name }) => name),
  };
}

/** The wanted runs. `found` are the ids of those whose records contain the words, as far as that is known. */
export function filterRuns(
  runs: readonly ListedRun[],
  wanted: WantedRuns,
  found: ReadonlySet<string> = new Set(),
): readonly ListedRun[] {
  if (wanted.fields.length === 0 && wanted.words.length === 0) return runs;
  return runs.filter(
    (run) =>
      wanted.fields.every(({ name, value }) => fields[name]?.(run, value) === true) &&
      (found.has(run.id) || wanted.words.every((word) => standsIn(run, word))),
  );
}

function standsIn({ id, agent, asked, told, tools }: ListedRun, word: string): boolean {
  return (
    has(id, word) ||
    has(agent, word) ||
    has(asked, word) ||
    has(told, word) ||
    tools.some((tool) => has(tool, word))
  );
}
