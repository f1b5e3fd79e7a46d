import { readdir, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { checkFields } from "../../adapters/files/check-fields.ts";
import { type Located, readFields } from "../../adapters/files/located.ts";
import { type Problem, problemLines } from "../../adapters/files/located.ts";
import { readText, reasonOf } from "../../adapters/files/read-text.ts";
import { WritError } from "../../error/writ-error.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { caseFields, caseListFields } from "./case-fields.ts";
import type { EvalCase } from "./eval-case.ts";
import { expanded } from "./expanded.ts";

/** A case, with the place of each of its fields. */
export interface LocatedCase {
  readonly fields: EvalCase;
  /** The path of its file as messages name it; for a case of a program, the words that name it. */
  readonly where: string;
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

const maxBytes = 1_048_576;
const endings: readonly string[] = [".json", ".yaml", ".yml"];

/** The end of the name of a file that `--record` writes: it holds no cases. */
export const recordedEnding = ".recorded.json";

/**
 * Reads the cases of a file, or of all `.json`, `.yaml` and `.yml` files of a folder, in the order of their
 * names. Hidden files, folders in it and `*.recorded.json` are ignored. A file holds one case, or several
 * under `cases`. A case that is alone in its file may leave out its `name`; the file's name is used then.
 *
 * @throws WritError `eval-cases-invalid` with everything that is wrong in all files, each fault with its line and
 * field
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { evaluate, readCases } from "writ/eval";
 *
 * const greeter = agent({ name: "greeter", model: "ollama/qwen2.5:7b" });
 * const report = await evaluate(greeter, await readCases("evals"));
 * console.log(report.counts);
 * ```
 */
export async function readCases(path: string): Promise<readonly EvalCase[]> {
  return (await readLocatedCases(path)).map(({ fields }) => fields);
}

/** The same cases, with the places of their fields. */
export async function readLocatedCases(path: string): Promise<readonly LocatedCase[]> {
  const files = await filesAt(path);
  const read = await Promise.all(files.map(readFile));
  const problems = read.flatMap((each) => each.problems);
  if (files.length === 0)
    problems.push({ file: path, reason: `there is no file in it that ends in ${endings.join(", ")}` });
  if (problems.length > 0) throw casesInvalid(problems);
  return read.flatMap(({ cases }) => cases);
}

/** The error that says what is wrong with cases. */
export function casesInvalid(problems: readonly Problem[]): WritError {
  return new WritError("eval-cases-invalid", { problems: problemLines(problems) });
}

async function filesAt(path: string): Promise<readonly string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter(({ name }) => endings.includes(extname(name)) && !name.startsWith("."))
      .filter((entry) => !entry.isDirectory() && !entry.name.endsWith(recordedEnding))
      .map(({ name }) => join(path, name))
      .toSorted();
  } catch (error) {
    throw casesInvalid([{ file: path, reason: reasonOf(error) }]);
  }
}

interface ReadFile {
  readonly cases: readonly LocatedCase[];
  readonly problems: readonly Problem[];
}

async function readFile(file: string): Promise<ReadFile> {
  const located = await locatedIn(file);
  if ("reason" in located) return { cases: [], problems: [{ file, ...located }] };
  const { fields, lineOf } = located;
  const { cases } = fields;
  const made = (own: Json, place: readonly (string | number)[]): LocatedCase => ({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- cases with problems are not played
    fields: { ...(own as unknown as EvalCase), file },
    where: file,
    lineOf: (path) => lineOf([...place, ...path]),
  });
  if (!Array.isArray(cases)) {
    const own = { name: basename(file, extname(file)), ...expanded(fields) };
    const problems = await checkFields({ ...located, fields: own }, { schema: caseFields, file });
    return { cases: [made(own, [])], problems };
  }
  const own = (cases as readonly Json[]).map((entry) => (isJsonObject(entry) ? expanded(entry) : entry));
  const all = { ...fields, cases: own };
  const problems = await checkFields({ ...located, fields: all }, { schema: caseListFields, file });
  return { cases: own.map((entry, index) => made(entry, ["cases", index])), problems };
}

async function locatedIn(file: string): Promise<Located | Pick<Problem, "line" | "field" | "reason">> {
  const ending = extname(file);
  if (!endings.includes(ending)) return { reason: `its name must end in ${endings.join(", ")}` };
  try {
    const { text, leftOutBytes } = await readText(file, { maxBytes });
    if (leftOutBytes > 0) return { reason: `it is larger than ${maxBytes} bytes` };
    const read = await readFields({ text, format: ending === ".json" ? "json" : "yaml" });
    return read.ok ? read : read.problem;
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}
