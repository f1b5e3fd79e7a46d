import { nodeHost } from "../adapters/clock.ts";
import { wakeAfter } from "../durable/after-others.ts";
import { type Forgotten, forgetSession } from "../durable/forget-session.ts";
import { readable } from "../durable/readable-run.ts";
import { type RunFilter, runStatuses, type StoredRun, type WaitingQuestion } from "../durable/run-store.ts";
import type { CallRecord } from "../call/call.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { storedResult } from "../journal/stored-json.ts";
import { WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { countOf, wordOf } from "./options.ts";
import { countText, durationText, jsonLine, oneLine, printable, processOutput, shellWord } from "./output.ts";
import { knownStore, type OpenPlace, openPlace, type StoreFlags } from "./run-store.ts";
import { table } from "./table.ts";

/** The options of `writ runs list`. */
export interface ListFlags extends StoreFlags {
  readonly status?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly before?: string;
  readonly limit: string;
}

/** `writ runs list`: the runs of a store, the latest first. */
export async function listRuns({
  status,
  agent,
  session,
  before,
  limit,
  ...flags
}: ListFlags): Promise<ExitCode> {
  const wanted: RunFilter = {
    ...(status === undefined ? {} : { status: wordOf("--status", status, runStatuses) }),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(before === undefined ? {} : { before }),
    limit: countOf("--limit", limit),
  };
  await using store = await knownStore(flags);
  const runs = await store.list(wanted);
  await processOutput.answer(flags.json === true ? jsonLine({ type: "runs", runs }) : table(runs.map(cells)));
  return exitCodes.answered;
}

function cells(run: StoredRun): readonly string[] {
  const { id, status, agent, session, begunAt, input, end } = run;
  const about = [
    `${status}${end === undefined ? "" : whyText(end.outcome)}`,
    agent,
    session ?? "",
    agoText(begunAt),
    JSON.stringify(input),
  ];
  return [printable(id), ...about.map((cell) => oneLine(cell, 60))]; // other commands need the whole id
}

/** The code of a failure, or the bound that was met, for a person who has to act on it. */
function whyText(outcome: Outcome): string {
  if (outcome.type === "failed") return ` (${outcome.code})`;
  return outcome.type === "exhausted" ? ` (${outcome.field})` : "";
}

/** `writ runs show <id>`: one run with its questions and the keys of its steps. */
export async function showRun(id: string, flags: StoreFlags): Promise<ExitCode> {
  await using store = await knownStore(flags);
  const run = await store.read(id);
  if (run === undefined) throw new WritError("run-missing", { id });
  const [questions, records] = await Promise.all([store.questions(id), store.records(id)]);
  const steps = records.map(({ key, json }) => ({ key, hasResult: json !== undefined }));
  if (flags.json === true) await processOutput.answer(jsonLine({ type: "run", ...run, questions, steps }));
  else {
    const rows = [
      ...Object.entries(run).flatMap(fieldRow),
      ...questions.map(({ key, request }) => [
        "question",
        `${key}: ${request.tool} ${JSON.stringify(request.arguments)}`,
      ]),
      ...records.map((each) => ["step", stepText(each)]),
    ];
    await processOutput.answer(table(rows.map((row) => row.map((cell) => oneLine(cell, 500)))));
    processOutput.progress(nextText(run, questions));
  }
  return exitCodes.answered;
}

/** A field of a run, as people read it: times as dates, and no options where none was given. */
function fieldRow([name, value]: readonly [string, unknown]): readonly (readonly string[])[] {
  if (name === "protocol" || (name === "options" && JSON.stringify(value) === "{}")) return [];
  if (name.endsWith("At") && typeof value === "number")
    return [[name, `${new Date(value).toISOString()} (${agoText(value)})`]];
  return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
}

/** The key of a step, with the end of a call that did not end well. */
function stepText({ key, json }: JournalRecord): string {
  if (json === undefined) return `${key} (began, has no result)`;
  try {
    const kept = storedResult<unknown>(key, json);
    if (!/(?:^|\/)call\/\d+$/.test(key)) return key;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the record of a call, or of a wait for a signal called so
    const { result } = kept as Partial<Pick<CallRecord, "result">>;
    return result === undefined || result.status === "ok" ? key : `${key} (${result.status}: ${result.text})`;
  } catch {
    return `${key} (cannot be read)`;
  }
}

/** The way in which a run goes on, for a person who has to act on it. */
function nextText({ id, status, agent, end }: StoredRun, questions: readonly WaitingQuestion[]): string {
  const name = shellWord(id);
  if (status === "failed" || status === "exhausted")
    return `${firstText(end?.outcome)}To let it go on from its last step: writ runs retry ${name}\n`;
  if (status === "ready")
    return `Any worker with "${printable(agent)}" goes on with it: writ work FILE, with --store\n`;
  const waits = questions.map(({ key, request }) => {
    if (request.unsettled) return `writ runs settle ${name} ${key} --happened yes|no|unknown`;
    const { waitsFor } = request;
    if (waitsFor === undefined) return `writ approvals approve ${name}, or deny`;
    return waitsFor === "time" ? "" : `writ runs signal ${name} ${shellWord(waitsFor.signal)}`;
  });
  return [...new Set(waits)].flatMap((each) => (each === "" ? [] : [`To let it go on: ${each}\n`])).join("");
}

/** The cause to mend before a run is retried, which otherwise ends in the same way. */
function firstText(outcome: Outcome | undefined): string {
  if (outcome?.type === "failed") return `First mend the cause: writ errors ${shellWord(outcome.code)}\n`;
  return outcome?.type === "exhausted" ? `First give more than its bound: ${oneLine(outcome.message)}\n` : "";
}

/** `writ runs cancel <id>`. */
export async function cancelRun(
  id: string,
  { reason, ...flags }: StoreFlags & { readonly reason: string },
): Promise<ExitCode> {
  await using store = await knownStore(flags);
  const run = await store.cancel(id, reason);
  await wakeAfter(run, { store, host: nodeHost });
  return tellRun(run, flags);
}

/** `writ runs retry <id>`. The command fails if the run keeps its end. */
export async function retryRun(id: string, flags: StoreFlags): Promise<ExitCode> {
  await using store = await knownStore(flags);
  const run = readable(await store.reopen(id));
  await tellRun(run, flags);
  if (run.end === undefined) return exitCodes.answered;
  processOutput.progress("It keeps its end: a run that was answered or cancelled does not go on.\n");
  return exitCodes.failed;
}

/** Prints the current state of a run. */
export async function tellRun(run: StoredRun, { json }: StoreFlags): Promise<ExitCode> {
  const told = json === true ? jsonLine({ type: "run", ...run }) : printable(`${run.id}: ${run.status}\n`);
  await processOutput.answer(told);
  return exitCodes.answered;
}

/** `writ runs erase [id]`, or all runs of a session. */
export async function eraseRuns(
  id: string | undefined,
  { session, ...flags }: StoreFlags & { readonly session?: string },
): Promise<ExitCode> {
  const which = erasedBy(id, session);
  await using place = await openPlace(flags, knownStore);
  const { store } = place;
  const kept = id === undefined ? undefined : (await store.read(id))?.session;
  const { count, wasKept } =
    session === undefined ? { count: await store.erase(which) } : await forgotten(session, place);
  await processOutput.answer(
    flags.json === true
      ? jsonLine({ type: "erased", count, ...(kept === undefined ? {} : { session: kept }) })
      : `${countText(count, "run")} erased\n`,
  );
  if (flags.json === true) return exitCodes.answered;
  if (count > 0 && kept !== undefined)
    processOutput.progress(
      `Its session keeps what was said. Erase all of it: writ runs erase --session ${shellWord(kept)}\n`,
    );
  if (wasKept !== undefined)
    processOutput.progress(
      wasKept
        ? "The conversation of the session was erased.\n"
        : "There was no conversation of the session.\n",
    );
  return exitCodes.answered;
}

/** Erases a session with its runs. */
async function forgotten(session: string, { store, sessions }: OpenPlace): Promise<Forgotten> {
  const eraseRuns = (): Promise<number> => store.erase({ session });
  return forgetSession({ handle: sessions(session), eraseRuns, host: nodeHost });
}

function erasedBy(
  id: string | undefined,
  session: string | undefined,
): { readonly id: string } | { readonly session: string } {
  if (id !== undefined && session === undefined) return { id };
  if (session !== undefined && id === undefined) return { session };
  if (session === undefined) {
    const reason = "`writ runs erase` needs the id of a run, or `--session` for all runs of a session";
    throw new WritError("command-invalid", { reason });
  }
  const advice = "Give either the id of a run, or `--session` for all runs of a session.";
  throw new WritError("option-invalid", { option: "--session", value: session, advice });
}

function agoText(time: number): string {
  return `${durationText(Math.max(0, Date.now() - time))} ago`;
}
