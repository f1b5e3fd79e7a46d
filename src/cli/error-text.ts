import { inspect } from "node:util";
import { isWritError, messageOf } from "../error/writ-error.ts";
import { placeOf } from "./error-place.ts";
import { oneLine, type Output, printable } from "./output.ts";
import { placeInCode } from "./place-in-code.ts";
import { fitted } from "./screen.ts";

export interface ErrorTextOptions {
  /** Shows the stack and the causes. */
  readonly verbose?: boolean;
  readonly style: Output["style"];
  /** The terminal that shows it: lines are broken between words. */
  readonly screen?: Output["screen"];
}

/** An error as people read it: what happened and what to do, and the stack only with `verbose`. Ends with a line break. */
export function errorText(error: unknown, { verbose = false, style, screen }: ErrorTextOptions): string {
  const lines = isWritError(error)
    ? [
        `${style("red", `error[${error.code}]`)} ${printable(error.message)}`,
        ...hintsOf(error),
        placeOf(isWritError(error.cause) ? error.cause.code : error.code),
      ]
    : [
        `${style("red", "error")} ${oneLine(messageOf(error), 500)}${inCode(error)}`,
        "This is not one of writ's own errors. `--verbose` shows the stack.",
      ];
  const [what = "", ...rest] = lines;
  const shown = [what, ...rest.map((line) => `  ${style("dim", line)}`)].map((line) => fitted(line, screen));
  if (verbose) shown.push(style("dim", printable(inspect(error))));
  return `${shown.join("\n")}\n`;
}

/** An error as JSON. An error that is not in the catalogue has the code `unexpected`. */
export function errorObject(error: unknown): object {
  if (!isWritError(error)) return { code: "unexpected", message: messageOf(error), retryable: false };
  const { code, message, hint, retryable } = error;
  return { code, message, hint, retryable };
}

/** True of a command line whose last line of output is an object. */
export function wantsJson(words: readonly string[]): boolean {
  return /(?:^| )--(?:json|output-format[ =](?:stream-)?json)(?: |$)/.test(words.join(" "));
}

function inCode(error: unknown): string {
  const place = placeInCode(error);
  return place === undefined ? "" : ` (${oneLine(place)})`;
}

/** The advice, the most specific first: if an error of writ caused this one, its advice is more exact. */
function hintsOf(error: { readonly hint: string; readonly cause?: unknown }): string[] {
  const inner = isWritError(error.cause) ? [error.cause.hint] : [];
  return [...new Set([...inner, error.hint])].map((hint) => printable(hint));
}
