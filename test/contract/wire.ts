import type { Model, ModelRequest } from "../../src/model/model.ts";
import type { Json } from "../../src/util/json.ts";

/** A part of what a provider answers, in no provider's own words. Pieces come one after another, as the provider would send them. */
export type WirePart =
  | { readonly type: "text"; readonly pieces: readonly string[] }
  | { readonly type: "reasoning"; readonly pieces: readonly string[] }
  | WireCall;

/** A call as it is sent. No id: the wire leaves it out; the empty text: the wire has a blank one. */
export interface WireCall {
  readonly type: "call";
  readonly id?: string;
  readonly name: string;
  /** `value`: sent as a JSON value where the wire can, else as its text. `text`: sent as this text, to the letter. */
  readonly arguments: { readonly value: Json } | { readonly text: string };
}

/** Ways in which a provider fails. The subject writes its provider's status and body for each. */
export type WireFailure =
  | "model-not-found"
  | "no-tools"
  | "refused-key"
  | "rate-limited"
  | "too-long"
  | "overloaded"
  | "server-error"
  | "bad-request";

/**
 * What the provider does with one request. `stall` sends the parts and then nothing more until the client goes away; `cut` sends the parts
 * and then breaks the connection; `mid-stream-error` sends the parts and then an error in the way of the provider, in the same answer.
 */
export type WireAnswer =
  | {
      readonly type: "reply";
      readonly parts: readonly WirePart[];
      /** Default: what the provider says after such parts. */
      readonly finishReason?: "length";
      /** Left out: the provider says nothing about tokens. */
      readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
    }
  | { readonly type: "failure"; readonly failure: WireFailure }
  | { readonly type: "mid-stream-error"; readonly parts: readonly WirePart[]; readonly message: string }
  | { readonly type: "stall"; readonly parts: readonly WirePart[] }
  | { readonly type: "cut"; readonly parts: readonly WirePart[] }
  /** Nothing listens at the provider's address. Only ever the one answer of a script. */
  | { readonly type: "unreachable" };

/** The answers to the requests of one model, in the order of the requests. */
export type WireScript = readonly WireAnswer[];

/** What a provider's wire can express. What it cannot is not tested. */
export interface WireAbilities {
  readonly calls: boolean;
  readonly reasoning: boolean;
  /** The wire counts tokens, and can leave the count out. */
  readonly usage: boolean;
  readonly missingUsage: boolean;
  /** The wire carries ids of calls, and can leave them out or blank. */
  readonly callIds: boolean;
  readonly missingCallIds: boolean;
  /** Arguments as text, which may be no JSON at all. */
  readonly textArguments: boolean;
  readonly failures: readonly WireFailure[];
  readonly midStreamErrors: boolean;
  /** A connection that breaks, a reply that stalls, an address where nothing listens. */
  readonly cut: boolean;
  readonly stall: boolean;
  readonly unreachable: boolean;
}

/** A model that is ready to be asked, and what its provider saw. */
export interface OpenModel {
  readonly model: Model;
  close(): Promise<void>;
  /** The bodies of the chat requests so far, parsed. */
  bodies?(this: void): readonly unknown[];
  /** Settles when the client has closed a connection before its answer was complete. */
  dropped?(this: void): Promise<void>;
}

/** A model whose provider plays a script, or a live one of which only the form of its replies is known. */
export type ModelSubject =
  | { readonly scripted: true; readonly can: WireAbilities; open(script: WireScript): Promise<OpenModel> }
  | {
      readonly scripted: false;
      open(script: WireScript): Promise<OpenModel>;
      /** Settings for the requests, like a bound on the tokens. */
      readonly settings?: ModelRequest["settings"];
      /** How long one reply may take. Default 60 s. */
      readonly timeoutMs?: number;
    };
