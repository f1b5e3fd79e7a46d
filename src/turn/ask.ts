import { fatalOf } from "../call/call.ts";
import type { Driver, TurnInput } from "../driver/driver.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import { isReader } from "../event/only-reads.ts";
import { tellHooks } from "../hook/consult.ts";
import { askHooks, hookError, type HookFailure, hookFailure } from "../hook/run-hooks.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Step } from "../journal/journal.ts";
import { addUsage, noUsage, type Usage } from "../message/usage.ts";
import type { ToolChoice } from "../model/model.ts";
import { afterAttempts, pause } from "../model/retry.ts";
import { type End, endBy, exhausted } from "../run/end.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import { handedOver } from "../run/waits.ts";
import { untilAborted, untilStopped } from "../util/interrupt.ts";
import { after, type Maybe, attempt, rescue } from "../util/maybe.ts";
import { mostTimes } from "./act.ts";
import {
  type AnswerInstead,
  hookAnswer,
  changeReply,
  changeRequest,
  type HookedCall,
} from "./around-model.ts";
import { type ModelRecord, askModel, type FailureNotes, type ModelQuestion } from "./ask-model.ts";
import { asWritError } from "../model/function-model.ts";
import { afterFailed, askedAgain, isUsedUp, keepFailed, noteKept, retryIn } from "./asked-again.ts";
import { decideTurn, type DecidingTurn } from "./decide-turn.ts";
import type { EarlyStarts } from "./early.ts";
import { outputLeft } from "./output-left.ts";
import { withinTokens } from "./paid-model.ts";
import { requestFingerprint } from "./request-fingerprint.ts";
import { noRepeats, type Run, type State, tokensLeft } from "./state.ts";

/** The input from which the driver makes this turn's request. */
export function turnInput(state: State, run: Run): TurnInput {
  const { transcript, ledger, gate, limits } = state;
  const { model, settings, examples, marks, toolChoice, lastTurn, output } = run.options;
  const mustAnswer = lastTurn === "answer" && ledger.turns + 1 > limits.turns;
  const left = limits.costUsd === Infinity ? tokensLeft(state, run) : outputLeft(state, run);
  const input: TurnInput = {
    transcript,
    allowed: gate.allowed,
    model,
    settings: left === Infinity ? settings : withinTokens(settings, left),
    examples,
    marks,
    toolChoice: mustAnswer ? "none" : choiceOf(state, toolChoice),
  };
  return output === undefined ? input : { ...input, output };
}

/** The choice of tools for this turn: a call is forced only until one was made, or the run would never answer. */
function choiceOf({ called, gate }: State, choice: ToolChoice): ToolChoice {
  if (choice === "none" || choice === "auto") return choice;
  const isThere = typeof choice === "string" || gate.allowed.tools.has(choice.tool);
  return called || !isThere ? "auto" : choice;
}

/** The driver that currently speaks. */
export function driverOf(state: State, run: Run): Driver {
  return state.speaker ?? run.options.drivers[state.driver] ?? run.options.drivers[0];
}

/** The question of a turn to the model. Calls that may start early are given to `early`. */
export interface TurnQuestion {
  readonly state: State;
  readonly input: TurnInput;
  readonly early: EarlyStarts;
  readonly run: Run;
  /** Notes what happened in failed requests. */
  readonly notes: FailureNotes;
  /** True if it was asked in this turn before, with more turns than the provider takes. */
  readonly isShorter?: boolean;
}

/** The record of a model call with the hooks around it, and the facts told meanwhile. */
type TurnRecord =
  | (ModelRecord & { readonly told?: readonly RunEvent[] })
  | ({ readonly failed: HookFailure } & FailedTurn)
  | ({ readonly tooLong: TooLong["data"] } & FailedTurn);

interface FailedTurn {
  /** The usage of the failed requests. Left out if they reported none. */
  readonly usage?: Usage;
  readonly told?: readonly RunEvent[];
}

/** The provider's error that a request is too long. It is recorded: a replay compacts at the same place as the run. */
type TooLong = WritError<"context-exceeded">;

/** The model call as one step of the journal, with the author's hooks around it. */
export function askTurn(asking: TurnQuestion): Maybe<ModelRecord | End> {
  return rescue<ModelRecord | End>(
    () => (asking.run.journal === directJournal ? askDirectly(asking) : askRecorded(asking)),
    (error) => endOf(error, asking),
  );
}

/** The end when asking failed. A driver that decides by itself may ask until a bound forbids it. */
function endOf(error: unknown, asking: TurnQuestion): End {
  const { state, run } = asking;
  const decides = driverOf(state, run).decide !== undefined;
  const fatal = decides ? fatalOf(error) : undefined;
  if (run.stop.reason === undefined && fatal?.type === "exhausted") return exhausted(run, fatal.excess);
  return endBy(error, run);
}

