import { checkArguments } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import {
  type Message,
  type ReplyMessage,
  type ResultMessage,
  type SystemMessage,
  type ToolCall,
  type ToolResult,
  type UserMessage,
  charactersOf,
  callsOf,
} from "./message.ts";
import { misfitText, type Shape, shapeOf } from "../util/shape.ts";
import { withoutTurns } from "./drop-turns.ts";
import { messageShape } from "./message-shape.ts";
import type { Writing } from "../util/writing.ts";

/**
 * The conversation as an append-only value. Every call ends in exactly one result, results stand in the order of the calls, call ids are
 * unique: the types let only a ready transcript take a user message or a reply, and only an open one take results.
 *
 * Adding returns a new value and shares the old messages, so a turn costs what it adds, not what went before.
 */
export type Transcript = ReadyTranscript | OpenTranscript;

interface TranscriptBase {
  /** All messages that are complete, in order. While calls are open their results are not yet among them. */
  readonly messages: readonly Message[];
  /** The number of messages, without making the list. */
  readonly length: number;
  /** About how many characters a model reads for the messages. Each is measured once, however often this is asked. */
  readonly characters: number;
  /** A new list of the messages from the index `from` on. */
  since(from: number): Message[];
  /** JSON that {@link readTranscript} reads back. */
  toJSON(): TranscriptJson;
}

/** No call is open: a user message or a reply can be added. */
export interface ReadyTranscript extends TranscriptBase {
  readonly state: "ready";
}

/** The last reply made calls that have no result yet. */
export interface OpenTranscript extends TranscriptBase {
  readonly state: "open";
  /** The calls that wait for their result, in the order of the reply. */
  readonly open: readonly ToolCall[];
}

/** A transcript as JSON: its messages, and the results that came in while other calls of the same reply were still open. */
export interface TranscriptJson {
  readonly messages: readonly Message[];
  readonly settled?: Readonly<Record<string, ToolResult>>;
}

/** The log that several transcripts share: the longest list of messages, and the ids of calls in it. It only grows. */
class Log {
  readonly messages: Message[];
  readonly callIds: Set<string> = new Set();
  /** The conversation from which the oldest turns were taken; undefined where none were. */
  readonly before: Tip | undefined;
  /** The messages that somebody asked the characters of, and their sum. Out of sight, as what follows: two logs are the same without it. */
  #measured = 0;
  #characters = 0;
  /** The messages as others are shown them, as far as somebody asked. */
  #shown: Map<Show, Message[]> | undefined;

  constructor(messages: Message[], before?: Tip) {
    this.messages = messages;
    this.before = before;
    for (const message of messages)
      if (message.role === "assistant") for (const { id } of callsOf(message)) this.callIds.add(id);
  }

