import type { StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { callsOf, contentText } from "../message/message.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { lineOf } from "./bounded.ts";
import { neverRan } from "./never-ran.ts";
import { readRecords, type ReadRecords } from "./read-records.ts";
import type { ListedRun } from "./view.ts";

/** The summary of a run: only from its row if no records are given. */
export function listRun(
  run: StoredRun,
  records: readonly JournalRecord[] = [],
  questions: readonly WaitingQuestion[] = [],
): ListedRun {
  return summaryOf(run, readRecords(records), questions);
}

/** The summary of a run whose records were read. */
export function summaryOf(
  run: StoredRun,
  read: ReadRecords,
  questions: readonly WaitingQuestion[],
): ListedRun {
  const { id, agent, status, begunAt, endedAt, session, fork, input, end } = run;
  const counted = countCalls(read, questions, end !== undefined);
  const tokens = tokensOf(run, read);
  return {
    id,
    agent,
    status,
    begunAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(session === undefined ? {} : { session }),
    ...(fork === undefined ? {} : { forkOf: fork.run }),
    asked: lineOf(askedIn(input)),
    told: end === undefined ? "" : lineOf(outcomeText(end.outcome)),
    turns: Math.max(end?.turns ?? 0, ...read.models.keys()),
    ...counted,
    waiting: questions.length,
    ...(tokens === undefined ? {} : { tokens }),
  };
}

/** The input as a value to show: for a conversation its last message. */
function askedIn(input: Json): Json {
  const last = Array.isArray(input) ? input.at(-1) : undefined;
  if (last === undefined || !isJsonObject(last) || !Array.isArray(last["parts"])) return input;
  const texts = last["parts"].flatMap((part) =>
    isJsonObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
  );
  return texts.length === 0 ? input : texts.join(" ");
}

/** The outcome in words. */
export function outcomeText(outcome: NonNullable<StoredRun["end"]>["outcome"]): string {
  if (outcome.type === "answered") return contentText(outcome.content);
  return outcome.type === "cancelled" ? outcome.reason : outcome.message;
}

function countCalls(
  { models, calls, refusals, answers }: ReadRecords,
  questions: readonly WaitingQuestion[],
  hasEnded: boolean,
): Pick<ListedRun, "calls" | "refused" | "tools"> {
  const tools = new Set<string>();
  const last = Math.max(0, ...models.keys());
  let count = 0;
  let refused = 0;
  for (const [turn, asked] of models) {
    const reply = asked.at(-1)?.message;
    for (const [index, call] of (reply === undefined ? [] : callsOf(reply)).entries()) {
      const key = `turn/${turn}/call/${index}`;
      tools.add(call.name);
      count += 1;
      const isAsked = questions.some((question) => question.key === `turn/${turn}/approval/${index}`);
      const isOver =
        hasEnded || turn < last || answers.get(`turn/${turn}/approval/${index}`)?.approved === false;
      const hasRun = calls.has(key) && !neverRan.has(calls.get(key)?.result.status ?? "");
      if (!hasRun && !isAsked && (isOver || calls.has(key) || refusals.has(key))) refused += 1;
    }
  }
  return { calls: count, refused, tools: [...tools] };
}

function tokensOf({ end }: StoredRun, { models }: ReadRecords): number | undefined {
  if (end?.usage !== undefined) return end.usage.inputTokens + end.usage.outputTokens;
  if (models.size === 0) return undefined;
  return [...models.values()]
    .flat()
    .reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0);
}
