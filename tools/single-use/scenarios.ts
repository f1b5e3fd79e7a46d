import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, promisify } from "node:util";
import { durableRuns, type DurableRuns, type WaitingQuestion } from "../../src/durable.ts";
import { isWritError } from "../../src/index.ts";
import { type SqliteRuns, sqliteRuns } from "../../src/sqlite.ts";
import { asks, asksAnew, payer } from "./payer.ts";

const program = fileURLToPath(new URL("process.ts", import.meta.url));
const execute = promisify(execFile);

/** Runs that wait for their approval; no worker works on them. */
interface Waiting {
  readonly file: string;
  readonly ledger: string;
  readonly store: SqliteRuns;
  readonly runs: DurableRuns;
  readonly questions: readonly WaitingQuestion[];
}

/** The number of answers that were taken, and that were refused, by code. */
type Codes = Record<string, number>;

/** The ways in which approvals are abused. Each returns the codes of its answers; afterwards a worker carries on with all runs. */
const scenarios = {
  async "two clicks"({ runs, questions }: Waiting) {
    return tally(questions.flatMap((one) => [approve(runs, one), approve(runs, one)]));
  },
  async "two processes"({ file, ledger, questions }: Waiting) {
    const shown = JSON.stringify(questions.map(({ runId, key, request }) => [runId, key, request.hash]));
    const both = await Promise.all([1, 2].map(() => beside(file, ledger, "answer", shown)));
    return both.reduce<Codes>((sum, text) => added(sum, JSON.parse(text) as Codes), {});
  },
  /** The answer names another call; then, after the right approval, the stored call is changed. */
  async "changed arguments"({ file, runs, questions }: Waiting) {
    const codes = await tally(questions.map((one) => approve(runs, one, { hash: "another" })));
    await tally(questions.map((one) => approve(runs, one)));
    using database = new DatabaseSync(file);
    database.exec(`UPDATE writ_steps SET json = replace(json, '"amount":10', '"amount":999')`);
    return codes;
  },
  async expired({ runs, questions }: Waiting) {
    await sleep(10);
    return tally(questions.map((one) => approve(runs, one)));
  },
  async "wrong person"({ runs, questions }: Waiting) {
    return tally(questions.map((one) => approve(runs, one, { by: "eve" })));
  },
  async "stale policy"({ ledger, store, questions }: Waiting) {
    const runs = durableRuns({ store, agents: [payer(ledger, asksAnew)] });
    return tally(questions.map((one) => approve(runs, one)));
  },
  async "killed between approval and effect"(at: Waiting) {
    return killed(at, "before");
  },
  async "killed between effect and record"(at: Waiting) {
    return killed(at, "after");
  },
};

/** A way in which approvals are abused. */
export type Scenario = keyof typeof scenarios;

/** The scenarios, and the expected result of each run: the code of the answers that are refused, and the payments. */
export const expectations: Readonly<
  Record<Scenario, { readonly refused?: string; readonly paid: 0 | 1; readonly late?: true }>
> = {
  "two clicks": { refused: "question-answered", paid: 1 },
  "two processes": { refused: "question-answered", paid: 1 },
  "changed arguments": { refused: "question-changed", paid: 0 },
  expired: { refused: "question-expired", paid: 0, late: true },
  "wrong person": { refused: "question-forbidden", paid: 0 },
  "stale policy": { refused: "question-stale", paid: 0 },
  "killed between approval and effect": { paid: 0 },
  "killed between effect and record": { paid: 1 },
};

/** The result of `count` approvals of one scenario. */
export interface Abused {
  readonly codes: Codes;
  readonly paid: number;
  readonly complaints: readonly string[];
}

