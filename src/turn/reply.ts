import type { Reading, Driver, TurnInput } from "../driver/driver.ts";
import { directJournal } from "../journal/direct-journal.ts";
import { WritError } from "../error/writ-error.ts";
import {
  isWordless,
  labelOfReply,
  type ReplyMessage,
  runtimeMessage,
  textOf,
  callsOf,
  type FinishReason,
} from "../message/message.ts";
import { sizedReply } from "../message/file-part.ts";
import { addAnswer, addReply, addSaid, acceptableId } from "../message/transcript.ts";
import { learn, type Learned } from "../policy/knowledge/learned.ts";
import type { ModelRecord } from "./ask-model.ts";
import { untilStopped } from "../util/interrupt.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { act } from "./act.ts";
import { skippedResult } from "../call/refused.ts";
import { skipAll } from "./cut-short.ts";
import { type TurnQuestion, driverOf } from "./ask.ts";
import { authorStopped, type End, endBy, failed } from "../run/end.ts";
import { bookInside, keeping, type Run, type State, type NextState } from "./state.ts";
import { addUsage, noUsage, priceOf } from "../message/usage.ts";
import type { UnreadableCall } from "../model/model.ts";
import { driverNamed } from "../driver/choose.ts";
import { heldToShape } from "../driver/reply-shape.ts";
import { isPlain, joinLabels, trustedLabel } from "../message/label.ts";
import { spend } from "../policy/account/budget.ts";
import { driverNames } from "../model/driver-names.ts";
import type { Json } from "../util/json.ts";
import type { ReadAnswer } from "./options.ts";

/** The number of unusable replies in a row after which the run fails. */
const maxViolations = 4;

/**
 * The number of replies in a row that may be half of a turn. A driver that asks on for ever must not keep a run
 * without bounds alive.
 */
const maxPending = 8;

/**
 * The driver that a record names. A recorded reply is read by the driver that asked for it, even if `auto` would choose another today:
 * because a card was written since, or because the run was recorded elsewhere.
 */
function speakerOf(name: string, { options: { drivers } }: Run): Driver {
  const own = drivers.find((driver) => driver.name === name);
  return own ?? knownDriver(name) ?? drivers[0];
}

function knownDriver(name: string): Driver | undefined {
  const known = driverNames.find((driver) => driver === name);
  return known === undefined ? undefined : driverNamed(known);
}

/** The driver's reading, checked against the turn's choice of tools. Calls found in text get their ids here; native calls have theirs by now. */
export function readingOf(
  { message, finishReason, answer, reading: decided, unreadable }: ModelRecord,
  from: { driver: Driver; input: TurnInput; turn: number },
): Reading {
  if (unreadable !== undefined) return unreadableCall(message, unreadable);
  if (answer !== undefined) return { type: "final", message, content: answer.content };
  const read = decided ?? from.driver.read({ message, finishReason }, from.input);
  const reading = from.input.toolChoice === "auto" ? read : heldToShape(read, from.input);
  if (reading.type !== "calls" || !callsOf(reading.message).some(({ id }) => id === "")) return reading;
  const taken = new Set<string>();
  const parts = reading.message.parts.map((part) => {
    if (part.type !== "tool-call") return part;
    const id = acceptableId(from.input.transcript, part.id, {
      taken,
      fallback: `call_${from.turn}_${taken.size}`,
    });
    taken.add(id);
    return { ...part, id };
  });
  return { ...reading, message: { ...reading.message, parts } };
}

/** The reading of a reply with a call that the provider could not read. Nothing of it runs, because nobody knows what the provider left out. */
function unreadableCall(message: ReplyMessage, { reason, written = "" }: UnreadableCall): Reading {
  const text = [textOf(message), written].filter((said) => said.trim() !== "").join("\n");
  const parts = [{ type: "text" as const, text: text === "" ? "(empty)" : text }];
  const feedback = `Your last reply could not be read as a call: ${reason} Write it again: call one of the tools, by its name and with arguments that are JSON and match its schema, or answer in words.`;
  return { type: "violation", message: { ...message, parts }, reason, feedback };
}

/** The extra facts of a reading: what was repaired, or results that the reply repeats word for word. */
function besideOf(reading: Reading): {
  readonly repairs?: readonly string[];
  readonly quotes?: readonly string[];
} {
  if (reading.type === "final" && reading.quotes !== undefined) return { quotes: reading.quotes };
  const repairs = "repairs" in reading ? (reading.repairs ?? []) : [];
  return repairs.length === 0 ? {} : { repairs };
}

/**
 * Labels a reply: it is no better than what the model had seen, including while it wrote. A tool that the provider ran brings strangers' words, even if
 * the reading of the reply has nothing left of them.
 */
