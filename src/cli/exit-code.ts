import { isWritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";

/** Exit codes of the process. */
export const exitCodes = {
  answered: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  exhausted: 4,
  provider: 5,
  suspended: 6,
  interrupted: 130,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byOutcome: Readonly<Record<Exclude<Outcome["type"], "failed">, ExitCode>> = {
  answered: exitCodes.answered,
  refused: exitCodes.refused,
  exhausted: exitCodes.exhausted,
  suspended: exitCodes.suspended,
  cancelled: exitCodes.interrupted,
};

const byCode: readonly (readonly [codes: RegExp, exitCode: ExitCode])[] = [
  [
    /^(provider|model)-|^(peer-missing|reply-invalid|download-failed|download-busy|checksum-mismatch|context-exceeded)$/,
    exitCodes.provider,
  ],
  [
    /^(command|file|eval|tokens|agent|prompt|option|input|skill-(unknown|not|file|restriction)|tools-missing|definition|name|tool-unknown|schema|capability-invalid|policy-invalid|pins-(missing|invalid)|budget-(invalid|without))/,
    exitCodes.usage,
  ],
  [/^(run-refused|tool-not-allowed)$/, exitCodes.refused],
  [/^budget-exhausted$/, exitCodes.exhausted],
  [/^run-suspended$/, exitCodes.suspended],
  [/^run-cancelled$/, exitCodes.interrupted],
];

/** The exit code of a run's outcome, or of a thrown error. An error that is not in the catalogue is a failure. */
export function exitCodeOf(end: { readonly outcome: Outcome } | { readonly error: unknown }): ExitCode {
  if ("error" in end) return isWritError(end.error) ? exitCodeOfCode(end.error.code) : exitCodes.failed;
  const { outcome } = end;
  return outcome.type === "failed" ? exitCodeOfCode(outcome.code) : byOutcome[outcome.type];
}

function exitCodeOfCode(code: string): ExitCode {
  return byCode.find(([codes]) => codes.test(code))?.[1] ?? exitCodes.failed;
}
