import fc from "fast-check";
import { type Agent, makeAgent } from "../../src/agent/agent.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import type { RunResult } from "../../src/agent/runnable.ts";
import { isWritError } from "../../src/error/writ-error.ts";
import type { Checkpoint } from "../../src/run/checkpoint.ts";
import { inMemorySessions } from "../../src/session/in-memory-sessions.ts";
import { memoryBank } from "../../src/session/memory-bank.ts";
import { session } from "../../src/session/session.ts";
import type { Json } from "../../src/util/json.ts";
import { approveOf, definitionOf, input, skillOf, skillTools } from "./build-run.ts";
import { executionFaults, type Faults, isNotHigher, powerFaults, transcriptFaults } from "./checks.ts";
import { anyJson } from "./hostile.ts";
import { changed, type Change, change } from "./mutate.ts";
import { shown } from "./play-agent.ts";
import { type Book, openBook } from "./record.ts";
import { scene, type Scene } from "./scene.ts";

type Fuzzed = Agent<string, string>;

/** A run that is left after some turns, and gone on with from a checkpoint that somebody touched. */
export interface ResumeScene {
  readonly scene: Scene;
  readonly turn: number;
  readonly changes: readonly Change[];
}

/** A conversation over two runs. */
export interface SessionScene {
  readonly first: Scene;
  readonly history: "answers" | "all";
  readonly remembers: boolean;
}

/** Scenes that end by themselves: no time, no abort, no journal but none. */
const calm = scene.map((each): Scene => ({
  ...each,
  abort: { at: "never", nth: 1 },
  journal: "none",
  mode: "run",
  clock: "still",
  budget: { turns: 6 },
  only: undefined,
  ceiling: undefined,
  words: false,
}));

export const resumeScene: fc.Arbitrary<ResumeScene> = fc.record({
  scene: calm,
  turn: fc.nat(3),
  changes: fc.array(change(anyJson), { maxLength: 2 }),
});

export const sessionScene: fc.Arbitrary<SessionScene> = fc.record({
  first: calm,
  history: fc.constantFrom("answers", "all"),
  remembers: fc.boolean(),
});

interface Made {
  readonly agent: Fuzzed;
  readonly book: Book;
}

function make(scene: Scene, more: object = {}): Made | undefined {
  const book = openBook();
  try {
    const definition = { ...definitionOf(scene, book), ...more };
    return { book, agent: makeAgent<string, string>(definition, { host: book.host, resolveModel }) };
  } catch (error) {
    if (isWritError(error)) return undefined;
    throw error;
  }
}

/** Resumes runs from touched checkpoints, and says what was wrong. */
export async function playResume({ scene, turn, changes }: ResumeScene): Promise<Faults> {
  const made = make(scene);
  if (made === undefined) return [];
  const { agent, book } = made;
  const skill = skillOf(scene);
  const options = { runId: "r", approve: approveOf(scene, book), ...(skill === undefined ? {} : { skill }) };
  let checkpoint: Checkpoint | undefined;
  const walking = (async () => {
    const turns = agent.turns(input(scene), options);
    for (let count = 0; count <= turn; count += 1) {
      const next = await turns.next();
      if (next.done === true) break;
      checkpoint = JSON.parse(JSON.stringify(next.value)) as Checkpoint;
    }
    await turns.return(undefined as never);
  })().catch(() => undefined);
  if (!(await book.clock.drive(walking))) return ["a run that is left hangs"];
  if (checkpoint === undefined) return [];
  const touched = changed(checkpoint as unknown as Json, changes) as unknown as Checkpoint;
  return resumeFaults({ scene, touched, kept: checkpoint }, made);
}

interface Resuming {
  readonly scene: Scene;
  readonly kept: Checkpoint;
  readonly touched: Checkpoint;
}

async function resumeFaults({ scene, touched, kept }: Resuming, { agent, book }: Made): Promise<Faults> {
  const options = { approve: approveOf(scene, book) };
  let result: RunResult<unknown> | undefined;
  let thrown: unknown;
  const resuming = (async () => {
    try {
      result = await agent.resume(touched, options);
    } catch (error) {
      thrown = error;
    }
  })();
  if (!(await book.clock.drive(resuming))) return ["a resumed run hangs"];
  await book.clock.drain();
  const listed = skillTools(scene).get(kept.skill) ?? [];
  const faults = [
    ...executionFaults(book, { agent: "fuzzed", listed, policy: scene.policy }),
    ...powerFaults(book),
  ];
  if (thrown !== undefined)
    return isWritError(thrown) && thrown.code !== "run-broken"
      ? faults
      : [...faults, `resuming threw ${shown(thrown)}`];
  if (result === undefined) return faults;
  const parts = ["text", "constants", "agent", "skill", "policy", "tools"] as const;
  const isMeant = parts.every(
    (part) => JSON.stringify(touched.intent[part]) === JSON.stringify(kept.intent[part]),
  );
  if (!isMeant) faults.push("a run with another intent was resumed");
  const isWhole = JSON.stringify(touched.transcript) === JSON.stringify(kept.transcript);
  if (isWhole) faults.push(...transcriptFaults(result.transcript.messages));
  return faults;
}

/** Runs an agent twice in one session: the second run is no better than what it is told of the first. */
export async function playSession({ first, history, remembers }: SessionScene): Promise<Faults> {
  const made = make(first, remembers ? { memory: memoryBank() } : {});
  if (made === undefined) return [];
  const { agent, book } = made;
  const store = inMemorySessions();
  const skill = skillOf(first);
  const run = async (): Promise<RunResult<unknown> | undefined> => {
    const options = {
      approve: approveOf(first, book),
      session: session(store, "s", { history }),
      ...(skill === undefined ? {} : { skill }),
    };
    const running = agent.run(input(first), options).catch(() => undefined);
    if (!(await book.clock.drive(running))) throw new Error("a run of a session hangs");
    await book.clock.drain();
    return running;
  };
  const before = await run();
  const judged = book.judged.length;
  const after = await run();
  const faults = [
    ...executionFaults(book, {
      agent: "fuzzed",
      listed: skillTools(first).get(skill ?? "skill_0") ?? [],
      policy: first.policy,
    }),
    ...powerFaults(book),
  ];
  for (const each of [before, after])
    if (each !== undefined) faults.push(...transcriptFaults(each.transcript.messages));
  if (before === undefined || after === undefined) return faults;
  const told = [
    after.label,
    ...book.judged.slice(judged).flatMap(({ agent: name, label }) => (name === "fuzzed" ? [label] : [])),
  ];
  const better = told.find((label) => !isNotHigher(label, before.label));
  if (better !== undefined)
    faults.push(
      `the label rose between runs from ${JSON.stringify(before.label)} to ${JSON.stringify(better)}`,
    );
  return faults;
}
