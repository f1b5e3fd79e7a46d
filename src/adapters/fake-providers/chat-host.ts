import type { Json, JsonObject } from "../../util/json.ts";
import type { Fields, Path } from "./fields.ts";
import type { Provider, ProviderError } from "./wire.ts";

/** The differences between a host of chat completions and OpenAI. OpenAI itself has none. */
export interface ChatHost {
  /** The field in which a reply has its reasoning, and in which it is sent back. Default: `reasoning_content`. */
  readonly reasoning?: "reasoning_content" | "reasoning" | "reasoning_details" | "thinking";
  /** Models that think, and the error if the reasoning of a call is not sent back. */
  readonly thinks?: { readonly models: RegExp; readonly missed: (index: number) => string };
  /** Models that sign the first call of each reply, and require the signature. */
  readonly signs?: RegExp;
  /** Fields of requests that it has, or refuses, in addition to those of OpenAI. */
  readonly takes?: Fields;
  readonly refuses?: readonly string[];
  /** Fields of messages that it has in addition to those of OpenAI, by role. */
  readonly messages?: ReadonlyMap<string, Fields>;
  /** The refusal of an unknown field, in a message of that role; undefined if it ignores such fields. */
  readonly unknown?: (at: Path, role: string) => ProviderError | undefined;
  /** The types of the parts of a message; default all. */
  readonly parts?: readonly string[];
  /** The check for everything else that it refuses. */
  readonly check?: (body: JsonObject, messages: readonly JsonObject[]) => ProviderError | undefined;
  readonly callId?: Provider["callId"];
  readonly error?: (error: ProviderError) => Json;
  /** The field with the token counts, if it is not the usual one. */
  readonly usageIn?: string;
}
