import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { durableRuns } from "../../src/durable.ts";
import { memoryJournal } from "../../src/index.ts";
import type { DispatcherUnderTest } from "../../test/contract/dispatcher.ts";
import { sqliteUnderTest } from "../../test/contract/run-store-sqlite.ts";
import type { SharedStoreUnderTest } from "../../test/contract/run-store.ts";
import { approveAll } from "./approve-all.ts";
import { bossOf, died, dying, type ToldEnd } from "./boss.ts";
import { replayFaults, ToldFacts } from "./told-facts.ts";

const program = fileURLToPath(new URL("process.ts", import.meta.url));
const execute = promisify(execFile);

/** The end of a run that was killed again and again. */
export interface KilledRun {
  readonly points: readonly string[];
  /** The number of kills that hit: a point past the end of the run kills nothing. */
  readonly kills: number;
  readonly complaints: readonly string[];
  /** Calls of the outer run whose result is `unknown`. */
  readonly unknown: number;
}

/** Where a run is kept, and whether its payments wait for answers. */
export interface KillOptions {
  readonly waits?: boolean;
  /** Default: a SQLite file. A worker of a dispatcher has no `approve`: where the run does not wait, a person answers while the worker lives. */
  readonly store?: SharedStoreUnderTest | DispatcherUnderTest;
}

/**
 * Carries out one run, killed at each point in turn, until it ends; then checks the result. A point is counted from the death before. Where the run
 * `waits`, its payments are approved one by one while no process carries it out.
 */
export async function killRun(
  points: readonly string[],
  { waits = false, store = sqliteUnderTest }: KillOptions = {},
): Promise<KilledRun> {
  const undisturbed = await endUndisturbed(waits);
  const { ended, kills, lines } = await carriedOut(points, { waits, store });
  const complaints = [...doneTwice(lines), ...wrongEnds(lines, ended, undisturbed)];
  return { points, kills, unknown: unknownIn(ended), complaints };
}

/** Carries out a run in one process after the other, until it ends. */
async function carriedOut(points: readonly string[], { waits, store }: Required<KillOptions>) {
  const place = await scene(store);
  try {
    const left = [...points];
    const replay: string[] = []; // the faults of each part that ended with a question
    for (let kills = 0; ;) {
      const how = [left[0] ?? "none", waits ? "waits" : ""];
      const end = await carryOn([store.module, place.address, place.ledger, "run", ...how]);
      if (end === undefined) {
        kills += 1;
        left.shift();
        appendFileSync(place.ledger, `${died}\n`);
      } else if (end.outcome === "suspended") {
        replay.push(...end.replay);
        await approveFromOutside(store, place.address);
      } else
        return { ended: { ...end, replay: [...replay, ...end.replay] }, kills, lines: linesOf(place.ledger) };
    }
  } finally {
    await place.remove();
  }
}

/**
 * Does the same in memory, in one process: a killed run stands still for ever, and its records are those that were there by then.
 */
export async function killInMemory(points: readonly string[]): Promise<KilledRun> {
  const undisturbed = await endUndisturbed();
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const left = [...points];
  let records: ReturnType<typeof memoryJournal>["records"] = [];
  for (let kills = 0; ; kills += 1) {
    const journal = memoryJournal(records);
    const { promise: died, resolve: kill } = Promise.withResolvers<undefined>();
    const die = (): Promise<never> => {
      kill(undefined);
      return new Promise(() => undefined);
    };
    const mortal = dying(journal, { point: left.shift() ?? "none", write, die });
    const told = new ToldFacts("run");
    const options = { journal: mortal, runId: "run", approve: () => true, onEvent: told.take };
    const run = bossOf(write).run("Go", options);
    const result = await Promise.race([died, run]);
    records = [...journal.records];
    if (result === undefined) continue;
    const { outcome, output, transcript } = result;
    const results = transcript.messages.filter((message) => message.role === "tool");
    const replay = await replayFaults(records, "run", { told, inSession: false });
    const facts = told.lines;
    const ended: ToldEnd = { ...undisturbed, outcome: outcome.type, output, results, facts, replay };
    const complaints = [...doneTwice(lines), ...wrongEnds(lines, ended, undisturbed)];
    return { points, kills, unknown: unknownIn(ended), complaints };
  }
}

const known = new Map<boolean, Promise<ToldEnd>>();

/** The end of a run that is never killed. */
function endUndisturbed(waits = false): Promise<ToldEnd> {
  const end =
    known.get(waits) ?? carriedOut([], { waits, store: sqliteUnderTest }).then(({ ended }) => ended);
  known.set(waits, end);
  return end;
}

