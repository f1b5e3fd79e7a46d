import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { checkFields } from "../../adapters/files/check-fields.ts";
import { readFields } from "../../adapters/files/located.ts";
import { readText } from "../../adapters/files/read-text.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { RecordedRun } from "./eval-case.ts";
import type { EvalReport } from "./eval-report.ts";
import { casesInvalid, type LocatedCase, recordedEnding } from "./read-cases.ts";

/** The runs of the cases of one file, by the name of the case. */
type Recordings = Readonly<Record<string, readonly RecordedRun[]>>;

const maxBytes = 67_108_864;

const replies = {
  type: "object",
  properties: {
    features: { type: "object" },
    replies: {
      type: "array",
      items: { type: "object", properties: { asked: { type: "string" } }, required: ["asked"] },
    },
  },
  required: ["features", "replies"],
} as const;

const snapshot = {
  type: "object",
  properties: { calls: { type: "array", items: { type: "object" } } },
  required: ["outcome", "answer", "calls"],
} as const;

const recordedFields: JsonSchema = {
  type: "object",
  properties: {
    cases: {
      type: "object",
      additionalProperties: {
        type: "array",
        items: {
          type: "object",
          properties: {
            agent: replies,
            inside: { type: "object", additionalProperties: replies },
            judge: replies,
            snapshot,
          },
          additionalProperties: false,
        },
      },
    },
  },
  required: ["cases"],
};

/**
 * Gives each case its recording, from the file beside its own: `weather.yaml` has
 * `weather.recorded.json`.
 *
 * @throws WritError `eval-cases-invalid` for a file that is not a recording
 */
export async function withRecordings(cases: readonly LocatedCase[]): Promise<readonly LocatedCase[]> {
  const files = [...new Set(cases.map(({ where }) => recordedPath(where)))].filter((path) =>
    existsSync(path),
  );
  const read = new Map(
    await Promise.all(files.map(async (path) => [path, await readRecordings(path)] as const)),
  );
  return cases.map((located) => {
    const known = read.get(recordedPath(located.where)) ?? {};
    const { name } = located.fields;
    const recorded = Object.hasOwn(known, name) ? known[name] : undefined;
    return recorded === undefined ? located : { ...located, fields: { ...located.fields, recorded } };
  });
}

/**
 * Writes the recordings of cases that ended beside the files of these cases, and returns the paths. Recordings of other
 * cases of a file stay, and so does that of a case in which a model gave no answer.
 *
 * @throws WritError `eval-cases-invalid`, `option-invalid` if a file cannot be written
 */
export async function writeRecordings({ cases }: EvalReport): Promise<readonly string[]> {
  const byPath = new Map<string, Record<string, readonly RecordedRun[]>>();
  for (const { file, name, status, runs } of cases) {
    const recorded = runs.flatMap((run) => run.recorded ?? []);
    if (file === undefined || status === "not-run" || recorded.length < runs.length) continue;
    const path = recordedPath(file);
    byPath.set(path, { ...byPath.get(path), [name]: recorded });
  }
  for (const [path, own] of byPath) {
    const kept = existsSync(path) ? await readRecordings(path) : {};
    await writeWhole(path, { cases: { ...kept, ...own } });
  }
  return [...byPath.keys()];
}

async function writeWhole(path: string, value: object): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
  } catch (cause) {
    const advice = `${path} cannot be written: ${messageOf(cause)}`;
    throw new WritError("option-invalid", { option: "--record", value: path, advice }, { cause });
  }
}

async function readRecordings(path: string): Promise<Recordings> {
  const { text } = await readText(path, { maxBytes });
  const read = await readFields({ text, format: "json" });
  if (!read.ok) throw casesInvalid([{ file: path, ...read.problem }]);
  const problems = await checkFields(read, { schema: recordedFields, file: path });
  if (problems.length > 0) throw casesInvalid(problems);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its schema took them
  return read.fields["cases"] as unknown as Recordings;
}

/** The file with the recordings of the cases of a file. */
export function recordedPath(file: string): string {
  return `${file.slice(0, file.length - extname(file).length)}${recordedEnding}`;
}
