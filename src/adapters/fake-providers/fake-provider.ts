import type { PlainReply } from "../../model/function-model.ts";
import type { JsonObject } from "../../util/json.ts";

/** A reply of a fake provider: what `scripted()` takes, and how the network carries it. */
export interface FakeReply extends Omit<PlainReply, "files"> {
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
  /** The connection breaks after so many chunks of the stream, or in the middle of a reply that is sent whole. */
  readonly cutAfter?: number;
}

/** A request that the provider fails, in its own words. */
export interface FakeFault {
  /** `401`, `429`, `500`, `503`, `529` (Anthropic), … */
  readonly status: number;
  /** Default: what the provider says with this status. */
  readonly message?: string;
  /** Seconds, sent as the provider sends them: the header `retry-after`, with Gemini a `RetryInfo` too. */
  readonly retryAfter?: number;
  /** A page in place of the provider's JSON, as proxies send it. */
  readonly html?: string;
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
}

/**
 * The result of a step: a text, a reply, a fault, or an error. An error is answered with status 500 and its
 * message.
 */
export type FakeAnswer = string | FakeReply | FakeFault | Error;

/** One step of the script of a fake provider: an answer, or a function of the request that gives one. */
export type FakeStep = FakeAnswer | ((request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>);

/** A request as a fake provider got it. */
export interface FakeRequest {
  readonly method: string;
  /** With its query: `/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse`. */
  readonly path: string;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, parsed; empty when it is not a JSON object. */
  readonly body: JsonObject;
  /** The message with which the provider refused the request. Such a request takes no step of the script. */
  readonly refusal?: string;
}

/** Options of the script of a fake provider. */
export interface FakeOptions {
  /** The answer after the last step: the provider repeats that step (default), or refuses the request. */
  readonly whenDone?: "repeat" | "refuse";
}

/** The same of `fakeOpenai`, and the host that it plays. */
export interface FakeOpenaiOptions extends FakeOptions {
  /**
   * Another host of chat completions, at any path that ends in `/chat/completions`: the fields it refuses, the form of its reasoning, its ids,
   * signatures and errors. `gemini` is Google's interface for OpenAI's clients, `kimi` Moonshot's. Default: OpenAI itself.
   */
  readonly host?: "cerebras" | "deepseek" | "gemini" | "groq" | "kimi" | "mistral" | "openrouter";
}

/** A provider on the loopback interface that follows a script, and refuses what the real one refuses. */
export interface FakeProvider extends AsyncDisposable {
  /** The origin, without a path: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Answers as the server does, without a connection and whatever the host: for clients that take a `fetch`. */
  readonly fetch: typeof fetch;
  /** Every request so far in the order in which they came, those that were refused among them. */
  readonly requests: readonly FakeRequest[];
  /** The number of steps that were not asked for. */
  remaining(this: void): number;
  /** @throws Error when steps are left, or a request was refused. */
  assertComplete(this: void): void;
  /** Breaks the connections that are left, and frees the port. */
  close(this: void): Promise<void>;
}
