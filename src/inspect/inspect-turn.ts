import type { ToolManifest } from "../agent/describe/manifest-data.ts";
import type { WaitingQuestion } from "../durable/run-store.ts";
import type { Delegation } from "../event/event.ts";
import type { JournalRecord } from "../journal/recorded-journal.ts";
import { callsOf, type ReplyMessage, textOf } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ModelRecord } from "../turn/ask-model.ts";
import type { Json } from "../util/json.ts";
import { bounded } from "./bounded.ts";
import { inspectCall } from "./inspect-call.ts";
import { inputOf } from "./input-inside.ts";
import { firstMessages, messagesOf } from "./prompt.ts";
import type { ReadFacts, TurnFacts } from "./read-facts.ts";
import { type ReadRecords, readRecords } from "./read-records.ts";
import { agentIn, type RecordsInside, recordsInside } from "./records-inside.ts";
import type { InspectedCall, InspectedInside, InspectedTurn, ModelSpan, SentMessage } from "./view.ts";

/** The parts from which the turns of a run, or of a run inside it, are made. */
export interface Making {
  /** The place of a run inside another one, followed by a slash; empty for the run itself. */
  readonly prefix: string;
  readonly read: ReadRecords;
  readonly inside: RecordsInside;
  readonly facts?: ReadFacts | undefined;
  readonly tools: ReadonlyMap<string, ToolManifest>;
  readonly questions: readonly WaitingQuestion[];
  readonly messages: SentMessage[];
  /** The input of the run. Undefined for a run inside whose input is in no record. */
  readonly input: Json | undefined;
  readonly isOver: boolean;
  readonly begunAt: number;
  readonly now: number;
  dropped: number;
}

/** Makes the turns of a run, or of a run inside it. */
export function inspectTurns(making: Making): readonly InspectedTurn[] {
  const { read, facts } = making;
  const numbers = new Set([...read.models.keys(), ...(facts?.turns.keys() ?? [])]);
  return [...numbers]
    .filter((number) => number > 0)
    .toSorted((one, other) => one - other)
    .map((number) => inspectTurn(number, making));
}

function inspectTurn(number: number, making: Making): InspectedTurn {
  const { prefix, read, messages } = making;
  const facts = making.facts?.turns.get(number);
  const asked = read.models.get(number) ?? [];
  const message = facts?.message?.message ?? asked.at(-1)?.message;
  const promptLength = messages.length;
  making.dropped += facts?.dropped ?? 0;
  const calls = callsIn({ number, asked, facts, message }, making);
  messages.push(...messagesOf(number, message, calls));
  const model = modelSpan({ number, asked, facts, message }, prefix);
  return {
    key: `${prefix}turn/${number}`,
    number,
    promptLength,
    dropped: making.dropped,
    calls,
    ...(model === undefined ? {} : { model }),
  };
}

interface RepliedTurn {
  readonly number: number;
  readonly asked: readonly ModelRecord[];
  readonly facts: TurnFacts | undefined;
  readonly message: ReplyMessage | undefined;
}

function callsIn({ number, asked, facts, message }: RepliedTurn, making: Making): readonly InspectedCall[] {
  const { prefix, read, questions, tools, isOver, begunAt, now } = making;
  const isPast = isOver || Math.max(0, ...read.models.keys()) > number;
  return (message === undefined ? [] : callsOf(message)).map((call, index) => {
    const place = `turn/${number}/call/${index}`;
    const asking = `${prefix}turn/${number}/approval/${index}`;
    const made = inspectCall({
      prefix,
      turn: number,
      index,
      call,
      records: read,
      facts: facts?.calls.get(call.id),
      question: questions.find(({ key }) => key === asking || key.startsWith(`${prefix}${place}/`)),
      tool: tools.get(call.name),
      proposedAt: asked.at(-1)?.endedAt ?? begunAt,
      isPast,
      now,
    });
    const inside = inspectInside(place, making, {
      delegations: made.delegations,
      isOver: isOver || read.calls.get(place) !== undefined,
      given: [call.arguments, ...(made.judged === undefined ? [] : [made.judged])].flatMap(valuesOf),
    });
    return inside.length === 0 ? made : { ...made, inside };
  });
}

/** The arguments of a call, together and one by one: the input of a run inside is mostly one of these. */
const valuesOf = (args: Json): readonly Json[] =>
  typeof args === "object" && args !== null ? [args, ...Object.values(args)] : [args];

