import { type DriverChoice, driverNamed, type Drivers } from "../driver/choose.ts";
import type { Driver, Reading, TurnInput } from "../driver/driver.ts";
import type { Caller } from "../driver/late-tools.ts";
import { withMarks } from "../driver/mark-results.ts";
import { callerIn } from "../driver/native.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { asRuntime } from "../run/around.ts";
import { requestWithoutSecrets } from "../run/secrets.ts";
import type { RunEvent } from "../event/event.ts";
import { isReader } from "../event/only-reads.ts";
import type { Host } from "../journal/host.ts";
import {
  type FinishReason,
  type ReplyMessage,
  type ReportedResponse,
  charactersOf,
  storableName,
} from "../message/message.ts";
import { acceptableId } from "../message/transcript.ts";
import { addUsage, completeUsage, noUsage, type ReportedUsage, type Usage } from "../message/usage.ts";
import { assemble, type CallStart, type NameCall, type Reply } from "../model/assemble.ts";
import type { DriverName } from "../model/driver-names.ts";
import type { Delta, Model, ModelRequest, StreamOptions, UnreadableCall } from "../model/model.ts";
import { asWritError, WholeReply } from "../model/function-model.ts";
import type { Interrupt } from "../util/interrupt.ts";
import type { Json } from "../util/json.ts";
import { withoutRefusedBound } from "../model/output-bound.ts";
import { after, attempt, type Maybe } from "../util/maybe.ts";
import { lazy } from "../util/remembered.ts";
import { type EarlyStarts, hasStarted, type LeftCalls, takeEarly } from "./early.ts";
import { type AskingBounds, boundedModel } from "./paid-model.ts";
import { teller } from "./tell-reply.ts";

/** The record of one model call: everything the loop decides by. Times are in milliseconds since 1970. */
export interface ModelRecord extends Partial<LeftCalls> {
  readonly driver: string;
  readonly message: ReplyMessage;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The time of the first piece of a streamed reply. Left out for a reply that came whole. */
  readonly firstAt?: number;
  /** The failed requests for this reply, in order. */
  readonly tries?: readonly FailedTry[];
  /** The answer of a hook in place of the model, with the name of the hook. */
  readonly answer?: { readonly content: Json; readonly by: string };
  /** The reading of a driver that decides by itself. */
  readonly reading?: Reading;
  readonly unreadable?: UnreadableCall;
  /** The provider's own metadata on its reply. */
  readonly response?: ReportedResponse;
}

