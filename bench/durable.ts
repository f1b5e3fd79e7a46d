/**
 * Durable runs in a SQLite file or in PostgreSQL, measured: many that wait, an answer until its run goes on, a worker that was killed until another one
 * does a new step, a step beside one without a store; in a file also many old runs that are forgotten while another process writes. Of DBOS the worker
 * that was killed alone, in turns with one on a file and one on PostgreSQL.
 *
 * Run: npm run build && npx node bench/durable.ts [--runs 10000] [--answers 1000] [--rounds 20] [--old 100000] [--store postgres|dbos]. Exits with 1 when a limit is not held.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import pg from "pg";
import type { Journal } from "writ";
import { durableRuns } from "writ/durable";
import { startPostgres } from "../test/postgres-server.ts";
import { looker, openStore, payer } from "./durable-agent.ts";
import { bytesOfTurn, lastingWrite, twoWorkers } from "./durable-ratios.ts";
import { median } from "./measure.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    answers: { type: "string", default: "1000" },
    rounds: { type: "string", default: "20" },
    old: { type: "string", default: "100000" },
    store: { type: "string", default: "sqlite" },
  },
});
const [wanted, answers, rounds] = [Number(values.runs), Number(values.answers), Number(values.rounds)];
const old = Number(values.old);
const folder = mkdtempSync(join(tmpdir(), "writ-bench-durable-"));
const server = values.store === "sqlite" ? undefined : await startPostgres();
/** The address of an empty store. */
const place = (name: string): string => (server === undefined ? join(folder, name) : `${server.url}#${name}`);
const program = join(import.meta.dirname, "durable-agent.ts");
const children: ChildProcess[] = [];

/** A worker in a process of its own. `next` waits for a line of its output. */
function startWorker(
  file: string,
  role = "",
): { readonly child: ChildProcess; readonly next: (word: string) => Promise<number[]> } {
  const child = spawn(process.execPath, ["--no-warnings", "--expose-gc", program, file, role], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said += text));
  /** The numbers of the next line that begins with a word. */
  async function next(word: string): Promise<number[]> {
    for (const until = Date.now() + 60_000; Date.now() < until;) {
      const line = new RegExp(`^${word} (.*)\\n`, "m").exec(said);
      if (line !== null) {
        said = said.slice(line.index + line[0].length);
        return String(line[1]).split(" ").map(Number);
      }
      if (child.exitCode !== null) throw new Error("the worker ended");
      await new Promise((resolve) => void setTimeout(resolve, 2));
    }
    throw new Error(`the worker says nothing of "${word}"`);
  }
  return { child, next };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await once(child, "exit");
}

async function timed<Result>(work: () => Promise<Result>): Promise<[ms: number, result: Result]> {
  const startedAt = performance.now();
  const result = await work();
  return [performance.now() - startedAt, result];
}

let hasFailed = false;
function report(what: string, value: number, [limit, unit]: readonly [limit: number, unit: string]): void {
  const isHeld = value <= limit;
  hasFailed ||= !isHeld;
  console.log(
    `${isHeld ? "ok    " : "MISSED"}  ${what}: ${value.toFixed(unit === "ms" || unit === "MB" ? 0 : 2)} ${unit} (limit ${limit})`,
  );
}