export function seenBy(
  message: ReplyMessage,
  { label: before }: Pick<Learned, "label">,
  written: ReplyMessage = message,
): ReplyMessage {
  const own = labelOfReply(written);
  const label = own === trustedLabel ? before : joinLabels(before, own);
  return label === trustedLabel || isPlain(label) ? message : { ...message, label };
}

/** Books the usage of a reply, here and in the runs around this one, and the calls that were started for it but not made. */
function booked(
  state: State,
  { usage, left = 0, inside }: Pick<ModelRecord, "usage" | "left" | "inside">,
  run: Run,
): Pick<State, "ledger" | "usage" | "acts"> {
  const { turns: turn } = state.ledger;
  const costUsd = priceOf(usage, run.options);
  const total = addUsage(state.usage, usage);
  run.tell?.({ type: "usage-add", turn, usage, total, ...(costUsd === undefined ? {} : { costUsd }) });
  run.options.parent?.purse.spend({ usage, costUsd: costUsd ?? Infinity, toolCalls: 0 });
  const spent = spend(state.ledger, { usage, costUsd });
  const ledger = left === 0 ? spent : { ...spent, toolCalls: spent.toolCalls + left };
  const booking = { ledger, usage: total, acts: state.acts };
  return inside === undefined ? booking : bookInside(booking, inside);
}

/** Reads an answer in the form that the author wants. A schema can be slow: a stopped run does not wait for it. */
export function readAnswer(
  { content, finishReason }: { readonly content: Json; readonly finishReason: FinishReason },
  run: Run,
): Maybe<ReadAnswer> {
  return after(untilStopped(run.options.readAnswer(content, finishReason), run.stop), (read) => {
    if (read === "stopped") throw new Error("the run was stopped while its answer was read");
    return read;
  });
}

/** Ends a turn without a reply. The usage of its requests is booked, unless the run is stopped and its journal has no `find`: a replay would not know it. */
function notAnswered(end: End, { state, run, notes: { usage } }: TurnQuestion): NextState {
  const { turns: turn } = state.ledger;
  const driver = driverOf(state, run).name;
  run.tell?.({ type: "message-end", turn, finishReason: "error", driver, durationMs: 0 });
  const { journal } = run;
  const isLost = run.stop.reason !== undefined && journal !== directJournal && journal.find === undefined;
  if (usage === noUsage || isLost) return { state, end };
  return { state: { ...state, ...booked(state, { usage }, run) }, end };
}

/** Acts on a reply: carries out its calls, takes its answer, or asks again. */
export function take(record: ModelRecord | End, asking: TurnQuestion): Maybe<NextState> {
  if ("outcome" in record) return notAnswered(record, asking);
  const { state, input, run, notes } = asking;
  const driver = speakerOf(record.driver, run);
  let reading: Reading;
  try {
    reading = readingOf(record, { driver, input, turn: state.ledger.turns });
  } catch (error) {
    notes.usage = record.usage;
    return notAnswered(endBy(error, run), asking);
  }
  return takeRead({ record, reading, speaker: driver }, asking);
}

interface ReadReply {
  readonly record: ModelRecord;
  readonly reading: Reading;
  readonly speaker: Driver;
}

function takeRead({ record, reading, speaker }: ReadReply, asking: TurnQuestion): Maybe<NextState> {
  const { state: before, input, early, run } = asking;
  const { turns: turn } = before.ledger;
  const { finishReason, startedAt, endedAt } = record;
  const message = seenBy(reading.message, before.learned, record.message);
  // The transcript has a placeholder for a reply without words, which the model did not write.
  const isVoid = reading.type === "violation" && isWordless(record.message);
  const learned =
    message.label === undefined ? before.learned : learn(before.learned, [message], before.gate.allowed);
  run.tell?.({
    type: "message-end",
    turn,
    message: sizedReply(isVoid ? seenBy(record.message, before.learned) : message),
    ...besideOf(reading),
    finishReason,
    ...(record.response && { response: record.response }),
    driver: record.driver,
    durationMs: endedAt - startedAt,
  });
  const { ledger, usage, acts } = booked(before, record, run);
  const state = {
    ...before,
    ledger,
    usage,
    acts,
    learned,
    driver: Math.max(0, run.options.drivers.indexOf(speaker)),
    speaker,
    now: endedAt,
    elapsedMs: before.elapsedMs + Math.max(0, endedAt - startedAt),
    sent: before.transcript.length,
  };
  const isWhole = (reading.type === "final" || reading.type === "pending") && finishReason === "stop";
  if (run.endOn.includes(finishReason) && !isWhole)
    return stopOnReason(state, { message, finishReason }, run);
  if (finishReason === "content-filter")
    return filtered(state, { message, text: textOf(record.message) }, run);
  if (reading.type === "calls") return act({ state, message, early }, run);
  if (reading.type === "violation")
    return emptied(record, { state, input }, run) ?? askAgain(state, { ...reading, message }, run);
  if (reading.type === "pending") return askOn(state, message, run);
  return answer(state, { reading: { ...reading, message }, record }, run);
}

