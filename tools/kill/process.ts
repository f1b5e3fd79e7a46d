/**
 * A process that carries out one run from a store, and may kill itself at a point of its journal. Prints how the run ended, as JSON. Arguments: the module of
 * the store, or of a dispatcher that hands the run out; its address, the ledger, the run, the point (boss.ts) or `ms:70` (the run is so many milliseconds
 * old), behind which `:SIGSTOP` stops it in place of killing it, and `waits` where the process ends when a payment waits for
 * its answer.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { durableRuns, type RunJournal, type RunStore } from "../../src/durable.ts";
import { isWritError, session } from "../../src/index.ts";
import type { ReadyTranscript } from "../../src/doors.ts";
import { sqliteSessions } from "../../src/sqlite.ts";
import type { OpenDispatched } from "../../test/contract/dispatcher.ts";
import type { OpenRuns } from "../../test/contract/run-store.ts";
import { approveAll } from "./approve-all.ts";
import { bossOf, dying, type ToldEnd } from "./boss.ts";
import { replayFaults, ToldFacts } from "./told-facts.ts";

const [, , module = "", address = "", ledger = "", runId = "", point = "", waits = ""] = process.argv;
const [unit, age, signal = "SIGKILL"] = point.split(":");
const write = (line: string): void => appendFileSync(ledger, `${line}\n`);
const boss = bossOf(write);
const sessions = sqliteSessions(`${ledger}.sessions`);
const facts = new ToldFacts(runId);

const mortal = <Kept extends RunJournal>(journal: Kept): Kept => {
  if (unit === "ms") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(age)).unref();
  const lines = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n") : [];
  return dying(journal, { point, write, lines, die: () => process.kill(process.pid, signal) });
};

async function tell(
  store: RunStore,
  { outcome, transcript, output }: Pick<ToldEnd, "outcome" | "output"> & { transcript?: ReadyTranscript },
): Promise<void> {
  const results = (transcript?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? [{ name: message.name, status: message.status, text: message.text }] : [],
  );
  const replay = await replayFaults(await store.records(runId), runId, { told: facts, inSession: true });
  const told: ToldEnd = {
    outcome,
    output,
    results,
    facts: facts.lines,
    replay,
    session: (await sessions.read("talk")).runs.length,
  };
  console.log(JSON.stringify(told));
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the module of a store or a dispatcher under test
const opening = (await import(module)) as {
  readonly openRuns?: OpenRuns;
  readonly openDispatched?: OpenDispatched;
};
if (opening.openDispatched !== undefined) await asWorker(opening.openDispatched);
else if (opening.openRuns !== undefined) await alone(await opening.openRuns(address));

/** Claims the run by itself. */
async function alone(store: Awaited<ReturnType<OpenRuns>>): Promise<void> {
  const journal = await opened(store);
  const { outcome, output, transcript } = await boss.run("Go", {
    journal: mortal(journal),
    runId,
    session: session(sessions, "talk"),
    onEvent: facts.take,
    ...(waits === "waits" ? {} : { approve: () => true }),
  });
  await journal.close();
  await tell(store, { outcome: outcome.type, transcript, output });
  await store.close();
}

/** A server needs a moment to see that the process before is dead. */
async function opened(store: RunStore, triesLeft = 500): Promise<RunJournal> {
  try {
    return await store.open(runId);
  } catch (error) {
    if (!isWritError(error, "run-claimed") || triesLeft === 0) throw error;
    await sleep(10);
    return opened(store, triesLeft - 1);
  }
}

/** Is handed the run, and gives it up where it ends, or waits and may wait; else a person beside it answers. */
async function asWorker(open: OpenDispatched): Promise<void> {
  const { store, dispatcher } = open(address);
  const claim: RunStore["claim"] = async (agents, id) => {
    const journal = await store.claim(agents, id);
    return journal && mortal(journal);
  };
  const runs = durableRuns({
    store: { ...store, claim },
    dispatcher,
    agents: [boss],
    sessions: (id) => session(sessions, id),
    onEvent: facts.take,
  });
  const worker = runs.work();
  await runs.start(boss, "Go", { id: runId, session: "talk" });
  const maySuspend = waits === "waits";
  let run = await runs.show(runId);
  while (run?.end === undefined) {
    if (maySuspend && run?.status === "waiting") break;
    if (!maySuspend) await approveAll(runs, runId);
    await sleep(20);
    run = await runs.show(runId);
  }
  await worker.drain();
  if (run.end === undefined) await tell(store, { outcome: "suspended" });
  else {
    const { outcome, output } = run.end;
    await tell(store, { outcome: outcome.type, output, transcript: (await runs.replay(runId)).transcript });
  }
  await dispatcher?.[Symbol.asyncDispose]();
  await store.close();
}
