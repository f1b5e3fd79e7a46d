import { callsBeside } from "../../durable/beside.ts";
import { pastOf } from "../../durable/follow.ts";
import type { StoredRun } from "../../durable/run-store.ts";
import type { Asked } from "../route.ts";
import { AguiEvents } from "./events.ts";
import { type AguiEvent, type AguiMessage, askedMessage } from "./messages.ts";

/** The part of a run that a page is told. */
export interface Part {
  readonly id: string;
  readonly after: number;
  readonly before: readonly AguiMessage[];
  /** The page looks at the thread. It is told `before` first: it may have others. */
  readonly isShown: boolean;
}

// A run for each message of the user, and all of them are read again.
const runsOfThread = 50;

/** The text with which the ids of the messages and calls of a run begin in its thread. */
export const prefixOf = (id: string, session: string): string => `${id.slice(session.length + 1)}/`;

/** The latest run of a thread, after all that was said before it. */
export async function latest(asked: Asked, session: string): Promise<Part | undefined> {
  // Others may be begun in its session.
  const [run, ...earlier] = await asked.runs.list({ session, prefix: `${session}/`, limit: runsOfThread });
  if (run === undefined) return undefined;
  const before: AguiMessage[] = [];
  for (const one of earlier.toReversed()) before.push(...(await messagesOf(asked, one, session)));
  return { id: run.id, after: 0, before: [...before, askedIn(run, session)], isShown: true };
}

/** The messages of a run that is over, or waits. */
async function messagesOf(asked: Asked, run: StoredRun, session: string): Promise<readonly AguiMessage[]> {
  const { served, runs } = asked;
  const before = [askedIn(run, session)];
  const events = new AguiEvents({ prefix: prefixOf(run.id, session), before, state: {} });
  if (run.end !== undefined) {
    for await (const event of runs.events(run.id)) events.of(event);
    events.ended(run.end.outcome, run.end.output);
  }
  const [question] = run.status === "waiting" ? await runs.waiting(run.id) : [];
  if (question === undefined) return events.messages;
  for await (const event of pastOf(run.id, served)) events.of(event);
  events.waits([question], await callsBeside(question, served.store), 0);
  return events.messages;
}

const askedIn = (run: StoredRun, session: string): AguiMessage =>
  askedMessage(run.id.slice(session.length + 1), run.input);

/**
 * The end of what a page is told that looks at a thread whose latest run is over: the questions of the run before it that waits for a person. They are
 * those of one run, the latest of such, since a page answers all that it was asked together. Undefined where there is none.
 */
export async function askedBefore(
  { runs, served }: Asked,
  session: string,
  shown: readonly AguiMessage[],
): Promise<AguiEvent | undefined> {
  for (const { id } of await runs.list({ session, status: "waiting", prefix: `${session}/` })) {
    const questions = await runs.waiting(id);
    if (questions.every(({ request }) => request.waitsFor !== undefined)) continue;
    let last = 0;
    for await (const { seq } of pastOf(id, served)) last = seq;
    const events = new AguiEvents({ prefix: prefixOf(id, session), before: shown, state: {} });
    return events.waits(questions, [], last).at(-1);
  }
  return undefined;
}
