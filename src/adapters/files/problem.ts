/** One thing that is wrong with a file. */
export interface Problem {
  /** The path of the file, as people are told it. */
  readonly file: string;
  /** Counted from 1; left out where it is not known. */
  readonly line?: number;
  /** The field, like `skills[0].name`. */
  readonly field?: string;
  readonly reason: string;
}

/** Problems for a message, one a line: `agents/a.md:4: tols: unknown`. */
export function problemLines(problems: readonly Problem[]): string {
  const lines = problems.map(({ file, line, field, reason }) => {
    const place = line === undefined ? file : `${file}:${line}`;
    return [place, ...(field === undefined || field === "" ? [] : [field]), reason].join(": ");
  });
  return lines.length === 1 ? lines.join("") : lines.map((line) => `\n  ${line}`).join("");
}
