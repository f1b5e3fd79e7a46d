import type {
  MovedQuestion,
  NewRun,
  QuestionFilter,
  RunEnd,
  StoredRun,
  WaitingQuestion,
} from "../durable/run-store.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { storedJson } from "../journal/stored-json.ts";
import { list, misfitText, object, optional, record, type Shape, shapeOf, string } from "../util/shape.ts";
import { fromKey } from "./stored-text.ts";

/** The columns of a run that every database has. */
export type RunRow = Readonly<Record<string, unknown>>;

/** The fields of a run that no statement needs. */
export function startOf({
  agent,
  input,
  options,
  session,
  protocol,
  moves,
  fork,
}: NewRun & Pick<StoredRun, "moves">): string {
  return JSON.stringify({ agent, input, options, session, protocol, moves, fork });
}

/** The run of a row that is begun again. @throws WritError `stored-unreadable` if its beginning cannot be read: it cannot be compared with the wanted one */
export function begunIn(row: RunRow): StoredRun {
  const given = beginningOf(row);
  if (isWritError(given)) throw given;
  return runOf(row, given);
}

/** The run of a row. One that cannot be read has failed, without its input: it must not hide the others. */
export function runIn(row: RunRow): StoredRun {
  return runOf(row, beginningOf(row));
}

type StoredStart = Omit<NewRun, "id">;

function beginningOf({ id, start }: RunRow): StoredStart | WritError {
  return read<StoredStart>(start, startShape, `The beginning of the run ${String(id)}`);
}

function runOf(row: RunRow, given: StoredStart | WritError): StoredRun {
  const { id, status, begun, ended, finish, protocol } = row;
  const form = protocol === undefined ? {} : { protocol: Number(protocol) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  const at = { status: status as StoredRun["status"], begunAt: Number(begun) };
  const run = { id: fromKey(id), ...(isWritError(given) ? lostStart(row) : given), ...form, ...at };
  const end = ended === null ? undefined : read<RunEnd>(finish, endShape, `The end of the run ${String(id)}`);
  if (end !== undefined && !isWritError(end)) return { ...run, endedAt: Number(ended), end };
  const fault = end ?? (isWritError(given) ? given : undefined);
  if (fault === undefined || status === "moved") return run;
  const { code, message } = fault;
  const outcome = { type: "failed", code, message } as const;
  return { ...run, status: "failed", endedAt: Number(ended ?? begun), end: { outcome } };
}

/** The rest of a run whose beginning cannot be read. */
function lostStart({ agent, session }: RunRow): StoredStart {
  const known = { agent: fromKey(agent), input: null, options: {}, protocol: 0 };
  return typeof session === "string" ? { ...known, session: fromKey(session) } : known;
}

const startShape = object({
  agent: string,
  input: shapeOf("JSON", (value) => value !== undefined),
  options: record,
});
const endShape = object({ outcome: object({ type: string }) });

/** The value of a column, or the reason why it cannot be read. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what was written there
function read<Value>(text: unknown, shape: Shape<unknown>, what: string): Value | WritError {
  try {
    const value = storedJson<Value>(String(text), what);
    const reason = misfitText(shape, value);
    if (reason === undefined) return value;
    return new WritError("stored-unreadable", { what, reason });
  } catch (error) {
    if (isWritError(error)) return error;
    throw error;
  }
}

/** The most runs to list, as a number for databases, which have no `Infinity`. */
export function wholeLimit(limit: number): number {
  return Math.min(limit, Number.MAX_SAFE_INTEGER);
}

/** A value for a column that may be empty. */
export const jsonColumn = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value);

/** The question in a row, which has the id of its run in `run`; the rows of lists have its agent too. */
export function questionIn({ run, agent, key, request, since, until, people }: RunRow): WaitingQuestion {
  const what = `The question ${String(key)} of the run ${String(run)}`;
  const asked = read<ApprovalRequest>(request, requestShape, what);
  const by = typeof people === "string" ? read<readonly string[]>(people, list(string), what) : undefined;
  if (isWritError(asked)) throw asked;
  if (isWritError(by)) throw by;
  return {
    runId: fromKey(run),
    ...(typeof agent === "string" ? { agent: fromKey(agent) } : {}),
    key: fromKey(key),
    request: asked,
    since: Number(since),
    ...(until === null ? {} : { until: Number(until) }),
    ...(by === undefined ? {} : { by }),
  };
}

const requestShape = object({ hash: optional(string), tool: optional(string) });

/** The questions in rows. Of those of all runs, one that cannot be read is left out: asking for those of its run tells of it. */
export function questionsIn(rows: readonly RunRow[], runId: string | undefined): WaitingQuestion[] {
  return rows.flatMap((row) => {
    try {
      return [questionIn(row)];
    } catch (error) {
      if (runId === undefined && isWritError(error, "stored-unreadable")) return [];
      throw error;
    }
  });
}

/** The wanted questions behind a page whose unreadable ones were left out, until it is full: a shorter page means that there are no more. Undefined if it is. */
export function restOfPage(
  rows: readonly RunRow[],
  found: number,
  { limit = Infinity, ...wanted }: QuestionFilter,
): QuestionFilter | undefined {
  const last = rows.at(-1);
  const missing = rows.length - found;
  if (last === undefined || rows.length < limit || missing === 0) return undefined;
  const after = { runId: fromKey(last["run"]), key: fromKey(last["key"]), since: Number(last["since"]) };
  return { ...wanted, limit: missing, after };
}

/** The question in a row that moves to another store. */
export function movedQuestionIn(row: RunRow): MovedQuestion {
  const { runId: _runId, agent: _agent, ...question } = questionIn(row);
  const { fingerprint, last } = row;
  return { ...question, fingerprint: fromKey(fingerprint), ...(typeof last === "string" ? { last } : {}) };
}
