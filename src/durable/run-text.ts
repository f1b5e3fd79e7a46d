import { WritError } from "../error/writ-error.ts";
import { fingerprint } from "../util/hash.ts";
import {
  anything,
  jsonObject,
  list,
  misfitText,
  object,
  optional,
  type Shape,
  shapeOf,
  string,
  whole,
} from "../util/shape.ts";
import type { MovedRun } from "./run-store.ts";

/** The version of the form in which runs are exported. Later versions are not read. */
const version = 1;

/**
 * A run as text, one JSON object per line: the run with the version of the form, each record, each question, and the numbers of both with the fingerprint
 * of the lines before, so that a text that was cut or changed is noticed.
 */
export function runText({ run, records, questions }: MovedRun): string {
  const lines = [
    { form: "writ-run", version, run },
    ...records.map((record) => ({ record })),
    ...questions.map((question) => ({ question })),
  ].map((line) => JSON.stringify(line));
  const end = { records: records.length, questions: questions.length };
  const last = JSON.stringify({ end, fingerprint: fingerprintOf(lines) });
  return [...lines, last].map((line) => `${line}\n`).join("");
}

function fingerprintOf(lines: readonly string[]): string {
  return fingerprint(lines.join("\n"));
}

type Line = Readonly<Record<string, unknown>>;

/** The run in a text. @throws WritError `export-broken`, `export-newer` */
export function readRunText(text: string): MovedRun {
  const texts = text.trim().split(/\r?\n/);
  const lines = texts.map(readLine);
  const [first = {}] = lines;
  const found = first["version"];
  if (first["form"] === "writ-run" && typeof found === "number" && found > version)
    throw new WritError("export-newer", { version: found, known: version });
  lines.forEach((line, index) => checkLine(line, index, lines.length));
  const those = (name: string): readonly unknown[] =>
    lines.slice(1, -1).flatMap((line) => (line[name] === undefined ? [] : [line[name]]));
  const [records, questions] = [those("record"), those("question")];
  const said = JSON.stringify(lines.at(-1)?.["end"]);
  const counted = JSON.stringify({ records: records.length, questions: questions.length });
  if (said !== counted) throw broken(lines.length, `it counts ${said}, and there are ${counted}`);
  const made = lines.at(-1)?.["fingerprint"]; // earlier versions wrote none
  if (made !== undefined && made !== fingerprintOf(texts.slice(0, -1)))
    throw broken(lines.length, "it was changed: the lines before do not have its fingerprint");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its lines were checked; the rest is JSON that a store wrote
  return { run: first["run"], records, questions } as MovedRun;
}

function readLine(text: string, index: number): Line {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each line is checked before it is used
    return Object(JSON.parse(text)) as Line;
  } catch {
    throw broken(index + 1, "it is not JSON");
  }
}

const jsonText = shapeOf("JSON text", (value) => {
  try {
    return typeof value === "string" && (JSON.parse(value), true);
  } catch {
    return false;
  }
});
const end = object({ outcome: object({ type: string }) });
const header = object({
  form: shapeOf("writ-run", (value) => value === "writ-run"),
  version: whole,
  run: object({
    id: string,
    agent: string,
    input: anything,
    options: jsonObject,
    session: optional(string),
    protocol: whole,
    status: string,
    begunAt: whole,
    endedAt: optional(whole),
    end: optional(end),
    moves: optional(whole),
  }),
});
const entry = object({
  record: optional(object({ key: string, fingerprint: string, json: optional(jsonText) })),
  question: optional(
    object({
      key: string,
      fingerprint: string,
      since: whole,
      request: jsonObject,
      until: optional(whole),
      last: optional(jsonText),
      by: optional(list(string)),
    }),
  ),
});
const footer = object({ end: object({ records: whole, questions: whole }) });

function checkLine(line: Line, index: number, count: number): void {
  const isLast = index === count - 1;
  const shape: Shape<unknown> = index === 0 ? header : isLast ? footer : entry;
  const fault = misfitText(shape, line);
  if (fault !== undefined) throw broken(index + 1, fault);
}

function broken(line: number, reason: string): WritError<"export-broken"> {
  return new WritError("export-broken", { line, reason });
}
