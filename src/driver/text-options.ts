import { checkShape, closed } from "../error/check-shape.ts";
import { oneOf, optional, type Shape, whole } from "../util/shape.ts";

/** The default number of retries in a row for a valid reply. */
export const defaultRetries = 3;

/** Options that all drivers of text have. */
export interface TextDriverOptions {
  /** The role of messages with results. Chat templates of models without tools often refuse `tool`. Default `user`. */
  readonly resultRole?: "user" | "tool";
  /** The most retries in a row for a valid reply, before the run fails. Default 3. */
  readonly maxRetries?: number;
}

/** The shape of the role of results, for drivers with a choice. */
export const resultRole: Shape<unknown> = oneOf("user", "tool");

/**
 * Checks the options of a driver: `maxRetries`, which all have, and its own; each may be left out.
 *
 * @throws WritError `definition-invalid`
 */
export function checkOptions(
  door: string,
  options: object,
  shapes: Readonly<Record<string, Shape<unknown>>> = {},
): void {
  const entries = Object.entries({ maxRetries: whole, ...shapes });
  const shape = closed(Object.fromEntries(entries.map(([name, each]) => [name, optional(each)])));
  checkShape(`\`${door}\``, options, shape);
}
