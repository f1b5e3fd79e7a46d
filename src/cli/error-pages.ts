import { readdirSync } from "node:fs";
import { catalogue } from "../error/codes.ts";
import { WritError } from "../error/writ-error.ts";
import { didYouMean } from "../util/nearest.ts";
import { lineOf, pagesFolder, pageText, shownPath } from "./error-place.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { jsonLine, processOutput } from "./output.ts";
import type { OutputFlags } from "./options.ts";

/** `writ errors [code]`: the meaning of a code, the advice, and the pages that mention it; without a code, all codes. @throws WritError `option-invalid` */
export async function errors(code: string | undefined, { json = false }: OutputFlags): Promise<ExitCode> {
  const codes = Object.keys(catalogue);
  if (code === undefined) {
    await processOutput.answer(json ? jsonLine(codes) : `${codes.join("\n")}\n`);
    return exitCodes.answered;
  }
  const entry = Object.entries(catalogue).find(([known]) => known === code)?.[1];
  if (entry === undefined) {
    const advice = `It is not one of writ's codes${didYouMean(code, codes) || "."} \`writ errors\` lists them.`;
    throw new WritError("option-invalid", { option: "<code>", value: code, advice });
  }
  const pages = pagesOf(code);
  const { message, hint, retryable } = entry;
  if (json) await processOutput.answer(jsonLine({ code, message, hint, retryable, pages }));
  else await processOutput.answer(pageOf(code, entry, pages));
  return exitCodes.answered;
}

interface Entry {
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
}

function pageOf(code: string, { message, hint, retryable }: Entry, pages: readonly string[]): string {
  const { styleAnswer } = processOutput;
  const lines = [
    styleAnswer("bold", code),
    "",
    message,
    "",
    `What to do: ${hint}`,
    ...(retryable ? ["Trying again can help (`error.retryable`)."] : []),
    ...(pages.length === 0 ? [] : ["", "Read:", ...pages.map((page) => `  ${page}`)]),
  ];
  return `${lines.join("\n")}\n`;
}

/** The places that mention a code, one for each page. */
function pagesOf(code: string): readonly string[] {
  const names = readdirSync(pagesFolder).filter((name) => name.endsWith(".md") && name !== "errors.md");
  return names.toSorted().flatMap((name) => {
    const text = pageText(name);
    const line = lineOf(text, `errors.md#${code})`) || lineOf(text, `\`${code}\``);
    return line === 0 ? [] : [`${shownPath(name)}:${line}`];
  });
}
