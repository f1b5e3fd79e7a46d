import type { MovedQuestion, NewRun, RunEnd, StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
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

/** The run of a row. */
export function runIn({ id, start, status, begun, ended, finish, protocol }: RunRow): StoredRun {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  const given = JSON.parse(String(start)) as Omit<NewRun, "id">;
  const form = protocol === undefined ? {} : { protocol: Number(protocol) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  const at = { status: status as StoredRun["status"], begunAt: Number(begun) };
  const run = { id: fromKey(id), ...given, ...form, ...at };
  if (ended === null) return run;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return { ...run, endedAt: Number(ended), end: JSON.parse(String(finish)) as RunEnd };
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
  return {
    runId: fromKey(run),
    ...(typeof agent === "string" ? { agent: fromKey(agent) } : {}),
    key: fromKey(key),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the journal of a run wrote it
    request: JSON.parse(String(request)) as ApprovalRequest,
    since: Number(since),
    ...(until === null ? {} : { until: Number(until) }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
    ...(typeof people !== "string" ? {} : { by: JSON.parse(people) as readonly string[] }),
  };
}

/** The question in a row that moves to another store. */
export function movedQuestionIn(row: RunRow): MovedQuestion {
  const { runId: _runId, agent: _agent, ...question } = questionIn(row);
  const { fingerprint, last } = row;
  return { ...question, fingerprint: fromKey(fingerprint), ...(typeof last === "string" ? { last } : {}) };
}