/** Ends the run if the author wants that for the reason why the model stopped. The calls of the reply do not run. */
function stopOnReason(
  state: State,
  reply: Pick<ModelRecord, "message" | "finishReason">,
  run: Run,
): NextState {
  const reason = `Finish reason "${reply.finishReason}" matched stop condition`;
  const end = authorStopped(run, reason);
  const added = addReply(state.transcript, reply.message);
  if (added.state === "open")
    return skipAll(state, { open: added, end, resultOf: () => skippedResult(reason) }, run);
  return { state: { ...state, transcript: added }, end };
}

function askAgain(state: State, reading: Extract<Reading, { type: "violation" }>, run: Run): NextState {
  const { reason, feedback, message } = reading;
  const violations = state.violations + 1;
  const transcript = addSaid(addAnswer(state.transcript, message), runtimeMessage(feedback));
  const next = { ...state, transcript, violations };
  if (violations >= (driverOf(state, run).maxViolations ?? maxViolations))
    return violated(next, { count: violations, reason }, run);
  run.tell?.({ type: "retry-start", turn: state.ledger.turns, reason });
  return { state: next };
}

function violated(
  state: State,
  about: { readonly count: number; readonly reason: string },
  run: Run,
): NextState {
  const { name: driver } = driverOf(state, run);
  const error = new WritError("protocol-violated", { model: run.options.model.id, driver, ...about });
  return { state, end: { outcome: failed(error), error } };
}

/** Asks on after half of a turn. Violations keep counting: otherwise a model that chooses but never fills in would not end. */
function askOn(state: State, message: ReplyMessage, run: Run): NextState {
  const pending = state.pending + 1;
  const next = { ...state, pending, transcript: addAnswer(state.transcript, message) };
  if (pending < maxPending) return { state: next };
  return violated(next, { count: pending, reason: "its replies only began a turn, and none ended it" }, run);
}

interface Answered {
  readonly reading: Extract<Reading, { type: "final" }>;
  readonly record: ModelRecord;
}

function answer(state: State, { reading, record }: Answered, run: Run): Maybe<NextState> {
  const { content, message } = reading;
  const { finishReason } = record;
  const reply = { content, finishReason };
  return keeping(state, run, () =>
    after(readAnswer(reply, run), (read) => {
      if (!read.ok && record.answer === undefined)
        return askAgain(state, { type: "violation", message, ...read }, run);
      const transcript = addAnswer(state.transcript, message);
      const next = { ...state, transcript, violations: 0, pending: 0 }; // a hook may send the run on
      if (!read.ok) {
        const end = unacceptable({ hook: record.answer?.by ?? "", place: "onError" }, read.reason);
        return { state: next, end };
      }
      const outcome = { type: "answered", ...reply } as const;
      return { state: next, end: { outcome, output: read.output, mayContinue: true } };
    }),
  );
}

/** The end of a run in which a hook's answer in place of the model does not fit what the run must return. */
export function unacceptable(about: { readonly hook: string; readonly place: string }, reason: string): End {
  const error = new WritError("hook-failed", { ...about, reason: `its answer was not accepted: ${reason}` });
  return { outcome: failed(error), error };
}

/** The end after a reply that the token limit left empty: another request would need as many tokens. The budget reports its own limit. */
function emptied(
  { message, finishReason }: ModelRecord,
  { state, input }: { readonly state: State; readonly input: TurnInput },
  run: Run,
): NextState | undefined {
  if (finishReason !== "length" || !isWordless(message) || state.ledger.tokens >= state.limits.tokens)
    return undefined;
  const { maxOutputTokens: limit } = input.settings;
  const error = new WritError("reply-cut", {
    model: run.options.model.id,
    limit: limit === undefined ? "which its provider sets" : `\`maxOutputTokens\` ${limit}`,
  });
  return { state, end: { outcome: failed(error), error } };
}

/** The end after the provider withheld the answer: asking again would not help. */
function filtered(
  state: State,
  { message, text }: { readonly message: ReplyMessage; readonly text: string },
  run: Run,
): NextState {
  const reason = `the provider filtered the answer${text.trim() === "" ? "" : `: ${text.trim()}`}`;
  const error = new WritError("run-refused", { name: run.gate.agent, reason });
  const end: End = { outcome: { type: "refused", code: error.code, message: error.message }, error };
  const added = addReply(state.transcript, message);
  if (added.state === "open")
    return skipAll(
      state,
      { open: added, end, resultOf: () => skippedResult("the provider filtered the reply") },
      run,
    );
  return { state: { ...state, transcript: added }, end };
}
