import type { Json, JsonObject } from "../util/json.ts";
import type { Check, Work } from "./visit.ts";

/** Tells whether a text has what a pattern wants. */
export type Matcher = (text: string, work: Work) => boolean;

/** The schema around a keyword, and the makers of what the keyword needs of it. */
export interface Making {
  readonly schema: JsonObject;
  readonly judgeOf: (schema: Json) => Check;
  /** The ends of the schema's references: `$ref` first. */
  readonly ends: readonly Json[];
  readonly matcherOf: (pattern: string) => Matcher;
}

/** Makes the check of a keyword from its value, whose form is checked. */
export type Maker = (held: Json, making: Making) => Check;

/** Keywords in the order in which they are asked. */
export type Makers = readonly (readonly [keyword: string, maker: Maker])[];