/** Many runs that wait: memory of an idle worker, lists, and working through answers. */
async function scale(): Promise<void> {
  const file = place("scale.db");
  const store = openStore(file);
  const runs = durableRuns({ store, agents: [payer] });
  const [startMs] = await timed(async () => {
    for (let id = 0; id < wanted; id += 1) await runs.start(payer, "Pay", { id: `run-${id}` });
  });
  const building = runs.work({ concurrency: 20 });
  const [waitMs] = await timed(async () => {
    while ((await store.list({ status: "waiting", limit: wanted })).length < wanted)
      await new Promise((resolve) => void setTimeout(resolve, 500));
  });
  await building.drain();
  console.log(
    `        ${wanted} runs: started in ${(startMs / 1000).toFixed(1)} s, waiting after ${(waitMs / 1000).toFixed(1)} s more`,
  );
  const idle = startWorker(file, "idle");
  const [memory = 0] = await idle.next("memory");
  report("memory of an idle worker", memory / 1e6, [150, "MB"]);
  const [listMs, listed] = await timed(() => runs.list({ limit: wanted }));
  const [waitingMs, questions] = await timed(() => runs.waiting());
  if (listed.length !== wanted || questions.length !== wanted) throw new Error("runs were lost");
  report(`list of ${wanted} runs`, listMs, [1000, "ms"]);
  report(`waiting of ${wanted} runs`, waitingMs, [1000, "ms"]);
  const chosen = questions
    .filter((_question, place) => place % Math.floor(wanted / answers) === 0)
    .slice(0, answers);
  const [workMs] = await timed(async () => {
    for (const { runId, key, request } of chosen)
      await runs.answer(runId, key, { approved: true, hash: request.hash });
    for (const { runId } of chosen) {
      const { outcome } = await runs.result(runId);
      if (outcome.type !== "answered") throw new Error(`${runId} is ${outcome.type}`);
    }
  });
  const ended = await runs.list({ status: "answered", limit: wanted });
  const left = await runs.waiting();
  if (ended.length !== answers || left.length !== wanted - answers) throw new Error("runs were lost");
  console.log(
    `        ${answers} answers given and worked off in ${(workMs / 1000).toFixed(1)} s, none lost`,
  );
  await end(idle.child, "SIGTERM");
}

/** An answer of another process, until the call that it lets through. */
async function answerLatency(): Promise<void> {
  const file = place("answers.db");
  const store = openStore(file);
  const runs = durableRuns({ store });
  const { child, next } = startWorker(file);
  const latencies: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const id = `run-${round}`;
    await runs.start(payer, "Pay", { id });
    let question = (await runs.waiting(id))[0];
    while (question === undefined || (await runs.show(id))?.status !== "waiting") {
      await new Promise((resolve) => void setTimeout(resolve, 10));
      [question] = await runs.waiting(id);
    }
    const answeredAt = Date.now();
    await runs.answer(id, question.key, { approved: true, hash: question.request.hash });
    const [paidAt = 0] = await next("paid");
    latencies.push(paidAt - answeredAt);
  }
  await end(child, "SIGTERM");
  report(`an answer until its call, median of ${rounds}`, median(latencies), [300, "ms"]);
  report("the slowest of them", Math.max(...latencies), [300, "ms"]);
}

/** The milliseconds within which a worker in a new Node does a new step after a kill. */
const recoveryLimits = { sqlite: 300, postgres: 600, dbos: 3000 } as const;
type StoreName = keyof typeof recoveryLimits;

/** Kills a worker; returns the time from the start of another Node, or from the kill where a second worker waits, to the first new step. */
async function recovered(
  store: StoreName,
  { round, hasStandby }: { readonly round: number; readonly hasStandby: boolean },
): Promise<number> {
  const file = store === "sqlite" ? join(folder, `${round}.db`) : `${server?.url}#recovery_${round}_${store}`;
  await durableRuns({ store: openStore(file) }).start(looker, "Look", { id: "run" });
  const first = startWorker(file);
  await first.next("looked");
  const standby = hasStandby ? startWorker(file) : undefined;
  await standby?.next("ready");
  await new Promise((resolve) => void setTimeout(resolve, 20 * (round % 5)));
  await end(first.child, "SIGKILL");
  const startedAt = Date.now();
  const second = standby ?? startWorker(file);
  const [lookedAt = 0] = await second.next("looked");
  await end(second.child, "SIGTERM");
  return lookedAt - startedAt;
}

