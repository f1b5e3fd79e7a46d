import { makeAgent, type Agent } from "../../src/agent/agent.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import type { RunResult } from "../../src/agent/runnable.ts";
import type { RunOptions } from "../../src/agent/run-options.ts";
import { isWritError } from "../../src/error/writ-error.ts";
import type { AgentEvent } from "../../src/event/event.ts";
import { directJournal } from "../../src/journal/direct-journal.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { memoryJournal, type MemoryJournal } from "../../src/journal/memory-journal.ts";
import { limitsOf } from "../../src/policy/account/budget.ts";
import { powersOf } from "./build-tools.ts";
import { approveOf, definitionOf, input, skillOf, skillTools } from "./build-run.ts";
import {
  completeFaults,
  eventFaults,
  executionFaults,
  type Faults,
  type Played,
  powerFaults,
  secretFaults,
  transcriptFaults,
} from "./checks.ts";
import { userWords } from "./hostile.ts";
import { labelFaults } from "./label-checks.ts";
import { type Book, openBook } from "./record.ts";
import type { Scene } from "./scene.ts";

type Fuzzed = Agent<string, string>;

/** What makes a definition that was refused no fault: it was refused by name. */
const refusals = new Set([
  "budget-invalid",
  "definition-invalid",
  "tool-unknown",
  "policy-invalid",
  "budget-without-price",
]);

/** Plays one scene with an agent in it, and says what was wrong. */
export async function playAgent(scene: Scene): Promise<Faults> {
  const book = openBook(scene.abort, scene.clock === "jumps");
  let agent: Fuzzed;
  try {
    agent = makeAgent<string, string>(definitionOf(scene, book), { host: book.host, resolveModel });
  } catch (error) {
    return isWritError(error) && refusals.has(error.code) ? [] : [`the definition failed: ${shown(error)}`];
  }
  const journal = journalOf(scene);
  const events: AgentEvent[] = [];
  const options = optionsOf(scene, { book, journal, events });
  const began = book.clock.now();
  const first = await play({ scene, agent, options, events, book });
  // An author who wants no bound on time has none.
  if (first === "hangs") return scene.budget.durationMs === Infinity ? [] : ["the run hangs"];
  const took = book.clock.now() - began;
  await book.clock.drain();
  const played = { ...first, book, events };

  const faults = [...faultsOf(scene, played), ...timeFaults(scene, took), ...book.clock.faults];
  const isWhole = first.result !== undefined && scene.mode !== "leave" && !book.signal.aborted;
  if (scene.journal === "replay" && faults.length === 0 && isWhole)
    faults.push(...(await replayFaults(scene, { agent, journal: journal as MemoryJournal, book })));
  return faults;
}

interface Playing {
  readonly scene: Scene;
  readonly agent: Fuzzed;
  readonly options: RunOptions;
  readonly events: AgentEvent[];
  readonly book: Book;
}

async function play(playing: Playing): Promise<Pick<Played, "result" | "thrown" | "others"> | "hangs"> {
  const left: { result?: RunResult<unknown>; thrown?: unknown; others: unknown[] } = { others: [] };
  const work = (async () => {
    try {
      const result = await walk(playing, left.others);
      if (result !== undefined) left.result = result;
    } catch (error) {
      left.thrown = error ?? "nothing";
    }
  })();
  return (await playing.book.clock.drive(work)) ? left : "hangs";
}

async function walk(
  { scene, agent, options, events }: Playing,
  others: unknown[],
): Promise<RunResult<unknown> | undefined> {
  const asked = input(scene);
  if (scene.mode === "run" || scene.mode === "watched") return agent.run(asked, options);
  if (scene.mode === "turns") {
    const turns = agent.turns(asked, options);
    let next = await turns.next();
    for (; next.done !== true; next = await turns.next()) others.push(JSON.parse(JSON.stringify(next.value)));
    return next.value;
  }
  const stream = agent.stream(asked, options);
  const most = scene.mode === "leave" ? (scene.table[0] ?? 0) % 12 : Infinity;
  for (let count = 0; count <= most; count += 1) {
    const next = await stream.next();
    if (next.done === true) return next.value;
    events.push(next.value);
  }
  await stream.return(undefined as never);
  return undefined;
}

interface Around {
  readonly book: Book;
  readonly journal: Journal | undefined;
  readonly events: AgentEvent[];
}

function optionsOf(scene: Scene, { book, journal, events }: Around): RunOptions {
  const skill = skillOf(scene);
  return {
    runId: "r",
    signal: book.signal,
    approve: approveOf(scene, book),
    journal,
    ...(skill === undefined ? {} : { skill }),
    ...(scene.ceiling === undefined ? {} : { ceiling: powersOf(scene.ceiling) }),
    ...(scene.only === undefined ? {} : { tools: scene.only.map((number) => scene.names[number] ?? "") }),
    ...(scene.words ? { intent: userWords } : {}),
    ...(scene.mode === "watched" ? { onEvent: (event: AgentEvent) => void events.push(event) } : {}),
  };
}

function journalOf({ journal, table }: Scene): Journal | undefined {
  if (journal === "none") return undefined;
  if (journal !== "broken") return memoryJournal();
  let steps = 0;
  return {
    ...directJournal,
    async step(step) {
      if ((steps += 1) > (table[0] ?? 0) % 6) throw new Error("the journal is lost");
      return step.run();
    },
  };
}