/** An empty place for a run, with its ledger. */
async function scene({ place }: Pick<SharedStoreUnderTest, "place">) {
  const folder = mkdtempSync(join(tmpdir(), "writ-kill-"));
  const { address, remove } = await place();
  return {
    address,
    ledger: join(folder, "ledger"),
    async remove() {
      await remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A process stops at a point of its run, like a machine that is put to sleep, and `loses` the run to another one, which ends it. Then the first is
 * woken: it makes at most the call that it had begun, whose result is unknown to the other, finds out and ends.
 */
export async function wakeOwner(
  point: string,
  { store, loses }: { readonly store: SharedStoreUnderTest; readonly loses: () => Promise<void> },
): Promise<KilledRun> {
  const undisturbed = await endUndisturbed();
  const place = await scene(store);
  const given = [store.module, place.address, place.ledger, "run"];
  const owner = spawn(process.execPath, ["--no-warnings", program, ...given, `${point}:SIGSTOP`]);
  try {
    let said = "";
    for (const stream of [owner.stdout, owner.stderr]) stream.on("data", (data) => (said += String(data)));
    const gone = once(owner, "exit");
    await stopped(owner);
    await loses();
    const ended = await carryOn([...given, "none"]);
    owner.kill("SIGCONT");
    await gone;
    const lines = linesOf(place.ledger);
    if (ended === undefined) throw new Error("the second process was killed");
    const complaints = [
      ...paidTwice(lines),
      ...wrongEnds(lines, ended, undisturbed),
      ...(said.includes("run-taken") ? [] : [`the first process was not told: ${said}`]),
    ];
    return { points: [point], kills: 0, unknown: unknownIn(ended), complaints };
  } finally {
    owner.kill("SIGKILL");
    await place.remove();
  }
}

/** Waits until a process has stopped itself. */
async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error("the process ended before it stopped");
  if (/^\d+ \(.*\) T /.test(readFileSync(`/proc/${String(child.pid)}/stat`, "utf8"))) return;
  await sleep(10);
  return stopped(child);
}

const linesOf = (ledger: string): readonly string[] => readFileSync(ledger, "utf8").trim().split("\n");

const unknownIn = ({ facts }: ToldEnd): number => facts.filter((text) => text.endsWith(" unknown")).length;

/** How the run ended; undefined when the process was killed. */
async function carryOn(given: readonly string[]): Promise<ToldEnd | undefined> {
  try {
    const { stdout } = await execute(process.execPath, ["--no-warnings", program, ...given]);
    return JSON.parse(stdout) as ToldEnd;
  } catch (error) {
    if ((error as { signal?: unknown }).signal === "SIGKILL") return undefined;
    throw error;
  }
}

/** Approves the questions, as a process of its own would. */
async function approveFromOutside(
  under: SharedStoreUnderTest | DispatcherUnderTest,
  address: string,
): Promise<void> {
  const { store, dispatcher } =
    "openDispatched" in under
      ? under.openDispatched(address)
      : { store: await under.openRuns(address), dispatcher: undefined };
  const answered = await approveAll(durableRuns({ store, dispatcher }), "run");
  if (answered === 0) throw new Error("the run waits for nothing");
  await dispatcher?.[Symbol.asyncDispose]();
  await store.close();
}

/** Payments that began twice, and work that began again after it had its record. */
function doneTwice(lines: readonly string[]): readonly string[] {
  const kept = new Set<string>();
  const again: string[] = [];
  for (const line of lines) {
    const word = line.slice(0, line.indexOf(" "));
    const key = line.slice(word.length + 1);
    if (word === "kept" || word === "known") kept.add(key);
    if (word === "in" && kept.has(key)) again.push(`${key} is recorded, and was done again`);
  }
  return [...paidTwice(lines), ...again];
}

/** Payments whose beginning stands in the ledger more than once. */
function paidTwice(lines: readonly string[]): readonly string[] {
  const begun = lines.filter((line) => line.startsWith("begin pay "));
  return begun.filter((line, place) => begun.indexOf(line) !== place).map((line) => `${line} twice`);
}

/** What must be the same however often a run was killed. */
function shown({ outcome, output, results, facts, session }: ToldEnd): readonly string[] {
  return [
    `${outcome} ${JSON.stringify(output)}, ${session} runs in its session`,
    ...results.map(({ name }) => name),
    ...facts.map((text) => text.replace(/ unknown$/, " ok")), // a payment that nobody knows about differs in its result alone
  ];
}

/** The differences from the end of a run that was never killed, except for payments whose result is unknown. */
function wrongEnds(lines: readonly string[], ended: ToldEnd, undisturbed: ToldEnd): readonly string[] {
  const isPaid = (text: string): boolean => lines.some((line) => line.startsWith(`end ${text} `));
  const expected = shown(undisturbed);
  const differs = shown(ended)
    .flatMap((text, place) => (text === expected[place] ? [] : [`${text} in place of ${expected[place]}`]))
    .slice(0, 3);
  return [
    ...differs,
    ...ended.replay,
    ...(shown(ended).length === expected.length
      ? []
      : [`${shown(ended).length} of ${expected.length} lines`]),
    ...ended.results
      .filter(({ name, status }) => status !== "ok" && (status !== "unknown" || name !== "pay"))
      .map(({ name, status, text }) => `${name} is ${status}: ${text}`),
    ...ended.results
      .filter(({ name, status, text }) => name === "pay" && status === "ok" && !isPaid(text))
      .map(({ text }) => `${text} is ok, and did not happen`),
  ];
}
