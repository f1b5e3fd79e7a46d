import type { DurableAround } from "./durable-options.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { startKey } from "../journal/record-form.ts";
import { trustedLabel } from "../message/label.ts";
import type { Json } from "../util/json.ts";
import type { RunJournal, RunStatus, RunStore, StoredRun } from "./run-store.ts";
import { isWaitFor } from "./signals.ts";
import { wakingById } from "./waking.ts";

/** The most runs of one session that are looked at. */
const most = 1000;

/** The delay after which runs are looked for that wait for one which ended when nobody could tell them. */
const lookMs = 60_000;

/** The states of runs that have not ended, one looked at after the other: a run that goes on meanwhile comes into one that follows. */
const unended: readonly RunStatus[] = ["running", "waiting", "ready", "running"];

/** The key of the question of a run that waits for the end of another one. */
const keyAfter = (id: string): string => `after/${id}`;

/** The signal that a run has ended. */
const nameOf = (id: string): string => `end of ${id}`;

/**
 * Looks whether a run that was just taken waits until those of its session have ended that were begun before it: as its caller wants, before it begins. Gives what
 * gives it up until then; undefined where it begins now.
 */
export async function waitForOthers(
  journal: RunJournal,
  around: DurableAround,
): Promise<(() => Promise<void>) | undefined> {
  const { run } = journal;
  const { store } = around;
  const isPatient = run.options["whenWaiting"] === "after" && journal.find?.(startKey) === undefined;
  if (!isPatient || journal.ask === undefined) return undefined;
  for (const other of await othersBefore(run, store)) {
    const request = requestOf(run, other.id);
    const asked = await journal.ask({ key: keyAfter(other.id), request, signal: nameOf(other.id) });
    if ("answer" in asked) continue;
    if (!(await hasEnded(other.id, store))) return () => waitFor(other.id, journal, around);
    await store.signal(run.id, signalOf(other.id)); // it ended before the question was kept
  }
  return undefined;
}

/** Gives a run up until another one has ended. Whoever ends that in this moment may not see yet that somebody waits for it. */
async function waitFor(other: string, journal: RunJournal, around: DurableAround): Promise<void> {
  await journal.wait();
  await wakeEnded(journal.run.id, other, around).catch(() => undefined); // it is looked for again
}

/** Lets a run go on that waits for the end of another one, where that has ended. */
async function wakeEnded(id: string, other: string, around: DurableAround): Promise<void> {
  if (!(await hasEnded(other, around.store))) return;
  await around.store.signal(id, signalOf(other));
  await wakingById(around, around.host)(id);
}

/** Lets the runs go on that waited for the end of another one. */
export async function wakeAfter({ id, session }: StoredRun, around: DurableAround): Promise<void> {
  if (session === undefined) return;
  const { store } = around;
  const wake = wakingById(around, around.host);
  for (const run of await store.list({ session, status: "waiting", limit: most }))
    for (const question of await store.questions(run.id))
      if (isWaitFor(question, nameOf(id))) {
        await store.signal(run.id, signalOf(id));
        await wake(run.id);
      }
}

/** Looks again and again for runs that wait for one which has ended: whoever ended it died before it could tell them. What it returns ends that. */
export function wakeForgotten(around: DurableAround): () => void {
  const { host } = around;
  let stop: () => void;
  let isOver = false;
  const later = (afterMs: number): void => {
    if (!isOver) stop = host.timer(afterMs, look);
  };
  const look = (): void =>
    void wakeAll(around).then(
      () => later(lookMs),
      () => later(lookMs),
    ); // a store that fails is asked again
  later(10);
  return () => {
    isOver = true;
    stop();
  };
}

async function wakeAll(around: DurableAround): Promise<void> {
  for (const { runId, key } of await around.store.questions()) {
    const other = /^after\/(?<id>.*)$/s.exec(key)?.groups?.["id"];
    if (other !== undefined) await wakeEnded(runId, other, around);
  }
}

const signalOf = (id: string) => ({ name: nameOf(id), value: null, id: keyAfter(id) });

/** True of a run that is not here any more too. */
async function hasEnded(id: string, store: RunStore): Promise<boolean> {
  const run = await store.read(id);
  return run === undefined || run.end !== undefined || run.status === "moved";
}

/** The runs of the session of a run that were begun before it and have not ended. Forks, which only read it, are none of them. */
export async function othersBefore(
  { id: before, session }: StoredRun,
  store: RunStore,
): Promise<readonly StoredRun[]> {
  if (session === undefined) return [];
  const others = new Map<string, StoredRun>();
  for (const status of unended)
    for (const run of await store.list({ session, status, before, limit: most }))
      if (run.fork === undefined) others.set(run.id, run);
  return [...others.values()];
}

/** The question, as `waiting` shows it: nobody approves anything. */
function requestOf({ agent, id }: StoredRun, other: string): Json {
  const request: ApprovalRequest = {
    agent,
    skill: "",
    turn: 0,
    callId: id,
    tool: "start",
    effect: "none",
    arguments: {},
    rule: "waits",
    reason: `the run begins when "${other}" of its session has ended`,
    values: [],
    label: trustedLabel,
    intent: { text: "", hash: "" },
    links: [],
    show: [],
    hash: "",
    path: [agent],
    policy: "",
    waitsFor: { signal: nameOf(other) },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request is plain data
  return request as unknown as Json;
}