  charactersUpTo(length: number): number {
    const isShorter = length < this.#measured;
    let sum = isShorter ? 0 : this.#characters;
    for (let index = isShorter ? 0 : this.#measured; index < length; index += 1) {
      const message = this.messages[index];
      if (message !== undefined) sum += charactersOf(message);
    }
    if (isShorter) return sum;
    this.#measured = length;
    return (this.#characters = sum);
  }

  /** The first messages, and perhaps more, as they are shown. */
  shownUpTo(length: number, show: Show): readonly Message[] {
    const shown = this.#shown?.get(show) ?? [];
    (this.#shown ??= new Map()).set(show, shown);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a log has at least `length` messages
    while (shown.length < length) shown.push(show(this.messages[shown.length] as Message));
    return shown;
  }
}

/** Gives a message as its reader sees it: the same object for the same message. */
export type Show = (message: Message) => Message;

/** The end of a transcript in its log. */
interface Tip {
  readonly log: Log;
  readonly length: number;
}

interface OpenState {
  readonly calls: readonly ToolCall[];
  /** The results that came in while other calls wait; undefined while there are none. */
  readonly results?: ReadonlyMap<string, ToolResult>;
}

/** The one implementation behind both states. A class, since a turn makes three of them: members live once, on the prototype. */
class TranscriptValue<State extends Transcript["state"]> implements TranscriptBase {
  readonly state: State;
  readonly open: readonly ToolCall[];
  readonly tip: Tip;
  readonly waiting: OpenState | undefined;
  private list: readonly Message[] | undefined;

  constructor(state: State, tip: Tip, waiting?: OpenState) {
    this.state = state;
    this.tip = tip;
    this.waiting = waiting;
    const calls = waiting?.calls ?? noCalls;
    const results = waiting?.results;
    this.open = results === undefined ? calls : calls.filter((call) => !results.has(call.id));
  }

  get length(): number {
    return this.tip.length;
  }

  get characters(): number {
    return this.tip.log.charactersUpTo(this.tip.length);
  }

  /** The list is made when somebody asks for it, and once. */
  get messages(): readonly Message[] {
    return (this.list ??= this.tip.log.messages.slice(0, this.tip.length));
  }

  since(from: number): Message[] {
    return this.tip.log.messages.slice(from, this.tip.length);
  }

  toJSON(): TranscriptJson {
    const { messages, waiting } = this;
    if (waiting === undefined) return { messages };
    return { messages, settled: Object.fromEntries(waiting.results ?? []) };
  }
}

const noCalls: readonly ToolCall[] = [];

/** A transcript without messages, or with what the author tells the model. */
export function emptyTranscript(system?: SystemMessage): ReadyTranscript {
  const messages = system === undefined ? [] : [system];
  return ready({ log: new Log(messages), length: messages.length });
}

/**
 * Adds what the user says, for a run that goes on from the transcript of another. The transcript that is given stays as it is.
 *
 * @throws WritError `transcript-invalid` when a call has no result yet, or when it is no message of a user
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { addUser, loop, userMessage } from "writ/doors";
 *
 * const model = "ollama/qwen2.5:7b";
 * const { transcript } = await agent({ name: "guide", model }).run("Where is the Louvre?");
 * for await (const event of loop({ model, transcript: addUser(transcript, userMessage("Is it open?")) })) console.log(event.type);
 * ```
 */
export function addUser(transcript: ReadyTranscript, message: UserMessage): ReadyTranscript {
  checkArguments("addUser()", { transcript }, { transcript: own });
  const fault =
    misfitText(messageShape, message) ?? (message.role === "user" ? undefined : 'its `role` is not "user"');
  if (fault !== undefined) throw transcriptInvalid(transcript.length, `is no message: ${fault}`);
  return addSaid(transcript, message);
}

/** Adds what the user or the runtime says: {@link addUser} for a message that was read or made here. @throws WritError `transcript-invalid` */
export function addSaid(transcript: ReadyTranscript, message: UserMessage): ReadyTranscript {
  const { state, open: openCalls, length, tip } = valueOf(transcript);
  if (state === "open") throw transcriptInvalid(length, `cannot stand here: ${withoutResult(openCalls)}`);
  return ready(append(tip, [message]));
}

/**
 * Adds a reply of the model. It is open when the reply has calls that the program must settle.
 *
 * @throws TypeError when a call id is blank or was used before: ids are made acceptable first, with {@link acceptableId}.
 */
export function addReply(transcript: ReadyTranscript, reply: ReplyMessage): Transcript {
  const calls = callsOf(reply);
  const before = ownLog(tipOf(transcript));
  for (const call of calls) {
    if (!wellFormedId.test(call.id) || before.log.callIds.has(call.id))
      throw new TypeError(`call id "${call.id}" cannot be used`);
    before.log.callIds.add(call.id);
  }
  const tip = append(before, [reply]);
  return calls.length === 0 ? ready(tip) : open(tip, { calls });
}

/** Adds a reply that makes no calls. @throws TypeError for one that makes some */
export function addAnswer(transcript: ReadyTranscript, reply: ReplyMessage): ReadyTranscript {
  const added = addReply(transcript, reply);
  if (added.state === "open") throw new TypeError(withoutResult(added.open));
  return added;
}

/**
 * Gives one call its one result. The transcript is ready again when the last call has its result.
 *
 * @throws TypeError when no such call is open.
 */
export function settle(transcript: OpenTranscript, callId: string, result: ToolResult): Transcript {
  const state = valueOf(transcript).waiting;
  if (state?.calls.some((call) => call.id === callId) !== true || state.results?.has(callId) === true) {
    throw new TypeError(`no call "${callId}" is open`);
  }
  const results = new Map(state.results ?? []).set(callId, result);
  const tip = tipOf(transcript);
  if (results.size < state.calls.length) return open(tip, { calls: state.calls, results });
  return ready(
    append(
      tip,
      state.calls.map((call) => resultMessage(call, results.get(call.id))),
    ),
  );
}

/** Gives every open call its result: `resultOf` is asked once for each, in the order of the calls. */
export function settleAll(
  transcript: OpenTranscript,
  resultOf: (call: ToolCall, index: number) => ToolResult,
): ReadyTranscript {
  const { calls = noCalls, results } = valueOf(transcript).waiting ?? {};
  const messages: Message[] = [];
  calls.forEach((call, index) => {
    messages.push(resultMessage(call, results?.get(call.id) ?? resultOf(call, index)));
  });
  return ready(append(tipOf(transcript), messages));
}

/**
 * The same conversation with other messages in the place of some: for a model that is shown more, or less, than there is. Nothing can be added to it.
 * Each message is shown once, however often this is asked.
 */
export function shownAs(transcript: ReadyTranscript, show: Show): ReadyTranscript {
  return new ShownTranscript(transcript, show);
}

/** A class, since every turn makes one: members live once, on the prototype. */
class ShownTranscript implements ReadyTranscript {
  readonly state = "ready";
  private readonly transcript: ReadyTranscript;
  private readonly show: Show;

  constructor(transcript: ReadyTranscript, show: Show) {
    this.transcript = transcript;
    this.show = show;
  }

  get length(): number {
    return this.transcript.length;
  }

  get messages(): readonly Message[] {
    return this.since(0);
  }

  get characters(): number {
    return this.transcript.characters;
  }

  since(from: number): Message[] {
    const { tip } = valueOf(this.transcript);
    return tip.log.shownUpTo(tip.length, this.show).slice(from, tip.length);
  }

  toJSON(): TranscriptJson {
    return this.transcript.toJSON();
  }
}

/**
 * Removes the oldest `count` turns (a reply with the results of its calls) and what was said before them. What the author said stays, and so
 * does what a user said last: what is left is as valid as before. So does a turn after it that told the model of tools, which it could not call
 * otherwise. `summary` stands in the place of what was removed: behind the question where that came before all replies, so that a request begins
 * as it did.
 */
export function dropTurns(
  transcript: ReadyTranscript,
  count: number,
  summary?: UserMessage,
): ReadyTranscript {
  const { messages } = transcript;
  const kept = withoutTurns(messages, count, summary);
  return kept === messages
    ? transcript
    : ready({ log: new Log([...kept], tipOf(transcript)), length: kept.length });
}

/** All messages that there ever were, those that {@link dropTurns} removed among them, each once. */
export function withDropped(transcript: Transcript): readonly Message[] {
  return [...new Set(allOf(tipOf(transcript)))];
}

function allOf({ log, length }: Tip): readonly Message[] {
  const messages = log.messages.slice(0, length);
  return log.before === undefined ? messages : [...allOf(log.before), ...messages];
}

/** The number of turns: replies of the model. */
export function countTurns({ messages }: Transcript): number {
  return messages.reduce((sum, { role }) => (role === "assistant" ? sum + 1 : sum), 0);
}

/** The ids of calls that every provider accepts. */
const wellFormedId = /^[a-zA-Z0-9_-]{1,64}$/;

/** Leaves room for a number behind it. */
const longestFallback = 48;

/**
 * The id a call gets: the one that the provider gave if it is well-formed and not yet used, else `fallback`, made unique. Deterministic.
 * `taken` are ids of the reply that is being read, which the transcript does not know yet.
 */
export function acceptableId(
  transcript: ReadyTranscript,
  proposed: string,
  { taken, fallback }: { readonly taken: Ids | undefined; readonly fallback: string },
): string {
  const { callIds } = tipOf(transcript).log;
  if (isFree(proposed, callIds, taken)) return proposed;
  const base = fallback.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, longestFallback);
  let id = base;
  for (let attempt = 2; !isFree(id, callIds, taken); attempt += 1) id = `${base}_${attempt}`;
  return id;
}

type Ids = Pick<ReadonlySet<string>, "has">;

function isFree(id: string, used: Ids, taken: Ids | undefined): boolean {
  return wellFormedId.test(id) && !used.has(id) && taken?.has(id) !== true;
}

/** The fault of calls that have none. */
export function withoutResult(calls: readonly ToolCall[]): string {
  return `a call has no result yet: ${namedCalls(calls)}`;
}

/** Calls as errors name them. */
export function namedCalls(calls: readonly ToolCall[]): string {
  return calls.map(({ id, name }) => `"${id}" of ${name}`).join(", ");
}

/** The error of a message that cannot stand where it is. */
export function transcriptInvalid(index: number, reason: string, cause?: unknown): WritError {
  return new WritError("transcript-invalid", { index, reason }, { cause });
}

const own: Shape<unknown> = shapeOf(
  "a transcript of this runtime, as results have it and readTranscript() reads it",
  (value) => value instanceof TranscriptValue,
);

function valueOf(transcript: Transcript): TranscriptValue<Transcript["state"]> {
  if (transcript instanceof TranscriptValue) return transcript;
  throw new TypeError("not a transcript of this runtime: read it with readTranscript()");
}

/** The end of a transcript in its log. @throws TypeError for an object that this runtime did not make */
function tipOf(transcript: Transcript): Tip {
  return valueOf(transcript).tip;
}

function append(tip: Tip, messages: readonly Message[]): Tip {
  const { log } = ownLog(tip);
  for (const message of messages) log.messages.push(message);
  return { log, length: tip.length + messages.length };
}

/** The log of the longest transcript is written in place, any other is copied first: two continuations never see each other. */
function ownLog(tip: Tip): Tip {
  if (tip.log.messages.length === tip.length) return tip;
  const { messages, before } = tip.log;
  return { log: new Log(messages.slice(0, tip.length), before), length: tip.length };
}

function ready(tip: Tip): ReadyTranscript {
  return new TranscriptValue("ready", tip);
}

function open(tip: Tip, waiting: OpenState): OpenTranscript {
  return new TranscriptValue("open", tip, waiting);
}

/** Field by field: each call has such a message, and a spread behind other fields costs more than all the rest of it. */
function resultMessage(call: ToolCall, result: ToolResult | undefined): ResultMessage {
  if (result === undefined) throw new TypeError(`call "${call.id}" has no result`);
  const { status, text, files, note, value, arguments: ran, offers, label } = result;
  const message: Writing<ResultMessage> = { role: "tool", callId: call.id, name: call.name, status, text };
  if (files !== undefined) message.files = files;
  if (note !== undefined) message.note = note;
  if (value !== undefined) message.value = value;
  if (ran !== undefined) message.arguments = ran;
  if (offers !== undefined) message.offers = offers;
  if (label !== undefined) message.label = label;
  return message;
}
