import { describe, expect, it } from "vitest";
import { WritError } from "../../../src/error/writ-error.ts";
import { chatWith } from "../../../src/model/chat.ts";
import { modelFromFunction } from "../../../src/model/function-model.ts";
import { userMessage } from "../../../src/message/message.ts";
import type { Delta, Model } from "../../../src/model/model.ts";
import { type ModelRetry, retrying, type RetryOptions } from "../../../src/model/retry.ts";

/** A clock that runs at once and notes how long it was asked to wait. */
function instantHost(): { readonly waited: number[]; timer(ms: number, fire: () => void): () => void } {
  const waited: number[] = [];
  return {
    waited,
    timer(ms, fire) {
      waited.push(ms);
      queueMicrotask(fire);
      return () => undefined;
    },
  };
}

function overloaded(options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {}): WritError {
  return new WritError("provider-failed", { provider: "p", model: "m", reason: "busy" }, options);
}

interface Attempted {
  readonly text?: string;
  readonly error?: unknown;
  readonly requests: number;
  readonly waited: readonly number[];
  readonly told: readonly ModelRetry[];
}

/** Asks a model that throws the failures one after another, and answers then. */
async function attempt(failures: readonly unknown[], options: RetryOptions = {}): Promise<Attempted> {
  const host = instantHost();
  const told: ModelRetry[] = [];
  let requests = 0;
  const model = modelFromFunction(() => {
    const failure = failures[requests];
    requests += 1;
    if (failure !== undefined) throw failure as Error;
    return "hello";
  });
  const patient = retrying(model, { ...options, onRetry: (retry) => told.push(retry) }, host);
  const ended = await chatWith(patient, { messages: [userMessage("hi")] }).then(
    ({ text }) => ({ text }),
    (error: unknown) => ({ error }),
  );
  return { ...ended, requests, waited: host.waited, told };
}

describe("a model that is asked again", () => {
  it("waits 250 and 500 ms, says so, and gives the reply of the third request [A10]", async () => {
    const [first, second] = [overloaded(), overloaded()];
    const { text, requests, waited, told } = await attempt([first, second]);
    expect({ text, requests, waited }).toEqual({ text: "hello", requests: 3, waited: [250, 500] });
    expect(told).toEqual([
      { attempt: 1, delayMs: 250, error: first },
      { attempt: 2, delayMs: 500, error: second },
    ]);
  });

  it("throws the error of the last attempt as it is [A10]", async () => {
    const last = overloaded();
    const { error, requests } = await attempt([overloaded(), overloaded(), last]);
    expect(error).toBe(last);
    expect(requests).toBe(3);
    expect((await attempt([last], { attempts: 1 })).requests).toBe(1);
  });

  it("keeps the wait that a provider asks for, and does not wait for one that asks for too long", async () => {
    expect((await attempt([overloaded({ retryAfterMs: 1200 })])).waited).toEqual([1200]);
    expect((await attempt([overloaded({ retryAfterMs: 1 })])).waited).toEqual([250]);
    const long = overloaded({ retryAfterMs: 31_000 });
    expect(await attempt([long])).toMatchObject({ error: long, requests: 1, waited: [] });
    const failures = [1, 2, 3, 4].map(() => overloaded());
    expect((await attempt(failures, { attempts: 5, firstDelayMs: 10, maxDelayMs: 25 })).waited).toEqual([
      10, 20, 25, 25,
    ]);
  });

  it("never asks again after a time-out, an abort, or what asking again cannot help [A10]", async () => {
    const headersTimeout = Object.assign(new Error("late"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    const reason = { provider: "p", url: "u", reason: "the host does not answer", advice: "" };
    const connect = Object.assign(new Error("late"), { code: "ETIMEDOUT" });
    for (const failure of [
      overloaded({ cause: new TypeError("fetch failed", { cause: headersTimeout }) }),
      overloaded({ cause: new DOMException("late", "TimeoutError") }),
      overloaded({ cause: new DOMException("stopped", "AbortError") }),
      new WritError("provider-unreachable", reason, { cause: connect }),
      new WritError("provider-refused-key", { provider: "p", model: "m", reason: "no", where: "" }),
      new WritError("provider-failed", { provider: "p", model: "m", reason: "bad" }, { retryable: false }),
    ])
      expect(await attempt([failure])).toMatchObject({ error: failure, requests: 1, waited: [] });
    expect((await attempt([new Error("a mistake in the program")])).requests).toBe(1);
    const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
    const gone = new WritError("provider-unreachable", reason, { cause: refused });
    expect(await attempt([gone])).toMatchObject({ text: "hello", requests: 2 });
  });

  it("never asks again once a part of the reply came: it may have been shown or acted on", async () => {
    const broken = overloaded();
    let requests = 0;
    const model: Model = {
      id: "half",
      features: {},
      async *stream() {
        requests += 1;
        yield { type: "text-delta", text: "Hel" };
        throw broken;
      },
    };
    const deltas: Delta[] = [];
    const reading = (async () => {
      const request = { messages: [], tools: [], toolChoice: "auto", settings: {} } as const;
      const { signal } = new AbortController();
      for await (const delta of retrying(model, {}, instantHost()).stream(request, { signal }))
        deltas.push(delta);
    })();
    await expect(reading).rejects.toBe(broken);
    expect([requests, deltas.length]).toEqual([1, 1]);
  });

  it("stops waiting when the run is stopped", async () => {
    const controller = new AbortController();
    const failure = overloaded();
    let requests = 0;
    let stopped = 0;
    const model = modelFromFunction(() => {
      requests += 1;
      throw failure;
    });
    const never = { timer: () => () => void (stopped += 1) };
    const onRetry = (): void => queueMicrotask(() => controller.abort());
    const asked = chatWith(retrying(model, { onRetry }, never), {
      messages: [userMessage("hi")],
      signal: controller.signal,
    });
    await expect(asked).rejects.toBeDefined();
    expect([requests, stopped]).toEqual([1, 1]);
  });
});