/** The model's reply to a turn, or the decision of a driver, which may ask the model any number of times. */
function askOrDecide(asking: TurnQuestion, hooked: HookedCall): Maybe<ModelRecord> {
  const { state, input, early, notes } = asking;
  const driver = driverOf(state, hooked.run);
  if (driver.decide === undefined) return askUntilAnswered(asking, hooked);
  const ask: DecidingTurn["ask"] = async (by, inside, failed) => {
    const run: Run = { ...inside.run, options: { ...inside.run.options, drivers: [by] } };
    const question = { state: { ...state, driver: 0 }, input, early, run, notes: failed };
    return askUntilAnswered(question, { ...inside, run });
  };
  return decideTurn({ driver, decide: driver.decide.bind(driver), state, input, hooked, ask, notes });
}

/** Asks without a journal. */
function askDirectly(asking: TurnQuestion): Maybe<ModelRecord> {
  const { state, input, run } = asking;
  const { turns: turn } = state.ledger;
  const note = (fact: RunEvent): void => (run.stop.reason === undefined ? run.tell?.(fact) : undefined);
  const hooked = { turn, transcript: input.transcript, run, note };
  const asked = untilStopped(askOrDecide(asking, hooked), run.stop);
  return after(asked, (record) => inTime(record, input, run));
}

function inTime<Value>(record: Value | "stopped", { model }: TurnInput, { stop }: Run): Value {
  if (record === "stopped" || stop.reason !== undefined)
    throw new Error(`the run was stopped while ${model.id} was asked`);
  return record;
}

/** Asks through the journal. A replay tells the recorded facts again. */
function askRecorded(asking: TurnQuestion): Maybe<ModelRecord> {
  const { state, input, run, notes } = asking;
  const told: RunEvent[] = [];
  let thrown: Error | undefined;
  const key = `turn/${state.ledger.turns}/model${asking.isShorter === true ? "/shorter" : ""}`;
  const steps = StepsOfRun.of(run.journal);
  const note = (fact: RunEvent): void => {
    if (run.stop.reason !== undefined || steps?.isCancelling === true) return; // a hook that answers too late changes nothing
    told.push(fact);
    steps?.note(key, fact);
    run.tell?.(fact);
  };
  const hooked = { turn: state.ledger.turns, transcript: input.transcript, run, note, key };
  const step = {
    key,
    fingerprint: () => requestFingerprint(state, run),
    run: async (): Promise<TurnRecord> => {
      try {
        const record = await askOrDecide(asking, hooked);
        if (run.stop.reason !== undefined) throw new Error("the run was stopped"); // nobody waited for the reply: it is not recorded
        return told.length === 0 ? record : { ...record, told };
      } catch (error) {
        const isStopped = run.stop.reason !== undefined;
        if (!isStopped && run.options.compact !== undefined && isWritError(error, "context-exceeded"))
          return { tooLong: (thrown = error).data, ...spentIn(notes), told };
        const failed = isStopped ? undefined : hookFailure(error);
        if (failed === undefined || !(error instanceof Error)) throw error;
        thrown = error;
        return { failed, ...spentIn(notes), told };
      }
    },
  };
  return after(recordedAtOnce(step, run) ?? asked(step, asking), (record) => {
    if (told.length === 0) for (const fact of record.told ?? []) run.tell?.(fact);
    if (!("tooLong" in record) && !("failed" in record)) return record;
    notes.usage = record.usage ?? noUsage;
    throw (
      thrown ??
      ("failed" in record ? hookError(record.failed) : new WritError("context-exceeded", record.tooLong))
    );
  });
}

/** The existing record, without a promise, unless somebody watches who may leave midway. */
function recordedAtOnce(step: Step<TurnRecord>, { journal, stop, tell }: Run): TurnRecord | undefined {
  if (stop.reason !== undefined || (tell !== undefined && !isReader(tell))) return undefined;
  return journal.recorded?.([step])?.[0];
}

/** Takes the step. If it left no result, tells the facts that it told in the recorded run, and notes the usage that is kept. */
async function asked(step: Step<TurnRecord>, asking: TurnQuestion): Promise<TurnRecord> {
  const { input, notes } = asking;
  const { journal, stop, tell } = asking.run;
  const { usage: before } = notes;
  try {
    const record = await untilStopped(journal.step(step), stop);
    if (record !== "stopped") return record;
    throw new Error(`the run was stopped while ${input.model.id} was asked`);
  } catch (error) {
    await noteKept(step.key, asking, before);
    throw error;
  } finally {
    for (const fact of StepsOfRun.of(journal)?.toldIn(step.key) ?? []) tell?.(fact);
  }
}

function questionOf(asking: TurnQuestion, hooked: HookedCall): ModelQuestion {
  const { state, input, early, notes } = asking;
  const { turn, run } = hooked;
  const { drivers, accounts, timeout } = run.options;
  const { beforeModel } = run.hooks;
  return {
    turn,
    input,
    drivers: state.driver === 0 ? drivers : drivers.slice(state.driver),
    host: run.host,
    stop: run.stop,
    bounds: accounts === undefined && timeout === undefined ? undefined : run.options,
    change: beforeModel === undefined ? undefined : (request) => changeRequest(request, hooked),
    emit: run.tell,
    notes,
    early: startsEarly(asking) ? early : undefined,
  };
}