/** A request that failed: the time it was made and the time its failure was known, in milliseconds since 1970. */
export interface FailedTry {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** One question to the model. */
export interface ModelQuestion {
  readonly turn: number;
  readonly input: TurnInput;
  /** The drivers to try, in order: the next one is tried if the provider says that the model has no native tools. */
  readonly drivers: readonly Driver[];
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
  /** The bounds of the request. Default: none. */
  readonly bounds?: AskingBounds;
  /** Changes the request before it is sent. */
  readonly change?: (request: ModelRequest) => Promise<ModelRequest>;
  /** Takes live events; left out if nobody watches. */
  readonly emit?: (event: RunEvent) => void;
  /** Notes what happened in failed replies. */
  readonly notes: FailureNotes;
  /** Takes each call as soon as it is complete, even while the model still writes. Left out if no call may start early. */
  readonly early?: EarlyStarts;
}

/** The facts to keep from failed replies to one question. */
export interface FailureNotes {
  /** The usage of the failed replies, as the provider reported it. */
  usage: Usage;
  /** The part of the usage that no record of the journal has yet. */
  unkept?: Usage | undefined;
  /** The writing of the record of a failed request, while it is under way. */
  keeping?: Promise<void>;
  /** The usage that the provider has reported for the current reply. */
  reported?: ReportedUsage | undefined;
  /** True if the provider itself carried out a call: its effect is unknown and must not be repeated. */
  acted: boolean;
  /** The times of the failed requests. Undefined while none has failed. */
  tries?: FailedTry[];
}

/** The notes before any request has failed. */
export function noFailures(): FailureNotes {
  return { usage: noUsage, acted: false };
}

/**
 * Asks the model once and reads its reply whole.
 *
 * @throws WritError the error of the model's adapter; anything else that it throws becomes `provider-failed`, with that as cause
 */
export function askModel(question: ModelQuestion): Maybe<ModelRecord> {
  return askBy(0, question, question.host.now());
}

/**
 * Models whose provider answered that they have no native tools: they are not asked for native calls again. Register, not part of a driver: it only decides
 * which driver a later run begins with, and a replay keeps the driver that its records name. Depends on: the model.
 */
const withoutTools = new WeakSet<Model>();

/** The drivers of most runs. */
const nativeFirst = lazy((): Drivers => [driverNamed("native"), driverNamed("json")]);

/**
 * The drivers that fit the model. `auto` takes the one that measured best, if the model's card names one. Otherwise it takes
 * native calls if the model has or may have them, and the JSON protocol if not, or the guided driver for a model
 * that is too weak for JSON. Talk without tools, calls and a form of the answer needs no protocol.
 */
export function driversFor(choice: DriverChoice, model: Model, isTalk?: () => boolean): Drivers {
  if (typeof choice === "object") return [choice];
  const name = choice === "auto" ? bestFor(model, isTalk) : choice;
  return choice === "auto" && name === "native" ? nativeFirst() : [driverNamed(name)];
}

function bestFor(model: Model, isTalk = (): boolean => false): DriverName {
  const { driver = "native", small, completion, tools } = model.features;
  if (driver !== "native") return driver;
  if (model.features.driver === undefined && small === true && completion === true) return "guided";
  return (tools === false || withoutTools.has(model)) && !isTalk() ? "json" : "native";
}

/** Asks by the driver with this index, and by the next one if the provider says that the model has no native tools. */
function askBy(index: number, question: ModelQuestion, startedAt: number): Maybe<ModelRecord> {
  const { host, drivers, input, notes } = question;
  const { model, allowed } = input;
  const driver = drivers[index];
  if (driver === undefined) throw new TypeError("a question needs a driver");
  return attempt(
    () => asRuntime(host, () => readReply(driver, question)),
    (reply): Maybe<ModelRecord> => {
      const { message, finishReason, response, unreadable, firstAt } = reply;
      const usage = usageOf(reply, question);
      const record = { driver: driver.name, message, finishReason, usage, startedAt, endedAt: host.now() };
      if (response === undefined && unreadable === undefined && firstAt === undefined) return record;
      return {
        ...record,
        ...(firstAt !== undefined && { firstAt }),
        ...(response && { response }),
        ...(unreadable && { unreadable }),
      };
    },
    (error) => {
      countFailed(notes);
      const isLast = index === drivers.length - 1;
      if (isLast || allowed.tools.size === 0 || !isWritError(error, "model-without-tools"))
        throw asWritError(error, model.id);
      withoutTools.add(model); // later runs begin with the JSON protocol
      return askBy(index + 1, question, startedAt);
    },
  );
}

/** Counts the usage that a provider reported for a failed reply: it is paid for like any other. */
function countFailed(notes: FailureNotes): void {
  const { usage, reported, unkept = noUsage } = notes;
  if (reported === undefined) return;
  const spent = completeUsage(reported, { input: 0, output: 0 });
  notes.usage = addUsage(usage, spent);
  notes.unkept = addUsage(unkept, spent);
  notes.reported = undefined;
}

/**
 * The usage that the provider reported. If it reported nothing, or nothing plausible, the usage is estimated
 * from the number of characters.
 */
function usageOf({ message, usage = {} }: Reply, { input }: ModelQuestion): Usage {
  const reported = completeUsage(usage, { input: 1, output: 1 });
  if (reported.estimated !== true) return reported;
  return completeUsage(usage, { input: input.transcript.characters, output: charactersOf(message) });
}

/** A reply, with the time of its first piece if it was streamed. */
type TimedReply = Reply & Pick<ModelRecord, "firstAt">;

function readReply(driver: Driver, question: ModelQuestion): Maybe<TimedReply> {
  const { turn, input, emit, stop, notes, host } = question;
  notes.reported = undefined;
  const names = new CallNames(driver, question);
  const assembler = assemble(input.model.id, (start) => names.give(start));
  emit?.({ type: "message-start", turn, driver: driver.name, model: input.model.id });
  const caller = driver.passthrough ? callerIn(input) : undefined;
  const through = caller?.description.name;
  const tell = emit === undefined ? undefined : teller(driver, input, { turn, names, emit, caller: through });
  const request = driver.request(withMarks(input, driver));
  const changed = question.change === undefined ? request : question.change(request);
  return after(changed, (wanted) => {
    const { model } = input;
    const plain = wanted.settings.maxOutputTokens === undefined ? model : withoutRefusedBound(model);
    const asked = question.bounds === undefined ? plain : boundedModel(model, question.bounds);
    const told = host.powers?.holdsSecrets === true ? requestWithoutSecrets(wanted, host) : wanted;
    const deltas = asked.stream(told, new ModelOptions(stop));
    // Taken at once, unless somebody watches who may leave midway.
    const isWhole = deltas instanceof WholeReply && (emit === undefined || isReader(emit));
    const isStreamed = !(deltas instanceof WholeReply);
    let firstAt: number | undefined;
    let isHelped = false; // the provider ran tools itself, which brings strangers' words: later calls are judged with the whole reply
    const take = (delta: Delta): void => {
      if (delta.type === "end") notes.reported = delta.usage;
      if (isStreamed && firstAt === undefined && delta.type !== "end") firstAt = host.now();
      const written = assembler.push(delta);
      tell?.push(delta);
      isHelped ||= delta.type === "provider-part";
      if (written === undefined) return;
      const call = caller === undefined ? written : caller.meant(written);
      if (call.providerExecuted === true) isHelped = notes.acted = true;
      else if (!isHelped && driver.passthrough && !isWhole && question.early !== undefined)
        takeEarly(question.early, call);
    };
    return after(isWhole ? deltas.deltas.forEach(take) : takeEach(deltas, take, stop), () => {
      const reply = meantReply(
        assembler.reply((call) => hasStarted(question.early, call)),
        caller,
      );
      if (reply.finishReason === "error" && reply.unreadable === undefined) throw endedWithError(input.model);
      tell?.end(reply);
      return firstAt === undefined ? reply : { ...reply, firstAt };
    });
  });
}

/** The reply with the calls that the model meant, if it calls tools through one tool. */
function meantReply(reply: Reply, caller: Caller | undefined): Reply {
  if (caller === undefined) return reply;
  const parts = reply.message.parts.map((part) => (part.type === "tool-call" ? caller.meant(part) : part));
  return { ...reply, message: { ...reply.message, parts } };
}

/** Takes the deltas of a reply until the run is stopped: leaving the loop ends a model that ignores its signal. */
async function takeEach(
  deltas: AsyncIterable<Delta>,
  take: (delta: Delta) => void,
  stop: Interrupt<unknown>,
): Promise<void> {
  for await (const delta of deltas) {
    if (stop.reason !== undefined) return;
    take(delta);
  }
}

/** The error of a reply that ended with one. */
function endedWithError({ id }: Model): WritError {
  return new WritError("provider-failed", {
    provider: id,
    model: id,
    reason: "the reply ended with an error",
  });
}

/** The options of a request; its signal is made only for models that read it. */
class ModelOptions implements StreamOptions {
  readonly #stop: Interrupt<unknown>;

