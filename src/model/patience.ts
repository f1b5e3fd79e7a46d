import { asSentence } from "../util/as-sentence.ts";
import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { interruptBy } from "../util/interrupt.ts";
import {
  fits,
  misfitText,
  number,
  object,
  optional,
  record,
  type Shape,
  shapeOf,
  shownValue,
} from "../util/shape.ts";
import { type ChatReply, type ChatRequest, chatStreamWith, chatWith } from "./chat.ts";
import type { Delta, Model } from "./model.ts";
import { askPatiently, checkedRetry, paceWith, retrying, type RetryPace } from "./retry.ts";
import { type ModelTimeout, timed } from "./timeout.ts";
import { closed } from "../error/check-shape.ts";

/** The settings for a failing provider and a silent model: the same as those of an agent. */
export interface Patience {
  /**
   * The number and pace of requests to a model whose provider cannot be reached, is overloaded, or breaks off its reply. Default: 3 requests
   * in all. `false`: one request. A model that retries by itself (`withRetry`) is left alone.
   */
  readonly retry?: RetryPace | false;
  /** Bounds on the silence of the model, before its reply and in it. After that it is asked again, as `retry` says. */
  readonly timeout?: ModelTimeout;
}

const silence = optional(
  shapeOf("a number of milliseconds above 0", (value) => fits(number, value) && value > 0, shownValue),
);
const silences: { readonly [Field in keyof Required<ModelTimeout>]: Shape<unknown> } = {
  firstChunkMs: silence,
  chunkMs: silence,
};
const timeoutWanted = "an object like { firstChunkMs: 60000, chunkMs: 20000 }";
const timeout: Shape<unknown> = {
  wanted: timeoutWanted,
  misfit: (value) => {
    if (fits(record, value)) return closed(silences).misfit(value);
    const elsewhere = "the time of a whole run is its `budget: { durationMs }`";
    return { path: "", reason: `must be ${timeoutWanted}, got ${shownValue(value)}; ${elsewhere}` };
  },
};

/** The shape of each setting, in the order in which faults are reported. */
export const patienceShapes: { readonly [Field in keyof Required<Patience>]: Shape<unknown> } = {
  retry: shapeOf(
    "false or an object like { attempts: 5 }",
    (value) => value === false || fits(record, value),
  ),
  timeout,
};
const patienceShape = object({
  retry: optional(patienceShapes.retry),
  timeout: optional(patienceShapes.timeout),
});

/** The checked settings. */
export interface CheckedPatience extends Patience {
  readonly retry: RetryPace | false;
}

/** The author's settings, after a check. @throws WritError `definition-invalid` */
export function checkedPatience({ retry = {}, timeout }: Patience, where: string): CheckedPatience {
  const fault = misfitText(patienceShape, { retry, timeout });
  if (fault !== undefined) throw new WritError("definition-invalid", { where, reason: asSentence(fault) });
  return { retry: checkedRetry(retry, where), ...(timeout === undefined ? {} : { timeout }) };
}

/** A question outside of a run: the model, the settings, and the clock for waits. */
export interface PatientQuestion {
  readonly model: Model;
  readonly patience: CheckedPatience;
  readonly host: Pick<Host, "timer" | "randomId">;
}

/** Asks like {@link chatWith}, and retries if that can help: nobody has seen a failed reply. */
export async function chatPatiently(request: ChatRequest, question: PatientQuestion): Promise<ChatReply> {
  const { patience, host } = question;
  const model = timedModel(question);
  const { stop, unlink } = interruptBy(request.signal);
  try {
    return await askPatiently(() => chatWith(model, request), { model, retry: patience.retry, host, stop });
  } finally {
    unlink();
  }
}

/** Asks like {@link chatStreamWith}, and retries until the first piece of a reply was yielded. */
export function chatStreamPatiently(
  request: ChatRequest,
  question: PatientQuestion,
): AsyncGenerator<Delta, ChatReply, undefined> {
  const model = timedModel(question);
  const pace = paceWith(model, question.patience.retry);
  return chatStreamWith(pace === undefined ? model : retrying(model, pace, question.host), request);
}

function timedModel({ model, patience: { timeout }, host }: PatientQuestion): Model {
  return timeout === undefined ? model : timed(model, timeout, host);
}
