import type { Output } from "../../../src/cli/output.ts";

/** An output that keeps what is written to it. */
export interface CapturedOutput extends Output {
  readonly answers: () => string;
  readonly told: () => string;
}

/** Times are written as `0 ms`, so that what is told is the same at every run. */
export function captureOutput(about: { readonly answersTerminal?: boolean } = {}): CapturedOutput {
  let answers = "";
  let told = "";
  return {
    answer: (text) => void (answers += text),
    progress: (text) => void (told += text),
    isTerminal: false,
    answersTerminal: about.answersTerminal ?? false,
    style: (_style, text) => text,
    styleAnswer: (_style, text) => text,
    answers: () => answers,
    told: () => told.replaceAll(/\b\d+(\.\d)? m?s\b/g, "0 ms"),
  };
}