  constructor(stop: Interrupt<unknown>) {
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
}

type CallIdentity = ReturnType<NameCall>;

/** The ids and names of the calls of one reply. A class because every reply has one; its collections are made for the first call. */
class CallNames {
  private readonly driver: Driver;
  private readonly question: ModelQuestion;
  private first: string | undefined;
  /** The ids of the calls after the first. */
  private taken: Set<string> | undefined;
  private byProposed: Map<string, CallIdentity> | undefined;

  constructor(driver: Driver, question: ModelQuestion) {
    this.driver = driver;
    this.question = question;
  }

  /** Gives a call its id and name in the transcript. */
  give({ id: proposed, name: wireName, index }: CallStart): CallIdentity {
    const { turn, input, emit } = this.question;
    const id = acceptableId(input.transcript, proposed, { taken: this, fallback: `call_${turn}_${index}` });
    if (this.first === undefined) this.first = id;
    else (this.taken ??= new Set()).add(id);
    const named = storable({ id, name: this.driver.toolName(wireName, input.allowed) });
    if (emit !== undefined) (this.byProposed ??= new Map()).set(proposed, named);
    return named;
  }

  has(id: string): boolean {
    return id === this.first || this.taken?.has(id) === true;
  }

  /** The id and name of the call that the provider began under this id. */
  of(proposed: string): CallIdentity {
    return this.byProposed?.get(proposed) ?? { id: proposed, name: "" };
  }
}

function storable({ id, name }: CallIdentity): CallIdentity {
  if (storableName.test(name)) return { id, name };
  const stored = `invalid_${name.replaceAll(/[^a-zA-Z0-9_.-]/g, "_").slice(0, 40)}`;
  const shown = JSON.stringify(name.slice(0, 80));
  return { id, name: stored, malformed: `there is no tool of the name the model wrote (${shown})` };
}
