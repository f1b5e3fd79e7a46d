import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { durableRuns } from "../../src/durable.ts";
import type { SharedStoreUnderTest } from "../../test/contract/run-store.ts";
import { type Kind, kindOf, payer, paymentOf, questionsOfRun } from "./payments.ts";
import type { Listed } from "./process.ts";

const program = fileURLToPath(new URL("process.ts", import.meta.url));
const execute = promisify(execFile);

/** The moments at which another process answers: while a process stands at the question, after it was killed there, and while the run waits regularly. */
const moments = ["during", "before", "after"] as const;

/** The end of runs whose processes were killed at each of their questions. */
export interface ApprovedCalls {
  readonly complaints: readonly string[];
  /** Questions at which a process was killed. */
  readonly kills: number;
  readonly paid: number;
  /** The number of answers with each code. */
  readonly codes: Readonly<Record<string, number>>;
}

interface Answer {
  readonly approved: boolean;
  /** Left out where it is the hash of the question. */
  readonly hash?: string;
  readonly code: string;
}

/** The answers to a question of each kind, each with the code that it must get. */
const answers: ReadonlyMap<Kind | undefined, readonly Answer[]> = new Map<Kind, readonly Answer[]>([
  ["yes", [{ approved: true, code: "taken" }]],
  [
    "twice",
    [
      { approved: true, code: "taken" },
      { approved: true, code: "question-answered" },
    ],
  ],
  [
    "wrong",
    [
      { approved: true, hash: "another", code: "question-changed" },
      { approved: true, code: "taken" },
    ],
  ],
  ["late", [{ approved: true, code: "question-expired" }]],
  ["no", [{ approved: false, code: "taken" }]],
]);

/**
 * Carries out so many runs, each with four questions, in processes that are killed at each question. Another process answers: approvals, denials,
 * double clicks, answers about other calls, and answers after the time. Then checks that exactly the approved calls ran, once each.
 */
export async function approvedCalls(
  count: number,
  { module, openRuns, place }: SharedStoreUnderTest,
): Promise<ApprovedCalls> {
  const folder = mkdtempSync(join(tmpdir(), "writ-approved-"));
  const { address, remove } = await place();
  const store = await openRuns(address);
  const runs = durableRuns({ store });
  const person = new Person([module, address, folder], join(folder, "questions"));
  try {
    for (let run = 0; run < count; run += 1)
      await runs.start(
        payer(() => Promise.resolve()),
        String(run),
        { id: String(run) },
      );
    while ((await runs.list({ limit: count })).some(({ end }) => end === undefined)) {
      await killedAtQuestions([module, address, folder], () =>
        person.answer((question) => momentOf(question) === "during"),
      );
      const waiting = new Set((await runs.list({ status: "waiting", limit: count })).map(({ id }) => id));
      await person.answer(
        (question) =>
          momentOf(question) === "before" || waiting.has(question.run) || kindOf(question.payment) === "late",
      );
    }
    const failed = (await runs.list({ limit: count })).filter(({ end }) => end?.output !== "done");
    const paid = linesIn(join(folder, "ledger"));
    const kills = person.questions.length;
    const complaints = [
      ...person.complaints,
      ...failed.map(({ id, end }) => `run ${id} ended with ${JSON.stringify(end)}`),
      ...wrongPayments(paid, count),
      ...(kills === count * questionsOfRun
        ? []
        : [`${kills} questions in place of ${count * questionsOfRun}`]),
    ];
    return { complaints, kills, paid: paid.length, codes: person.codes };
  } finally {
    await store.close();
    await remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const momentOf = ({ run }: Listed) => moments[Number(run) % moments.length];

/** Starts a process and lets it carry out the runs until each stands at a question, waits or has ended; then does `meanwhile`, and kills the process. */
async function killedAtQuestions(given: readonly string[], meanwhile: () => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ["--no-warnings", program, ...given, "work"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), gone]);
  try {
    await meanwhile();
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
}

/** Somebody who answers each question once, in a process of its own. */
class Person {
  readonly complaints: string[] = [];
  /** The number of answers with each code. */
  readonly codes: Record<string, number> = {};
  private readonly given: readonly string[];
  private readonly list: string;
  private readonly answered = new Set<string>();

  constructor(given: readonly string[], list: string) {
    this.given = given;
    this.list = list;
    writeFileSync(list, "");
  }

  /** All questions, in the order in which they were asked. */
  get questions(): readonly Listed[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a process wrote them
    return linesIn(this.list).map((line) => JSON.parse(line) as Listed);
  }

  /** Answers the questions that are not answered yet and whose time it is. */
  async answer(isTime: (question: Listed) => boolean): Promise<void> {
    const open = this.questions.filter(
      (question) => !this.answered.has(placeOf(question)) && isTime(question),
    );
    if (open.length === 0) return;
    const wanted = open.flatMap((question) =>
      (answers.get(kindOf(question.payment)) ?? []).map((answer) => ({ ...question, ...answer })),
    );
    const { stdout } = await beside([...this.given, "answer", JSON.stringify(wanted)]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the process printed the codes
    const came = JSON.parse(stdout) as readonly string[];
    for (const [place, { code, payment }] of wanted.entries()) {
      const got = came[place] ?? "nothing";
      this.codes[got] = (this.codes[got] ?? 0) + 1;
      if (got !== code)
        this.complaints.push(`an answer about "${payment}" came to ${got} in place of ${code}`);
    }
    for (const question of open) this.answered.add(placeOf(question));
  }
}

const placeOf = ({ run, key }: Listed): string => `${run} ${key}`;

const beside = (given: readonly string[]) => execute(process.execPath, ["--no-warnings", program, ...given]);

const linesIn = (file: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

/** Payments that nobody approved, payments made twice, and payments that were approved and not made. */
function wrongPayments(paid: readonly string[], count: number): readonly string[] {
  const approved = new Set<string>();
  for (let run = 0; run < count; run += 1)
    for (let question = 0; question < questionsOfRun; question += 1) {
      const payment = paymentOf(run, question);
      const kind = kindOf(payment);
      if (kind !== "late" && kind !== "no") approved.add(payment);
    }
  const twice = paid.filter((payment, place) => paid.indexOf(payment) !== place);
  const missing = [...approved.difference(new Set(paid))];
  return [
    ...twice.map((payment) => `"${payment}" was paid twice`),
    ...paid
      .filter((payment) => !approved.has(payment))
      .map((payment) => `"${payment}" was paid, and nobody approved it`),
    ...missing.map((payment) => `"${payment}" was approved, and not paid`),
  ];
}