/** The tools that may be called: those of the skill that was taken, and no others than the caller leaves. */
function listedIn(scene: Scene): readonly string[] {
  const listed = skillTools(scene).get(skillOf(scene) ?? "skill_0") ?? [];
  const { only, names } = scene;
  return only === undefined ? listed : listed.filter((name) => only.some((number) => names[number] === name));
}

function faultsOf(scene: Scene, played: Played): Faults {
  const { book, events, result, thrown } = played;
  const isWhole = (scene.mode === "watched" || scene.mode === "stream") && scene.journal !== "broken";
  return [
    ...(result === undefined ? [] : transcriptFaults(result.transcript.messages)),
    ...executionFaults(book, { agent: "fuzzed", listed: listedIn(scene), policy: scene.policy }),
    ...powerFaults(book),
    ...eventFaults(events),
    ...(isWhole && events.length > 0 ? completeFaults(events) : []),
    ...secretFaults(played),
    ...labelFaults(book, scene, result),
    ...boundFaults(scene, played),
    ...intentFaults(played),
    ...thrownFaults(scene, thrown),
  ];
}

/** What is thrown is the world's failure, said in the words of the catalogue; `run-broken` is the runtime's own. */
function thrownFaults({ journal, hook }: Scene, thrown: unknown): Faults {
  if (thrown === undefined || journal === "broken") return [];
  if (!isWritError(thrown)) return [`threw ${shown(thrown)}`];
  if (thrown.code !== "run-broken") return [];
  return [`the run broke: ${shown(thrown.cause).split("\n").slice(0, 3).join(" ")} (hook ${hook})`];
}

/** Requests of one turn: each is made again, as long as its reply ends with an error or breaks off. */
const mostAttempts = 3;

/** No more was asked and called than the bounds leave; nothing that a provider said made a count that is none. */
function boundFaults({ budget, tools, replies }: Scene, { book, result }: Played): Faults {
  const limits = limitsOf(budget, "fuzzed");
  const faults: Faults = [];
  const usesModel = tools.some(({ reaches }) => reaches.includes(11));
  const turns = Math.ceil(limits.turns);
  const failed = replies
    .slice(0, book.requests.length)
    .filter(({ finish, fault }) => finish === "error" || fault === "no-end").length;
  if (!usesModel && book.requests.length > Math.min(turns + failed, turns * mostAttempts))
    faults.push(`${book.requests.length} requests in ${limits.turns} turns`);
  const ran = book.ran.filter(({ agent }) => agent === "fuzzed").length;
  if (ran > Math.ceil(limits.toolCalls)) faults.push(`${ran} tools ran, and ${limits.toolCalls} may`);
  const { inputTokens = 0, outputTokens = 0 } = result?.usage ?? {};
  const areCounts = [inputTokens, outputTokens].every((count) => Number.isSafeInteger(count) && count >= 0);
  return areCounts ? faults : [...faults, `the usage is ${inputTokens} and ${outputTokens}`];
}

/** What the policy was told, what the events say and what checkpoints keep is one intent. */
function intentFaults({ book, events, others = [], result }: Played): Faults {
  const kept = [...others, result?.checkpoint].flatMap((checkpoint) =>
    checkpoint === undefined
      ? []
      : [(checkpoint as { readonly intent: { readonly hash: string } }).intent.hash],
  );
  const told = events.flatMap(({ intent, runId }) => (runId === "r" && intent !== undefined ? [intent] : []));
  const judged = book.judged.filter(({ agent }) => agent === "fuzzed").map(({ intent }) => intent);
  const all = new Set([...kept, ...told, ...judged]);
  return all.size > 1 ? [`${all.size} intents in one run`] : [];
}

/** What an author's own answer about more time may take, and the end of runs inside. */
const graceMs = 25_000;

function timeFaults({ budget, tools, clock, replies }: Scene, took: number): Faults {
  const isHeldUp = clock === "jumps" || tools.some(({ behaviour }) => behaviour.do === "block");
  if (isHeldUp) return [];
  const { durationMs } = limitsOf(budget, "fuzzed");
  const most = durationMs === Infinity ? Infinity : durationMs + graceMs;
  return took > most ? [`the run took ${took} ms of ${durationMs}, with ${replies.length} replies`] : [];
}

/** A run that is played again from its records does nothing again. */
async function replayFaults(
  scene: Scene,
  { agent, journal, book }: { readonly agent: Fuzzed; readonly journal: MemoryJournal; readonly book: Book },
): Promise<Faults> {
  const ran = book.ran.length;
  const again = memoryJournal(journal.records);
  const events: AgentEvent[] = [];
  const options = optionsOf(scene, { book, journal: again, events });
  const work = agent.run(input(scene), options).then(
    () => undefined,
    () => undefined,
  );
  if (!(await book.clock.drive(work)))
    return scene.budget.durationMs === Infinity ? [] : ["the replay hangs"];
  await book.clock.drain();
  const isWhole = again.records.length === journal.records.length;
  return isWhole && book.ran.length > ran ? [`a replay ran ${book.ran.length - ran} tools again`] : [];
}

export function shown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  } catch {
    return "something that cannot be shown";
  }
}
