import { callsBeside } from "../../durable/beside.ts";
import { pastOf } from "../../durable/follow.ts";
import type { StoredRun } from "../../durable/run-store.ts";
import type { Asked } from "../route.ts";
import { toldBeside, toldEvent, toldOutcome } from "../told-failures.ts";
import { AguiEvents } from "./events.ts";
import { type AguiEvent, type AguiMessage, askedMessage } from "./messages.ts";

/** The part of a run that a page is sent. */
export interface Part {
  readonly id: string;
  readonly after: number;
  readonly before: readonly AguiMessage[];
  /** True if the page only looks at the thread. It is sent `before` first, because its own messages may differ. */
  readonly isShown: boolean;
}

// Each message of the user is a run, and all of these are read again.
const runsOfThread = 50;

/** The text that the ids of the messages and calls of a run begin with in its thread. */
export const prefixOf = (id: string, session: string): string => `${id.slice(session.length + 1)}/`;

/** The latest run of a thread, with all earlier messages. */
export async function latest(asked: Asked, session: string): Promise<Part | undefined> {
  // The session may have other runs too.
  const [run, ...earlier] = await asked.runs.list({ session, prefix: `${session}/`, limit: runsOfThread });
  if (run === undefined) return undefined;
  const before: AguiMessage[] = [];
  for (const one of earlier.toReversed()) before.push(...(await messagesOf(asked, one, session)));
  return { id: run.id, after: 0, before: [...before, askedIn(run, session)], isShown: true };
}

/** The messages of a run that has ended or waits. */
async function messagesOf(asked: Asked, run: StoredRun, session: string): Promise<readonly AguiMessage[]> {
  const { served, runs, caller } = asked;
  const before = [askedIn(run, session)];
  const events = new AguiEvents({ prefix: prefixOf(run.id, session), before, state: {} });
  if (run.end !== undefined) {
    for await (const event of runs.events(run.id)) events.of(toldEvent(event, caller));
    events.ended(toldOutcome(run.end.outcome, caller), run.end.output);
  }
  const [question] = run.status === "waiting" ? await runs.waiting(run.id) : [];
  if (question === undefined) return events.messages;
  for await (const event of pastOf(run.id, served)) events.of(toldEvent(event, caller));
  events.waits([question], toldBeside(await callsBeside(question, served.store), caller), 0);
  return events.messages;
}

function askedIn({ id, input, options: { intent } }: StoredRun, session: string): AguiMessage {
  return askedMessage(id.slice(session.length + 1), input, typeof intent === "string" ? intent : undefined);
}

/**
 * The last event for a page that looks at a thread whose latest run is over: the questions of an earlier run that waits for a person. They are all
 * of one run, the latest such, because a page answers all its questions together. Undefined if there is none.
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
