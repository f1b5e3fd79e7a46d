import { asSentence } from "../util/as-sentence.ts";
import { thrownText } from "../util/thrown.ts";
import { catalogue, type ErrorCode, type ErrorData } from "./codes.ts";

/** Additions to an error beside its code and data. */
export interface WritErrorOptions {
  /** The first error. Kept as it is, so that it is never lost. */
  readonly cause?: unknown;
  /** True if trying again can help. Default: as the catalogue says of the code. */
  readonly retryable?: boolean;
  /** Milliseconds until the next attempt, if the other side asked for a pause. */
  readonly retryAfterMs?: number;
  /** The number of all attempts, if there was more than one. */
  readonly attempts?: number;
}

/** Additions to the data of an error beside the fields of its message. */
type Attempted = Pick<WritErrorOptions, "attempts">;

/**
 * The one error class of writ. `code` is stable and stands in docs/errors.md; `message` says what, where and why; `hint` says what to do.
 *
 * @example
 * ```ts
 * import { isWritError } from "writ";
 *
 * function advice(error: unknown): string {
 *   return isWritError(error, "model-not-found") ? error.hint : "unknown";
 * }
 * ```
 */
export class WritError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name: string = "WritError";
  readonly code: Code;
  readonly data: ErrorData[Code] & Attempted;
  readonly hint: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs: number | undefined;
  /** For TypeScript, to which `instanceof` would say nothing of the code and the data. */
  declare static readonly [Symbol.hasInstance]: (value: unknown) => value is WritError;

  constructor(code: Code, data: ErrorData[Code], options: WritErrorOptions = {}) {
    const entry = catalogue[code];
    super(fill(entry.message, data), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    const { attempts } = options;
    this.data = attempts === undefined ? data : { ...data, attempts };
    this.hint = fill(entry.hint, data);
    const { retryable = entry.retryable, retryAfterMs } = options;
    // Printed with the error only where they say something.
    if (retryable) this.retryable = true;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }

  static {
    Object.defineProperties(this.prototype, {
      retryable: { value: false, writable: true },
      retryAfterMs: { value: undefined, writable: true },
    });
  }
}

/**
 * Tells whether a value is a {@link WritError}, and has this code if you give one. It works across two installed copies of the package. An error that has
 * the name and the code, but not `data` and `hint`, is not a `WritError`.
 *
 * @example
 * ```ts
 * import { isWritError } from "writ";
 *
 * export const isMissing = (error: unknown): boolean => isWritError(error, "model-not-found");
 * ```
 */
export function isWritError<Code extends ErrorCode>(value: unknown, code?: Code): value is WritError<Code> {
  try {
    if (!(value instanceof Error) || value.name !== "WritError" || !("code" in value)) return false;
    return (code === undefined || value.code === code) && isWhole(value);
  } catch {
    return false; // code of strangers can throw what throws when it is looked at
  }
}

/** True if an error has all fields of a WritError. One that was rebuilt from the message of a worker or another program has only the name and the code. */
function isWhole(error: Error & { readonly data?: unknown; readonly hint?: unknown }): boolean {
  const { data, hint } = error;
  if (typeof hint !== "string" || typeof data !== "object" || data === null) return false;
  return Object.values(data).every((each) => typeof each === "string" || typeof each === "number");
}

/** The message of anything that was thrown, without ever throwing itself. */
export function messageOf(thrown: unknown): string {
  return thrownText(thrown);
}

function fill(template: string, data: Readonly<Record<string, string | number>>): string {
  if (!template.includes("{")) return template;
  return template.replaceAll(/\{([a-zA-Z]+)\}(\.(?=\s|$))?/g, (whole, field: string, stop?: string) => {
    if (!Object.hasOwn(data, field)) return whole;
    const words = String(data[field]);
    return stop === undefined ? words : asSentence(words);
  });
}