interface Around {
  /** The runs of the place that have ended. */
  readonly delegations: readonly Delegation[];
  readonly isOver: boolean;
  /** The values that may be the input of the runs of the place. */
  readonly given: readonly Json[];
}

/** Makes the runs that began at a place: at a call, or at a step of a composition. They are made from their records. */
function inspectInside(
  at: string,
  { prefix, inside, questions, now, begunAt }: Making,
  { delegations, isOver, given }: Around,
): readonly InspectedInside[] {
  return [...(inside.get(at) ?? [])].map(([run, records]) => {
    const key = `${prefix}${at}/${run}`;
    const ended = delegations.find(({ runId }) => runId.endsWith(`/${key}`));
    const input = inputOf(run, given);
    const made = runInside(records, { prefix: `${key}/`, questions, isOver, now, begunAt, input });
    return {
      key,
      agent: ended?.agent ?? agentIn(run),
      ...(ended === undefined ? {} : { outcome: ended.outcome, usage: ended.usage }),
      ...made,
    };
  });
}

function runInside(
  records: readonly JournalRecord[],
  around: Pick<Making, "prefix" | "questions" | "isOver" | "now" | "begunAt" | "input">,
): Pick<InspectedInside, "turns" | "inside" | "messages" | "from" | "to"> {
  const read = readRecords(records);
  const begunAt = read.begunAt ?? around.begunAt;
  const inside = recordsInside(records);
  const messages: SentMessage[] = around.input === undefined ? [] : firstMessages(around.input, undefined);
  const making: Making = { ...around, begunAt, read, inside, tools: new Map(), messages, dropped: 0 };
  const turns = inspectTurns(making);
  const steps = inspectSteps(making);
  const times = [...turns.flatMap(timesOf), ...steps.flatMap(({ from, to }) => [from, to])];
  const from = read.begunAt ?? Math.min(begunAt, ...times);
  return { turns, inside: steps, messages, from, to: Math.max(from, ...times) };
}

/** Makes the runs that are the steps of a composition. The input of each is that of the composition or the answer of an earlier step, if recorded. */
export function inspectSteps(making: Making): readonly InspectedInside[] {
  const { inside, isOver, input } = making;
  const given = input === undefined ? [] : [input];
  return [...inside.keys()]
    .filter((at) => /^\d+$/.test(at))
    .flatMap((at) => {
      const runs = inspectInside(at, making, { delegations: [], isOver, given });
      given.push(...runs.map(({ turns }) => turns.at(-1)?.model?.text ?? ""));
      return runs;
    });
}

function modelSpan({ number, asked, facts, message }: RepliedTurn, prefix: string): ModelSpan | undefined {
  const [first] = asked;
  const last = asked.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const { driver, finishReason, endedAt, firstAt } = last;
  const tries = asked.flatMap((each) => each.tries ?? []);
  const { usage, costUsd }: { usage: Usage; costUsd?: number } = facts?.usage ?? last;
  return {
    key: `${prefix}turn/${number}/model`,
    from: tries[0]?.startedAt ?? first.startedAt,
    to: endedAt,
    askedAt: last.startedAt,
    tries: tries.map((each) => ({ from: each.startedAt, to: each.endedAt })),
    ...(firstAt === undefined ? {} : { firstAt }),
    driver,
    finishReason,
    usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...wordsOf(message),
    repairs: facts?.message?.repairs ?? [],
    retries: facts?.retries.map(({ reason }) => reason) ?? [],
  };
}

/** The text that a model wrote beside its calls. */
function wordsOf(message: ReplyMessage | undefined): Pick<ModelSpan, "text" | "reasoning" | "raw"> {
  if (message === undefined) return { text: "" };
  const { parts, raw } = message;
  const reasoning = parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join("\n");
  return {
    text: bounded(textOf(message)),
    ...(reasoning === "" ? {} : { reasoning: bounded(reasoning) }),
    ...(raw === undefined ? {} : { raw: bounded(raw) }),
  };
}

/** The times at which parts of a turn ended. */
export function timesOf({ model, calls }: InspectedTurn): readonly number[] {
  return [model?.to ?? 0, ...calls.flatMap(({ spans }) => spans.map(({ to }) => to))];
}
