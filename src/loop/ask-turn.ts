import type { TurnInput } from "../driver/driver.ts";
import { isWritError } from "../error/writ-error.ts";
import { askHooks } from "../hook/run-hooks.ts";
import type { EarlyCall } from "../executor/run-calls.ts";
import { noUsage } from "../message/usage.ts";
import type { ModelRequest } from "../model/model.ts";
import { untilStopped } from "../util/interrupt.ts";
import type { Json } from "../util/json.ts";
import { asWritError, askModel, type ModelRecord, type Question } from "./ask-model.ts";
import { earlyCalls } from "./early-calls.ts";
import { stopped, thrownEnd } from "./end.ts";
import type { Run, State } from "./run.ts";
import type { End } from "./options.ts";
import { driverOf, requestFingerprint } from "./turn-input.ts";

/** What a turn asks the model. Calls that are started meanwhile are put into `early`. */
export interface Asking {
  readonly state: State;
  readonly input: TurnInput;
  readonly early: Map<string, EarlyCall>;
}

/** The model call as one step of the journal, with the author's hooks around it. */
export async function askTurn(asking: Asking, run: Run): Promise<ModelRecord | End> {
  const { state } = asking;
  const step = {
    key: `turn/${state.ledger.turns}/model`,
    fingerprint: () => requestFingerprint(state, run),
    run: async () => {
      const record = await askUntilAnswered(questionOf(asking, run), run);
      if (run.stop.reason !== undefined) throw new Error("the run was stopped"); // what nobody waited for is not recorded
      return record;
    },
  };
  try {
    const record = await untilStopped(run.journal.step(step), run.stop);
    return record === "stopped" ? stopped(run, run.stop.reason ?? { type: "duration" }) : record;
  } catch (error) {
    if (run.stop.reason !== undefined) return stopped(run, run.stop.reason);
    return thrownEnd(error, run.gate.agent);
  }
}

function questionOf({ state, input, early }: Asking, run: Run): Question {
  const { turns: turn } = state.ledger;
  const { hooks } = run;
  const startsEarly =
    input.toolChoice !== "none" && hooks.beforeToolCall === undefined && hooks.afterModel === undefined;
  return {
    turn,
    input,
    drivers: run.drivers.slice(state.driver),
    host: run.host,
    stop: run.stop,
    inputCharacters: () => run.inputCharacters(input.transcript),
    ...(hooks.beforeModel === undefined ? {} : { change: (request) => changeRequest(request, turn, run) }),
    emit: run.tell,
    onCall: startsEarly ? earlyCalls({ turn, state, early }, run.execution) : undefined,
  };
}

/** A run that a broken provider and a stubborn hook keep alive would never end. */
const maxAttempts = 10;

/** Asks; when the model fails, the author's hooks may say to ask again, or answer themselves. */
async function askUntilAnswered(question: Question, run: Run): Promise<ModelRecord> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const record = await askModel(question);
      return run.hooks.afterModel === undefined ? record : await changeReply(record, question, run);
    } catch (thrown) {
      const isAuthors = isWritError(thrown, "hook-failed") || isWritError(thrown, "hook-field-forbidden");
      if (
        run.hooks.onError === undefined ||
        isAuthors ||
        attempt >= maxAttempts ||
        run.stop.reason !== undefined
      )
        throw thrown;
      const error = asWritError(thrown, question.input.model.id);
      const { answer, by } = await askHooks(run.hooks.onError, "onError", {
        turn: question.turn,
        attempt,
        error,
      });
      tellHooks(run, question.turn, { place: "onError", by });
      if (answer.answer !== undefined) return hookAnswer(answer.answer, question);
      if (answer.retryAfterMs === undefined) throw thrown;
      run.tell?.({ type: "retry-start", turn: question.turn, reason: error.message });
      await pause(Math.max(0, answer.retryAfterMs), run);
    }
  }
}

async function changeRequest(request: ModelRequest, turn: number, run: Run): Promise<ModelRequest> {
  const { messages, settings, toolChoice } = request;
  const at = { turn, messages, settings, toolChoice };
  const { answer, by } = await askHooks(run.hooks.beforeModel ?? [], "beforeModel", at);
  tellHooks(run, turn, { place: "beforeModel", by });
  return { ...request, messages, ...answer };
}

async function changeReply(record: ModelRecord, { turn }: Question, run: Run): Promise<ModelRecord> {
  const { message, finishReason, usage } = record;
  const at = { turn, message, finishReason, usage };
  const { answer, by } = await askHooks(run.hooks.afterModel ?? [], "afterModel", at);
  tellHooks(run, turn, { place: "afterModel", by });
  return answer.message === undefined ? record : { ...record, message: answer.message };
}

function tellHooks(
  run: Run,
  turn: number,
  told: { readonly place: string; readonly by: Readonly<Record<string, string>> },
): void {
  if (Object.keys(told.by).length > 0) run.tell?.({ type: "hook-end", turn, ...told });
}

/** The record of an answer that no model gave. */
export function hookAnswer(answer: Json, { drivers, host }: Pick<Question, "drivers" | "host">): ModelRecord {
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  const now = host.now();
  return {
    driver: drivers[0]?.name ?? "hook",
    message: { role: "assistant", parts: [{ type: "text", text }] },
    finishReason: "stop",
    usage: noUsage,
    startedAt: now,
    endedAt: now,
    answer,
  };
}

function pause(afterMs: number, { host, stop }: Run): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const stopTimer = host.timer(afterMs, () => resolve(undefined));
  return untilStopped(promise, stop).finally(stopTimer);
}

/** The name of the driver that speaks now, for a turn without a reply. */
export function driverName(state: State, run: Run): string {
  return driverOf(state, run).name;
}
