import type { JsonSchema } from "../../schema/schema.ts";
import type { JsonObject } from "../../util/json.ts";

/** A tool whose calls are looked for. */
export interface KnownTool {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  /** True if the tool may change something: one call is never taken for several then. Default: false. */
  readonly changes?: boolean;
}

/**
 * The strictness about calls. `strict`: the whole text is calls in one format, and nothing had to be mended.
 * `safe`: calls in any known format, but for those that are only talked about, and those whose arguments come
 * from nowhere. `lenient`: those too.
 */
export type RecogniserMode = (typeof recogniserModes)[number];

/** The modes, the strictest first. */
export const recogniserModes = ["strict", "safe", "lenient"] as const;

/** A call that was found in text. Its name is a known tool's; its arguments were fitted to the tool's schema where the meaning is clear. */
export interface RecognisedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Something that looks like a call and was not taken for one. */
export interface RefusedCall {
  /** The name as it was written. */
  readonly name: string;
  readonly reason: string;
  /** The key that stands twice in one object, where that is the reason. */
  readonly twice?: string;
}

/** The calls in a text. */
export interface Recognition {
  readonly calls: readonly RecognisedCall[];
  readonly refused: readonly RefusedCall[];
  /** The format of the calls, taken or refused; undefined when the text has none. */
  readonly layer?: LayerName;
  /** The mendings without which the calls could not be read, in words for people. */
  readonly repairs: readonly string[];
}

/** The formats, the strictest first. A looser one is looked for only when the stricter ones found nothing. */
export type LayerName = "tagged" | "whole" | "fenced" | "named" | "bare";

/** Facts about a text beside its words. */
export interface ReadOptions {
  /** The text stopped at a token limit: no call is taken from it. */
  readonly cut?: boolean;
  /**
   * The conversation before the text: questions, results. With it, `safe` refuses a call of which more than
   * half of the arguments come neither from there nor from the tool's own description. Without it, where
   * arguments come from is not judged.
   */
  readonly said?: string;
}

/** A text that comes piece by piece. */
export interface RecogniserStream {
  /**
   * Takes the next piece and gives back the text that is no part of a call, whatever comes next, for showing it at once. From the first sign
   * on that can begin a call nothing is given back. The cost of a piece grows with its length alone.
   */
  push(piece: string): string;
  /** Reads the whole text. */
  end(options?: ReadOptions): Recognition;
}

/** Finds calls of some tools in text. Never throws; the time grows with the length of the text alone. */
export interface Recogniser {
  read(text: string, options?: ReadOptions): Recognition;
  stream(): RecogniserStream;
}