/** Abuses `count` approvals in one way, then lets their runs go on, and checks the payments. */
export async function abuse(scenario: Scenario, count: number): Promise<Abused> {
  const folder = mkdtempSync(join(tmpdir(), "writ-single-use-"));
  const [file, ledger] = [join(folder, "runs.db"), join(folder, "ledger")];
  const store = sqliteRuns(file);
  try {
    const runs = durableRuns({ store, agents: [payer(ledger, asks)] });
    const ids = Array.from(
      { length: count },
      (_, at) => `${expectations[scenario].late ? "late" : "run"}-${at}`,
    );
    const codes = await scenarios[scenario](await asked({ file, ledger, store, runs }, ids));
    const worker = runs.work({ concurrency: 50 });
    for (const { runId } of scenario === "expired" ? [] : await runs.waiting()) await runs.cancel(runId);
    await Promise.all(ids.map((id) => runs.result(id)));
    await worker.drain();
    const lines = existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : [];
    return { codes, paid: lines.length, complaints: faultsOf(scenario, ids, { codes, lines }) };
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts runs, and carries each out until it waits. */
async function asked(at: Omit<Waiting, "questions">, ids: readonly string[]): Promise<Waiting> {
  const { store, runs, ledger } = at;
  const one = payer(ledger, asks);
  for (const id of ids) {
    await runs.start(one, id, { id });
    const journal = await store.open(id);
    await one.run(id, { journal, runId: id });
    await journal.wait();
  }
  const questions = await runs.waiting();
  if (questions.length !== ids.length) throw new Error(`${questions.length} of ${ids.length} runs wait`);
  return { ...at, questions };
}

const approve = (
  runs: DurableRuns,
  { runId, key, request }: WaitingQuestion,
  more: { readonly hash?: string; readonly by?: string } = {},
): Promise<void> =>
  runs.answer(runId, key, {
    approved: true,
    hash: request.hash,
    policy: request.policy,
    by: "kim",
    ...more,
  });

async function tally(answers: readonly Promise<void>[]): Promise<Codes> {
  const ended = await Promise.allSettled(answers);
  return ended.reduce<Codes>((codes, end) => {
    const code = end.status === "fulfilled" ? "approved" : codeOf(end.reason);
    return added(codes, { [code]: 1 });
  }, {});
}

const codeOf = (error: unknown): string => (isWritError(error) ? error.code : String(error));

function added(codes: Codes, more: Codes): Codes {
  const sum = { ...codes };
  for (const [code, count] of Object.entries(more)) sum[code] = (sum[code] ?? 0) + count;
  return sum;
}

async function killed({ file, ledger, runs, questions }: Waiting, where: "before" | "after"): Promise<Codes> {
  const codes = await tally(questions.map((one) => approve(runs, one)));
  await beside(file, ledger, where, String(questions.length)).catch((error: unknown) => {
    if ((error as { signal?: unknown }).signal !== "SIGKILL") throw error;
  });
  return codes;
}

async function beside(...given: readonly string[]): Promise<string> {
  return (await execute(process.execPath, ["--no-warnings", program, ...given])).stdout;
}

function faultsOf(
  scenario: Scenario,
  ids: readonly string[],
  { codes, lines }: { readonly codes: Codes; readonly lines: readonly string[] },
): readonly string[] {
  const { refused, paid } = expectations[scenario];
  const count = ids.length;
  const isTwice = scenario === "two clicks" || scenario === "two processes";
  const wanted: Codes = {
    ...(refused === undefined || isTwice ? { approved: count } : {}),
    ...(refused === undefined ? {} : { [refused]: count }),
  };
  const changed = lines.filter((line) => !line.endsWith('"amount":10}'));
  const twice = lines.filter((line, at) => lines.indexOf(line) !== at);
  const isSame = isDeepStrictEqual(codes, wanted);
  return [
    ...twice.map((line) => `${line} was paid twice`),
    ...changed.map((line) => `${line} was paid, and nobody approved it`),
    ...(lines.length === paid * count ? [] : [`${lines.length} payments in place of ${paid * count}`]),
    ...(isSame ? [] : [`answers came to ${JSON.stringify(codes)} in place of ${JSON.stringify(wanted)}`]),
  ];
}
