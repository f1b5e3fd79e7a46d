import type { PlainReply } from "../../model/function-model.ts";
import type { JsonObject } from "../../util/json.ts";

/** A reply of a fake provider: the fields that `scripted()` takes, and its behaviour on the network. */
export interface FakeReply extends Omit<PlainReply, "files"> {
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
  /** The connection breaks after this many chunks of the stream, or in the middle of a reply that is sent whole. */
  readonly cutAfter?: number;
}

/** A request that the provider fails, with its own error. */
export interface FakeFault {
  /** `401`, `429`, `500`, `503`, `529` (Anthropic), … */
  readonly status: number;
  /** The message. Default: the provider's message for this status. */
  readonly message?: string;
  /** Seconds, in the form that the provider uses: the header `retry-after`, with Gemini a `RetryInfo` too. */
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
  /** The path with its query: `/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse`. */
  readonly path: string;
  /** The headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; empty if it is not a JSON object. */
  readonly body: JsonObject;
  /** The message with which the provider refused the request. Such a request uses no step of the script. */
  readonly refusal?: string;
}

/** Options of the script of a fake provider. */
export interface FakeOptions {
  /** The answer after the last step: the provider repeats that step (default), or refuses the request. */
  readonly whenDone?: "repeat" | "refuse";
}

/** Options of `fakeOpenai`, with the host that it plays. */
export interface FakeOpenaiOptions extends FakeOptions {
  /**
   * Another host of chat completions, at any path that ends in `/chat/completions`: it has the host's refused fields, form of reasoning, ids,
   * signatures and errors. `gemini` is Google's interface for OpenAI's clients, `kimi` Moonshot's. Default: OpenAI itself.
   */
  readonly host?: "cerebras" | "deepseek" | "gemini" | "groq" | "kimi" | "mistral" | "openrouter";
}

/** A provider on the loopback interface that follows a script, and refuses the requests that the real one refuses. */
export interface FakeProvider extends AsyncDisposable {
  /** The origin, without a path: `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Answers as the server does, without a connection and for any host: for clients that take a `fetch`. */
  readonly fetch: typeof fetch;
  /** Every request so far in order, including those that were refused. */
  readonly requests: readonly FakeRequest[];
  /** The number of steps that no request has used yet. */
  remaining(this: void): number;
  /** @throws Error if steps are left, or a request other than a GET was refused */
  assertComplete(this: void): void;
  /** Breaks the remaining connections, and frees the port. */
  close(this: void): Promise<void>;
}
