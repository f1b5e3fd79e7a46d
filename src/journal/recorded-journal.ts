import { checkArguments } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { mapped } from "../util/mapped.ts";
import { callable, list, object, optional, type Shape, string } from "../util/shape.ts";
import { waitForAll } from "../util/wait-for-all.ts";
import type { Json } from "../util/json.ts";
import type { Maybe } from "../util/maybe.ts";
import type { AnswerBounds, Asked, Journal, JournalQuestion, Step, StepTerms } from "./journal.ts";
import { partsChanged } from "./parts.ts";
import { storedResult } from "./stored-json.ts";

/** A journal's record of one step: its result as JSON text, and the fingerprint of its request. */
export interface JournalRecord {
  readonly key: string;
  readonly fingerprint: string;
  /** Left out if a step that may not happen twice has begun and has no result. */
  readonly json?: string;
}

/** A question without an answer yet. Its answer is a record with the same key and fingerprint. */
export interface KeptQuestion extends Pick<JournalRecord, "key" | "fingerprint">, AnswerBounds {
  readonly request: Json;
}

/**
 * A journal over the records of earlier processes. `keep` receives each new record, and has stored it for good when it returns. A step that may not happen
 * twice is kept twice: first its beginning, then its result in place of that. Each process that finds it without a result keeps the beginning again before it
 * looks into what happened. `mustLast` is true for both, and for answers of people and ends: they must be on disk. If somebody has answered under the key
 * since `records` were read, `keep` stores nothing and returns the JSON text of the answer, which counts. With `keepQuestion` a run can wait in the journal:
 * it receives each question without an answer, in each process anew, and returns the JSON text of an answer that came since `records` were read.
 *
 * @throws WritError `journal-mismatch` from a step whose record was made from another request, `stored-unreadable` for a record that is
 * damaged or was changed; the error of `keep`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { type JournalRecord, recordedJournal } from "writ/doors";
 *
 * const table: JournalRecord[] = []; // or a table of a database, whose rows of this run are given to the next process
 * const journal = recordedJournal(table, (record) => void table.push(record));
 * await agent({ name: "echo", model: () => "hello" }).run("hi", { journal });
 * ```
 */
export function recordedJournal(
  records: readonly JournalRecord[],
  keep: (record: JournalRecord, mustLast: boolean) => Maybe<string | undefined | void>,
  keepQuestion?: (question: KeptQuestion) => Maybe<string | undefined | void>,
): Journal {
  checkArguments("recordedJournal()", { records, keep, keepQuestion }, given);
  const byKey = knownIn(records);

  function recordAt(key: string, asked: string, terms: StepTerms | undefined): KnownRecord | undefined {
    const known = byKey.get(key);
    const changed = known === undefined ? [] : partsChanged(known.record.fingerprint, asked);
    const parts = changed.filter((part) => terms?.accept.has(part) !== true);
    if (parts.length > 0) throw mismatch(key, terms?.run ?? "", parts);
    return known;
  }

  async function keepRecord(given: JournalRecord, mustLast: boolean): Promise<JournalRecord> {
    const stands = await keep(given, mustLast);
    const record = typeof stands === "string" ? { ...given, json: stands } : given;
    byKey.set(record.key, { record, looked: undefined });
    return record;
  }

  async function step<Result>(wanted: Step<Result>): Promise<Result> {
    const { key, run, lost, fingerprint, mustLast } = wanted;
    const asked = fingerprint?.() ?? "";
    const known = resultOf(wanted, asked);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a step of this key and fingerprint wrote it
    if (known !== undefined) return known as Result;
    const hasBegun = lost !== undefined && byKey.has(key);
    if (lost !== undefined) await keepRecord({ key, fingerprint: asked }, true); // the store checks again whether this process may run it
    const json = JSON.stringify(await (hasBegun ? lost() : run()));
    const kept = await keepRecord({ key, fingerprint: asked, json }, mustLast === true || lost !== undefined);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of this step, as another process will read it
    return JSON.parse(kept.json ?? json) as Result;
  }

  function recorded<Result>(steps: readonly Step<Result>[]): Result[] | undefined {
    if (steps.some(({ key }) => byKey.get(key)?.record.json === undefined)) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each has a result, and a step of this key and fingerprint wrote it
    return mapped(steps, (step) => resultOf(step, step.fingerprint?.() ?? "") as Result);
  }

  function resultOf({ key, terms }: Step<unknown>, asked: string): Json | undefined {
    const known = recordAt(key, asked, terms);
    return known && take(known);
  }

  function find(key: string): Json | undefined {
    const known = byKey.get(key);
    return known && look(known);
  }

  function hasBegun(key: string): boolean {
    const known = byKey.get(key);
    return known !== undefined && known.record.json === undefined;
  }

  const journal: Journal = { step, all: (steps) => waitForAll(steps, step), recorded, find, hasBegun };
  if (keepQuestion === undefined) return journal;
  return {
    ...journal,
    async ask<Answer>({ fingerprint, terms, ...question }: JournalQuestion): Promise<Asked<Answer>> {
      const asked = fingerprint?.() ?? "";
      const { key } = question;
      const json =
        recordAt(key, asked, terms)?.record.json ?? (await keepQuestion({ ...question, fingerprint: asked }));
      return typeof json === "string" ? { answer: storedResult(key, json) } : { waitsAt: key };
    },
  };
}

/** A record, and its parsed result if somebody looked at it before its step took it, as a replay does: parsing JSON is expensive. */
interface KnownRecord {
  readonly record: JournalRecord;
  looked: Json | undefined;
}

/** Records of an earlier process: one that is read under other names would not be found, and its effect would happen again. */
export const recordsShape: Shape<readonly JournalRecord[]> = list(
  object({ key: string, fingerprint: string, json: optional(string) }),
);

/** The arguments of `recordedJournal()`. */
const given = { records: recordsShape, keep: callable, keepQuestion: optional(callable) };

/** The records by key: of two with the same key, the later counts. */
function knownIn(records: readonly JournalRecord[]): Map<string, KnownRecord> {
  return new Map(records.map((each) => [each.key, { record: each, looked: undefined }]));
}

/** The result of a record, kept for the step. Undefined for a step that only began. */
function look(known: KnownRecord): Json | undefined {
  const { record, looked } = known;
  const { key, json } = record;
  if (looked !== undefined || json === undefined) return looked;
  return (known.looked = storedResult<Json>(key, json));
}

function take(known: KnownRecord): Json | undefined {
  const result = look(known);
  known.looked = undefined;
  return result;
}

/** The error for a record that was made from another request. */
export function mismatch(key: string, run: string, parts: readonly string[]): WritError<"journal-mismatch"> {
  const accept = parts.map((part) => `"${part}"`).join(", ");
  return new WritError("journal-mismatch", { key, run, parts: parts.join(" and "), accept });
}