/** Kills workers of the stores, in turns. A worker of DBOS does not report that it is ready, so it has no second worker that waits. */
async function recovery(stores: readonly StoreName[]): Promise<void> {
  const times = stores.map((store) => ({ store, started: [] as number[], waited: [] as number[] }));
  const empty: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const { store, started, waited } of times) {
      const hasStandby = store !== "dbos" && round % 2 === 1;
      (hasStandby ? waited : started).push(await recovered(store, { round, hasStandby }));
    }
    empty.push((await timed(() => once(spawn(process.execPath, ["-e", ""]), "exit")))[0]);
  }
  console.log(
    `        a Node that does nothing starts and ends in ${median(empty).toFixed(0)} ms (median) here and now`,
  );
  for (const { store, started, waited } of times) {
    report(
      `${store}: start of Node after a kill until a new step, median of ${started.length}`,
      median(started),
      [recoveryLimits[store], "ms"],
    );
    if (waited.length > 0)
      report(
        `${store}: kill until a worker that waits does a new step, median of ${waited.length}`,
        median(waited),
        [500, "ms"],
      );
  }
}

/** Many runs that ended long ago, forgotten by a worker while another process writes. */
async function retention(): Promise<void> {
  const file = join(folder, "retention.db");
  const store = openStore(file);
  await store.begin({ id: "old", agent: "payer", input: "Pay", options: {}, protocol: 1 });
  using database = new DatabaseSync(file);
  database.exec(`UPDATE writ_runs SET status = 'answered', ended = 1, finish = '{"outcome":{"type":"answered","content":"","finishReason":"stop"}}';
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${old})
      INSERT INTO writ_runs (id, epoch, status, agent, begun, ended, start, finish)
        SELECT '"old-' || n || '"', 1, status, agent, begun, ended, start, finish FROM writ_runs, number;
    INSERT INTO writ_steps (run, key, fingerprint, json)
      SELECT writ_runs.id, '"turn/' || json_each.value || '/model"', '""', '"${"x".repeat(200)}"' FROM writ_runs, json_each('[1,2,3,4,5,6,7,8,9,10]');`);
  await using journal = await store.open("new");
  const worker = startWorker(file);
  await worker.next("ready");
  const count = database.prepare("SELECT count(*) AS count FROM writ_runs WHERE ended = 1");
  let steps = 0;
  /** The milliseconds that each of some writes took. */
  async function writes(goOn: (sofar: number) => boolean): Promise<readonly number[]> {
    const waits: number[] = [];
    while (goOn(waits.length)) {
      const step = {
        key: `${(steps += 1)}`,
        run: () => Promise.resolve("x"),
        lost: () => Promise.resolve(""),
      };
      waits.push((await timed(() => journal.step(step)))[0]);
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
    return waits;
  }
  const [ms, beside] = await timed(() => writes(() => Number(count.get()?.["count"]) > 0));
  const alone = await writes((sofar) => sofar < beside.length);
  const texts = [beside, alone].map(
    (waits) => `median ${median(waits).toFixed(1)} ms, longest ${Math.max(...waits).toFixed(0)} ms`,
  );
  console.log(
    `        ${old + 1} old runs with ${10 * (old + 1)} steps forgotten in ${(ms / 1000).toFixed(1)} s`,
  );
  console.log(`        a write that lasts, beside that: ${texts[0]}; without: ${texts[1]}`);
  report("the longest over the longest without", Math.max(...beside) - Math.max(...alone), [100, "ms"]);
  await end(worker.child, "SIGTERM");
}

/** A step that may be repeated, in the store and without one. */
async function stepCost(): Promise<void> {
  const store = openStore(place("steps.db"));
  await using journal = await store.open("run");
  const direct: Pick<Journal, "step"> = { step: ({ run }) => run() };
  let count = 0;
  const steps = 200;
  const perStep = async (one: Pick<Journal, "step">): Promise<number> => {
    const [ms] = await timed(async () => {
      for (let step = 0; step < steps; step += 1)
        await one.step({
          key: `${(count += 1)}`,
          fingerprint: () => "asked",
          run: () => Promise.resolve("a result of some length"),
        });
    });
    return (ms * 1000) / steps;
  };
  const added: number[] = [];
  for (let round = 0; round < 41; round += 1) added.push((await perStep(journal)) - (await perStep(direct)));
  if (server === undefined)
    report("a step that may be repeated, over one without a store", median(added), [100, "µs"]);
  else await besideInsert(perStep, journal);
}

/** The cost of a file compared with the disk, with one worker, and with the text of model and tool. */
async function ratios(): Promise<void> {
  const { step, sync } = await lastingWrite(folder);
  console.log(
    `        a write that lasts takes ${step.toFixed(0)} µs, a sync of 4 KiB ${sync.toFixed(0)} µs`,
  );
  report("a write that lasts, over 1.3 × that sync", step - 1.3 * sync, [100, "µs"]);
  report("the time of two workers over that of one, where tools wait", 1 / (await twoWorkers(folder)), [
    1 / 1.7,
    "×",
  ]);
  report("bytes of a turn beside what model and tool said", await bytesOfTurn(folder), [1024, "B"]);
}

/** Steps that may not be repeated and end together, compared with as many one after another. */
async function togetherCost(): Promise<void> {
  const store = openStore(place("together.db"));
  await using journal = await store.open("run");
  let count = 0;
  const wide = 16;
  const step = () => ({
    key: `${(count += 1)}`,
    run: () => Promise.resolve("a result of some length"),
    lost: () => Promise.resolve(""),
  });
  const ratios: number[] = [];
  for (let round = 0; round < 21; round += 1) {
    const [apart] = await timed(async () => {
      for (let each = 0; each < wide; each += 1) await journal.step(step());
    });
    const [together] = await timed(() => journal.all(Array.from({ length: wide }, step)));
    ratios.push(together / apart);
  }
  report(`${wide} steps that end together, over as many one by one`, median(ratios), [0.3, "×"]);
}

/** A step compared with the simplest insert that stores as much, in turns. */
async function besideInsert(
  perStep: (one: Pick<Journal, "step">) => Promise<number>,
  journal: Journal,
): Promise<void> {
  const client = new pg.Client(server?.url);
  await client.connect();
  await client.query(
    "CREATE TABLE plain (run bigint, key text, fingerprint text, json text, PRIMARY KEY (run, key))",
  );
  const text = "INSERT INTO plain VALUES ($1, $2, $3, $4)";
  const plain: Pick<Journal, "step"> = {
    async step({ key, run, fingerprint }) {
      const result = await run();
      await client.query({ name: "plain", text, values: [1, key, fingerprint?.(), JSON.stringify(result)] });
      return result;
    },
  };
  const times: [step: number, insert: number][] = [];
  for (let round = 0; round < 41; round += 1) times.push([await perStep(journal), await perStep(plain)]);
  await client.end();
  const insert = median(times.map(([, each]) => each));
  const ratio = median(times.map(([step, each]) => step / each));
  console.log(
    `        a step takes ${ratio.toFixed(2)} × the insert of a row, which takes ${insert.toFixed(0)} µs here and now`,
  );
  report("a step, over 1.3 × that insert", median(times.map(([step, each]) => step - 1.3 * each)), [
    100,
    "µs",
  ]);
}

try {
  if (values.store === "dbos") await recovery(["sqlite", "postgres", "dbos"]);
  else {
    await stepCost();
    await togetherCost();
    await answerLatency();
    await recovery([server === undefined ? "sqlite" : "postgres"]);
    await scale();
    if (server === undefined) {
      await ratios();
      await retention();
    }
  }
} finally {
  for (const child of children) child.kill("SIGKILL");
  server?.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = hasFailed ? 1 : 0;