/** True if calls may start while the model still writes: nothing that comes after its reply can forbid them. */
function startsEarly({
  state,
  input: { toolChoice },
  run: { hooks, endOn, executor },
}: TurnQuestion): boolean {
  return (
    executor === undefined &&
    toolChoice !== "none" &&
    typeof toolChoice === "string" && // with a named tool, a call of another is a violation
    hooks.beforeToolCall === undefined &&
    hooks.afterModel === undefined &&
    endOn.every((cause) => cause === "unknown-tool") && // that call is seen while the reply is read
    (state.repeats === noRepeats || mostTimes(state.repeats) <= state.limits.repeats)
  );
}

/** The most attempts of one turn: otherwise a broken provider and a stubborn hook could keep a run alive for ever. */
const maxAttempts = 10;

/**
 * Asks. A failed request is retried if that can help (`retry`). If it cannot, or was done often enough, the author's hooks decide
 * what happens: a hook sees only these failures, and one that asks again makes one request each time.
 */
function askUntilAnswered(given: TurnQuestion, hooked: HookedCall, tries = 1): Maybe<ModelRecord> {
  const { notes } = given;
  const { run, key } = hooked;
  const asking = tries === 1 && key !== undefined ? afterFailed(given, key) : given;
  const startedAt = run.host.now();
  const question = questionOf(asking, hooked);
  const settled = (reply: ModelRecord): Maybe<ModelRecord> =>
    after(asking.early.calls?.giveUpLeft(), (left) =>
      withFailed(left === undefined ? reply : { ...reply, ...left }, notes),
    );
  const changed = (reply: ModelRecord): Maybe<ModelRecord> => {
    if (run.hooks.afterModel === undefined) return settled(reply);
    return after(settled(reply), async (record) => {
      // The reply is paid for, even if the run is stopped or its process dies before its hooks have answered.
      notes.unkept = addUsage(notes.unkept ?? noUsage, reply.usage);
      notes.usage = record.usage;
      if (key !== undefined) await keepFailed({ notes, journal: run.journal }, key);
      return changeReply(record, hooked);
    });
  };
  const again = async (thrown: unknown): Promise<ModelRecord> => {
    if (run.stop.reason !== undefined || hookFailure(thrown) !== undefined) throw thrown;
    (notes.tries ??= []).push({ startedAt, endedAt: run.host.now() });
    if (key !== undefined) await keepFailed({ notes, journal: run.journal }, key);
    if (run.stop.reason !== undefined) throw thrown;
    const error = afterAttempts(asWritError(thrown, asking.input.model.id), tries);
    const isOver = isUsedUp(asking);
    const delayMs = isOver ? undefined : retryIn(error, tries, asking);
    const said = delayMs ?? (await askHook(error, tries, hooked));
    if (said === undefined || (isOver && typeof said === "number")) throw error;
    asking.early.calls?.beginAgain();
    if (typeof said !== "number") return settled(hookAnswer(said, question));
    const { turn, note } = hooked;
    if (run.leaving?.aborted === true) throw handedOver();
    note({ type: "retry-start", turn, reason: error.message, attempt: tries, delayMs: said });
    await untilAborted(pause(said, run), run.leaving, () => handedOver());
    if (run.stop.reason !== undefined) throw error;
    return askUntilAnswered(askedAgain(asking), hooked, tries + 1);
  };
  return attempt(() => askModel(question), changed, again);
}

/** The usage of the failed requests, if there is any. */
function spentIn({ usage }: FailureNotes): { readonly usage?: Usage } {
  return usage === noUsage ? {} : { usage };
}

/** Adds the times and the usage of failed attempts: their usage is paid for like that of the reply. */
function withFailed(record: ModelRecord, { usage, tries }: FailureNotes): ModelRecord {
  const all = usage === noUsage ? record : { ...record, usage: addUsage(usage, record.usage) };
  return tries === undefined ? all : { ...all, tries };
}

/**
 * Asks the author's hooks about a failed request. They may have it made again after so many milliseconds,
 * or give an answer.
 */
async function askHook(
  error: WritError,
  attempt: number,
  { run, turn, note }: HookedCall,
): Promise<number | AnswerInstead | undefined> {
  const { onError } = run.hooks;
  if (onError === undefined || attempt >= maxAttempts) return undefined;
  const { answer, by } = await askHooks(onError, "onError", { turn, attempt, error });
  tellHooks({ turn, place: "onError", by }, { tell: note });
  if (answer.answer !== undefined) return { content: answer.answer, by: by["answer"] ?? "onError" };
  return answer.retryAfterMs === undefined ? undefined : Math.max(0, answer.retryAfterMs);
}
