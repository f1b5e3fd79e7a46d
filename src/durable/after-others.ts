import type { DurableAround } from "./durable-options.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { startKey } from "../journal/record-form.ts";
import { trustedLabel } from "../message/label.ts";
import type { Json } from "../util/json.ts";
import { repeatedly } from "./repeatedly.ts";
import { pagedRuns } from "./paged-runs.ts";
import type { RunJournal, RunStatus, RunStore, StoredRun } from "./run-store.ts";
import { wakeById } from "./waking.ts";

/** The most runs of one session that are looked at. */
const most = 1000;

/** The most runs that are read at a time. */
const page = 100;

/** The states of runs that have not ended, in the order of the look-ups: a run that goes on meanwhile enters a state that comes later. */
const unended: readonly RunStatus[] = ["running", "waiting", "ready", "running"];

/** The key of the question of a run that waits for the end of another one, with its beginning. */
const after = "after/";
const keyAfter = (id: string): string => after + id;

/** The signal that a run has ended. */
const nameOf = (id: string): string => `end of ${id}`;

/**
 * Checks whether a run that was just taken must wait, before it begins, until earlier runs of its session have ended, as its caller wanted. Returns
 * the function that gives it up until then; undefined if it begins now.
 */
export async function waitForOthers(
  journal: RunJournal,
  around: DurableAround,
): Promise<(() => Promise<void>) | undefined> {
  const { run } = journal;
  const { store } = around;
  const isPatient = run.options["whenWaiting"] === "after" && journal.find?.(startKey) === undefined;
  if (!isPatient || journal.ask === undefined) return undefined;
  const passed = new Set<string>();
  for (;;) {
    const other = await lastBefore(run, store, passed);
    if (other === undefined) return undefined;
    passed.add(other.id);
    const request = requestOf(run, other.id);
    const asked = await journal.ask({ key: keyAfter(other.id), request, signal: nameOf(other.id) });
    if ("answer" in asked) continue;
    if (!(await hasEnded(other.id, store))) return () => waitFor(other.id, journal, around);
    await store.signal(run.id, signalOf(other.id)); // the other run ended before the question was kept
  }
}

/** Gives a run up until another one has ended. A process that ends the other one right now may not see yet that this one waits. */
async function waitFor(other: string, journal: RunJournal, around: DurableAround): Promise<void> {
  await journal.wait();
  await wakeEnded(journal.run.id, other, around).catch(() => undefined); // the run is found again later
}

/** Wakes a run that waits for the end of another one, if that has ended. */
async function wakeEnded(id: string, other: string, around: DurableAround): Promise<void> {
  if (!(await hasEnded(other, around.store))) return;
  await around.store.signal(id, signalOf(other));
  await wakeById(id, around);
}

/** Wakes the runs that waited for the end of this one. */
export async function wakeAfter({ id, session }: StoredRun, around: DurableAround): Promise<void> {
  if (session === undefined) return;
  const { store } = around;
  for (const run of await store.list({ session, status: "waiting", asks: keyAfter(id), limit: most }))
    for (const question of await store.questions(run.id))
      if (question.key === keyAfter(id)) {
        await store.signal(run.id, signalOf(id));
        await wakeById(run.id, around);
      }
}

/** Searches repeatedly for runs that wait for an ended run whose process died before it could tell them. Returns a function that ends the search. */
export function wakeForgotten(around: DurableAround): () => void {
  return repeatedly(around.host, () => wakeAll(around));
}

async function wakeAll(around: DurableAround): Promise<void> {
  const { store } = around;
  for await (const { id } of pagedRuns(store, { status: "waiting", asks: after, limit: page, most: page }))
    for (const { key } of await store.questions(id))
      if (key.startsWith(after)) await wakeEnded(id, key.slice(after.length), around);
}

const signalOf = (id: string) => ({ name: nameOf(id), value: null, id: keyAfter(id) });

/** True also of a run that is gone. */
async function hasEnded(id: string, store: RunStore): Promise<boolean> {
  const run = await store.read(id);
  return run === undefined || run.end !== undefined || run.status === "moved";
}

/** The earlier runs of a run's session that have not ended. Forks are left out: they only read the session. */
export async function othersBefore(
  { id: before, session }: StoredRun,
  store: RunStore,
): Promise<readonly StoredRun[]> {
  if (session === undefined) return [];
  const others: StoredRun[] = [];
  for (const status of unended) others.push(...(await store.list({ session, status, before, limit: most })));
  return others.filter(({ fork }) => fork === undefined);
}

/**
 * The latest of the earlier runs of a run's session that have not ended, without those passed already. Each run waits for the one before it, so that an end
 * wakes one of them and not all.
 */
async function lastBefore(
  { id: before, session }: StoredRun,
  store: RunStore,
  passed: ReadonlySet<string>,
): Promise<StoredRun | undefined> {
  let last: StoredRun | undefined;
  if (session === undefined) return undefined;
  for (const status of unended)
    for await (const run of pagedRuns(store, { session, status, before, limit: 1, most: page })) {
      if (run.fork !== undefined || passed.has(run.id)) continue;
      if (run.begunAt >= (last?.begunAt ?? 0)) last = run;
      break;
    }
  return last;
}

/** The question, as `waiting` shows it, although there is nothing to approve. */
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
