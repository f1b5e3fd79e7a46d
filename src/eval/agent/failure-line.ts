import type { Failure } from "./eval-report.ts";

/** A failed expectation on one line: its place, and the reason. */
export function failureLine({ expectation, message }: Failure): string {
  return `${expectation}: ${message}`;
}
