import type { Json, JsonObject } from "../../util/json.ts";
import type { Fields, Path } from "./fields.ts";
import type { Provider, ProviderError } from "./wire.ts";

/** The differences between a host of chat completions and OpenAI, which has none. */
export interface ChatHost {
  /** The form in which a reply has its reasoning, and takes it back. Default: `reasoning_content`. */
  readonly reasoning?: "reasoning_content" | "reasoning" | "reasoning_details" | "thinking";
  /** Models that think, and what is said where the reasoning of a call does not come back. */
  readonly thinks?: { readonly models: RegExp; readonly missed: (index: number) => string };
  /** Models that sign the first call of each reply, and want the signature back. */
  readonly signs?: RegExp;
  /** Fields of requests that it has, or refuses, beside or among those of OpenAI. */
  readonly takes?: Fields;
  readonly refuses?: readonly string[];
  /** Fields of messages that it has beside those of OpenAI, by role. */
  readonly messages?: ReadonlyMap<string, Fields>;
  /** The refusal of a field that it does not know, in a message of that role; undefined where it passes over such fields. */
  readonly unknown?: (at: Path, role: string) => ProviderError | undefined;
  /** The types of the parts of a message; default all. */
  readonly parts?: readonly string[];
  /** The check for all else that it refuses. */
  readonly check?: (body: JsonObject, messages: readonly JsonObject[]) => ProviderError | undefined;
  readonly callId?: Provider["callId"];
  readonly error?: (error: ProviderError) => Json;
  /** Counts in a field of its own. */
  readonly usageIn?: string;
}
