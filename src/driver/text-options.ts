import { checkShape, closed } from "../error/check-shape.ts";
import { oneOf, optional, type Shape, whole } from "../util/shape.ts";

/** Retries in a row for a reply that counts, where the author says nothing. */
export const defaultRetries = 3;

/** Options that the drivers of text have in common. */
export interface TextDriverOptions {
  /** The role in which results go back. Chat templates of models without tools often refuse `tool`. Default `user`. */
  readonly resultRole?: "user" | "tool";
  /** Most retries in a row for a reply that counts, before the run fails. Default 3. */
  readonly maxRetries?: number;
}

/** The role in which results are told, of the drivers that leave it open. */
export const resultRole: Shape<unknown> = oneOf("user", "tool");

/**
 * Checks the options of a driver: `maxRetries`, which all have, and its own, of which each may be left out.
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
