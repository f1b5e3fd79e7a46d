import { checkArguments, checkCount, checkShape, closed } from "../error/check-shape.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Json } from "../util/json.ts";
import { anything, callable, named, object, optional, string } from "../util/shape.ts";
import type { CallScope } from "./call-scope.ts";

/** The weight of a failure that a fixer could not mend. */
export type Severity = "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";

/** Mends a text: an agent from text to text, or a function. An agent takes `context` as the options of its run. */
export type Fixer = (broken: string, context: FixerContext) => Promise<string> | string;

/** The context that a fixer gets beside the text. */
export interface FixerContext {
  /** Aborted when the run is cancelled or the tool's time is over. */
  readonly signal: AbortSignal;
  /** The run whose call failed: a fixer that is an agent shares its bounds. */
  readonly parent: CallScope;
}

/** A value in place of the failed one. */
export interface Fixed {
  readonly type: "fixed";
  readonly value: Json;
}

/** The decision to run the tool again. */
export interface Retry {
  readonly type: "retry";
  readonly times: number;
}

/** The decision to tell the model the reason; the run goes on. */
export interface Escalated {
  readonly type: "escalated";
  readonly reason: string;
  readonly severity: Severity;
}

/** The decision to end the run. */
export interface Unrecoverable {
  readonly type: "unrecoverable";
  readonly reason?: string;
}

/** The decision to ask a fixer for a replacement. */
export interface Fix {
  readonly type: "fix";
  readonly fixer: Fixer;
  readonly attempts: number;
  readonly input?: string;
}

/** An answer to a call that failed. */
export type Repair = Fixed | Retry | Escalated | Unrecoverable | Fix;

/** Arguments with which a tool cannot be run. */
export interface ArgumentFailure {
  /** `unreadable`: the text is not JSON. `mismatch`: it is JSON that the tool's schema does not take. */
  readonly type: "unreadable" | "mismatch";
  readonly tool: string;
  /** The parser's message, or each issue with its path. */
  readonly message: string;
  /** The schema that the arguments must match. */
  readonly schema: JsonSchema;
  /** The number of times that this call's arguments were mended before. */
  readonly round: number;
}

/** The call whose tool threw. */
export interface FailedCall {
  readonly tool: string;
  /** The arguments as the tool got them. */
  readonly arguments: unknown;
}

type Answer<Kind extends Repair> = Kind | undefined | Promise<Kind | undefined>;

/**
 * Answers to calls that fail. A kind of failure without a function, or whose function returns nothing, stays
 * a failure. A used-up budget is not a failure of a tool, and no function here is called for it.
 */
export interface Recovery {
  /**
   * Called if the arguments cannot be read or do not match the schema. `raw` is their text. Mended arguments are read and checked again, and asked about
   * again if they are still wrong, at most 8 times; the tool never runs with arguments that do not match.
   */
  readonly invalidArguments?: (raw: string, failure: ArgumentFailure) => Answer<Exclude<Repair, Retry>>;
  /** Called if the tool threw. A mended value takes the place of its result. */
  readonly executionFailed?: (error: unknown, call: FailedCall) => Answer<Repair>;
}

/**
 * Supplies a value in place of the failed one: new arguments (a text is read as JSON), or a result of the tool.
 *
 * @example
 * ```ts
 * import { fixed, type Recovery } from "writ/tools";
 *
 * export const offline: Recovery = { executionFailed: () => fixed("no connection") };
 * ```
 */
export function fixed(value: Json): Fixed {
  return { type: "fixed", value };
}

/**
 * Runs the tool up to so many more times, one after another. If it throws each time, the run ends as failed with `tool-failed`.
 *
 * @throws WritError `definition-invalid` unless `times` is a whole number of at least 1
 * @example
 * ```ts
 * import { retry, type Recovery } from "writ/tools";
 *
 * export const patient: Recovery = { executionFailed: () => retry(3) };
 * ```
 */
