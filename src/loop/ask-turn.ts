import type { TurnInput } from "../driver/driver.ts";
import type { WritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import type { EarlyCall } from "../executor/run-calls.ts";
import { tellHooks } from "../hook/consult.ts";
import { askHooks, hookError, type HookFailure, hookFailure } from "../hook/run-hooks.ts";
import { noUsage } from "../message/usage.ts";
import { untilStopped } from "../util/interrupt.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Json } from "../util/json.ts";
import { changeReply, changeRequest, type HookedCall, replyOf } from "./around-model.ts";
import { asWritError, askModel, type ModelRecord, type Question } from "./ask-model.ts";
import { earlyCalls, giveUpEarly } from "./early-calls.ts";
import { endBy } from "./end.ts";
import type { End } from "./options.ts";
import type { Run, State } from "./run.ts";
import { requestFingerprint } from "./turn-input.ts";

/** What a turn asks the model. Calls that are started meanwhile are put into `early`. */
export interface Asking {
  readonly state: State;
  readonly input: TurnInput;
  readonly early: Map<string, EarlyCall>;
}

/** What the journal keeps of a model call and of the hooks around it, and what was told of them. */
type TurnRecord =
  | (ModelRecord & { readonly told?: readonly RunEvent[] })
  | { readonly failed: HookFailure; readonly told?: readonly RunEvent[] };

/** The model call as one step of the journal, with the author's hooks around it. */
export function askTurn(asking: Asking, run: Run): Promise<ModelRecord | End> {
  const asked = isHooked(run) ? askHooked(asking, run) : askPlainly(asking, run);
  return asked.catch((error: unknown) => endBy(error, run));
}

function isHooked({ hooks }: Run): boolean {
  return hooks.beforeModel !== undefined || hooks.afterModel !== undefined || hooks.onError !== undefined;
}

/** No hook stands between the run and its model. */
async function askPlainly(asking: Asking, run: Run): Promise<ModelRecord> {
  const { state, input } = asking;
  const question = questionOf(asking, { turn: state.ledger.turns, run });
  const step = {
    key: `turn/${state.ledger.turns}/model`,
    fingerprint: () => requestFingerprint(state, run),
    run: async () => {
      const record = await askModel(question);
      checkGoesOn(run);
      return record;
    },
  };
  const record = await untilStopped(run.journal.step(step), run.stop);
  if (record === "stopped") throw new Error(`the run was stopped while ${input.model.id} was asked`);
  return record;
}

/** What is told meanwhile is told again at a replay. */
async function askHooked(asking: Asking, run: Run): Promise<ModelRecord> {
  const { state, input } = asking;
  const told: RunEvent[] = [];
  let thrown: WritError | undefined;
  const note = (fact: RunEvent): void => {
    told.push(fact);
    run.tell?.(fact);
  };
  const hooked = { turn: state.ledger.turns, transcript: input.transcript, run, note };
  const step = {
    key: `turn/${state.ledger.turns}/model`,
    fingerprint: () => requestFingerprint(state, run),
    run: async (): Promise<TurnRecord> => {
      try {
        const record = await askUntilAnswered(asking, hooked);
        checkGoesOn(run);
        return told.length === 0 ? record : { ...record, told };
      } catch (error) {
        const failed = run.stop.reason === undefined ? hookFailure(error) : undefined;
        if (failed === undefined) throw error;
        thrown = error as WritError;
        return { failed, told };
      }
    },
  };
  const record = await untilStopped(run.journal.step(step), run.stop);
  if (record === "stopped") throw new Error(`the run was stopped while ${input.model.id} was asked`);
  if (told.length === 0) for (const fact of record.told ?? []) run.tell?.(fact);
  if ("failed" in record) throw thrown ?? hookError(record.failed);
  return record;
}

/** What nobody waited for is not recorded. */
function checkGoesOn({ stop }: Run): void {
  if (stop.reason !== undefined) throw new Error("the run was stopped");
}

function questionOf(
  { state, input, early }: Asking,
  { turn, run, change }: Pick<Question, "turn" | "change"> & { readonly run: Run },
): Question {
  return {
    turn,
    input,
    drivers: run.drivers.slice(state.driver),
    host: run.host,
    stop: run.stop,
    inputCharacters: () => input.transcript.characters,
    change,
    emit: run.tell,
    onCall: startsEarly(input, run) ? earlyCalls({ turn, state, early }, run.execution) : undefined,
  };
}

/** Nothing starts while the model still writes when something after its reply can say that it must not run. */
function startsEarly({ toolChoice }: TurnInput, run: Run): boolean {
  const { hooks, stopOn, stopOnToolBlock, throwOnToolFailure, limits } = run;
  return (
    toolChoice !== "none" &&
    typeof toolChoice === "string" && // of a named tool another call is a violation
    hooks.beforeToolCall === undefined &&
    hooks.afterModel === undefined &&
    stopOn.length === 0 &&
    !stopOnToolBlock &&
    !throwOnToolFailure &&
    limits.repeats === Infinity
  );
}

/** A run that a broken provider and a stubborn hook keep alive would never end. */
const maxAttempts = 10;

/** Asks; when the model fails, the author's hooks may say to ask again, or answer themselves. */
async function askUntilAnswered(asking: Asking, hooked: HookedCall): Promise<ModelRecord> {
  const { run, turn, note } = hooked;
  for (let attempt = 1; ; attempt += 1) {
    if (asking.early.size > 0) await giveUpEarly(asking.early); // what an attempt that failed has called, nobody asks for any more
    const change = (request: ModelRequest): Promise<ModelRequest> => changeRequest(request, hooked);
    const question = questionOf(asking, { turn, run, change: run.hooks.beforeModel && change });
    try {
      const record = await askModel(question);
      return run.hooks.afterModel === undefined ? record : await changeReply(record, hooked);
    } catch (thrown) {
      const isStopped = (): boolean => run.stop.reason !== undefined;
      const { onError } = run.hooks;
      if (onError === undefined || attempt >= maxAttempts || isStopped() || hookFailure(thrown) !== undefined)
        throw thrown;
      const error = asWritError(thrown, question.input.model.id);
      const { answer, by } = await askHooks(onError, "onError", { turn, attempt, error });
      tellHooks({ turn, place: "onError", by }, { tell: note });
      if (answer.answer !== undefined) return hookAnswer(answer.answer, { question, by: by["answer"] });
      if (answer.retryAfterMs === undefined) throw thrown;
      note({ type: "retry-start", turn, reason: error.message });
      await pause(Math.max(0, answer.retryAfterMs), run);
      if (isStopped()) throw thrown;
    }
  }
}

interface Answering {
  readonly question: Question;
  readonly by: string | undefined;
}

/** The record of an answer that no model gave. */
function hookAnswer(answer: Json, { question, by = "onError" }: Answering): ModelRecord {
  const { drivers, host } = question;
  const now = host.now();
  return {
    driver: drivers[0]?.name ?? "hook",
    message: replyOf(answer),
    finishReason: "stop",
    usage: noUsage,
    startedAt: now,
    endedAt: now,
    answer: { content: answer, by },
  };
}

function pause(afterMs: number, { host, stop }: Run): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const stopTimer = host.timer(afterMs, () => resolve(undefined));
  return untilStopped(promise, stop).finally(stopTimer);
}