export function retry(times: number): Retry {
  checkCount(times, "`retry(times)`");
  return { type: "retry", times };
}

/**
 * Reports a soft failure: the model is told the reason and may call again with other arguments. Case does not matter in `severity`; any word but
 * the four counts as HIGH.
 *
 * @example
 * ```ts
 * import { escalated, type Recovery } from "writ/tools";
 *
 * export const telling: Recovery = { executionFailed: () => escalated("the city is unknown", "low") };
 * ```
 */
export function escalated(reason: string, severity?: Severity | Lowercase<Severity>): Escalated {
  checkArguments("escalated()", { reason }, { reason: string });
  return { type: "escalated", reason, severity: readSeverity(severity) };
}

/**
 * Reports a hard failure: the run ends as failed with `tool-failed`.
 *
 * @example
 * ```ts
 * import { retry, unrecoverable, type Recovery } from "writ/tools";
 *
 * export const strict: Recovery = {
 *   executionFailed: (error) => (error instanceof TypeError ? unrecoverable("a fault of the tool") : retry(2)),
 * };
 * ```
 */
export function unrecoverable(reason?: string): Unrecoverable {
  checkArguments("unrecoverable()", { reason }, { reason: optional(string) });
  return { type: "unrecoverable", reason };
}

/**
 * Asks a fixer: an agent or a function. The fixer gets `input`; by default that is the text of the arguments, or the message of the tool's
 * error. Its answer replaces the arguments, or the result (read as JSON if it is JSON). A fixer that throws is asked again
 * until `attempts` (default 1) are used up; then the run ends as failed with `tool-failed`. A fixer that escalates (`escalate`, or
 * `tool-escalated` thrown) is not asked again, and the model is told. A fixer that gives up (`throwException`, or `tool-unrecoverable` thrown)
 * ends the run at once.
 *
 * @throws WritError `definition-invalid` unless `fixer` is a function and `attempts` a whole number of at least 1
 * @example
 * ```ts
 * import { agent, skill, tool } from "writ";
 * import { fix } from "writ/tools";
 * import { z } from "zod";
 *
 * const noTrailingCommas = agent({
 *   name: "no-trailing-commas",
 *   skills: [
 *     skill({ name: "mend", description: "Mends JSON", trusted: true, execute: (text) => String(text).replaceAll(/,(?=\s*[}\]])/g, "") }),
 *   ],
 * });
 *
 * export const save = tool({
 *   name: "save",
 *   description: "Save a note",
 *   inputSchema: z.object({ text: z.string() }),
 *   recover: { invalidArguments: () => fix(noTrailingCommas) },
 *   execute: ({ text }) => `saved ${text}`,
 * });
 * ```
 */
export function fix(
  fixer: Fixer,
  options: { readonly attempts?: number; readonly input?: string } = {},
): Fix {
  checkShape("`fix(fixer)`", { fixer }, object({ fixer: named("an agent or a function", callable) }));
  checkShape("`fix(fixer, options)`", options, closed({ attempts: anything, input: optional(string) }));
  const { attempts = 1, input } = options;
  checkCount(attempts, "`attempts` of `fix()`");
  return { type: "fix", fixer, attempts, input };
}

const severities: readonly Severity[] = ["LOW", "MEDIUM", "HIGH", "CRITICAL"];

/** Reads a severity in any case. A word that is not one of the four is HIGH. */
export function readSeverity(given: unknown): Severity {
  const upper = String(given).trim().toUpperCase();
  return severities.find((severity) => severity === upper) ?? "HIGH";
}

const recover = optional(
  closed({ invalidArguments: optional(callable), executionFailed: optional(callable) }),
);

/**
 * Checks an author's recovery, as far as types do not.
 *
 * @throws WritError `definition-invalid`
 */
export function checkRecovery(recovery: unknown, where: string): void {
  checkShape(where, { recover: recovery }, object({ recover }));
}
