import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { type AskAboutRead, type DraftedTool, draftPolicy, type DraftLine } from "../policy/study/draft.ts";
import { visibleJson } from "../util/json.ts";
import { readAnswers } from "./draft-answers.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import type { OutputFlags } from "./options.ts";
import { countText, jsonLine, oneLine, type Output, processOutput } from "./output.ts";
import { readTools } from "./read-tools.ts";
import { writing } from "./writing.ts";

/** The options of `writ policy draft`. */
export interface DraftFlags extends OutputFlags {
  readonly name?: string;
  readonly ask?: boolean;
  readonly answers?: string;
  readonly write?: string;
}

/**
 * `writ policy draft <file>`: prints or writes the policy, and prints the reason for each of its lines on standard error. At a terminal it asks
 * three questions about each tool that only looks.
 *
 * @throws WritError `option-invalid`, and the errors of reading tools
 */
export async function draft(
  path: string,
  { name, ask, answers: said, write, json = false }: DraftFlags,
): Promise<ExitCode> {
  const file = await readTools(path);
  const written =
    said === undefined
      ? undefined
      : readAnswers(
          said,
          file.tools.map((tool) => tool.name),
        );
  const isAsked = written === undefined && (ask ?? (process.stdin.isTTY && processOutput.isTerminal));
  const answers = isAsked ? linesOf(process.stdin) : undefined;
  const asker = answers === undefined ? written : askerOf(answers, processOutput);
  const { policy, lines } = await draftPolicy(name ?? file.name, file.tools, asker);
  await answers?.return?.(undefined);
  if (!json) for (const line of lineTexts(lines)) processOutput.progress(`${line}\n`);
  const text = json ? jsonLine({ type: "policy-draft", policy, lines }) : policyText(policy);
  if (write === undefined) await processOutput.answer(text);
  else {
    await writing({ option: "--write", path: write }, () => writeFile(write, policyText(policy)));
    if (json) await processOutput.answer(text);
    processOutput.progress(`${oneLine(write)} has the policy: ${countText(file.tools.length, "tool")}.\n`);
  }
  return exitCodes.answered;
}

function policyText(policy: object): string {
  return `${visibleJson(JSON.stringify(policy, null, 2))}\n`;
}

/** The lines of a draft by tool, each with its reason. */
function lineTexts(lines: readonly DraftLine[]): readonly string[] {
  return [...Map.groupBy(lines, ({ tool }) => tool)].flatMap(([tool, own]) => [
    oneLine(tool),
    ...own.map(({ says, because }) => `  ${oneLine(says)}, because ${oneLine(because)}`),
  ]);
}

type Lines = AsyncIterator<string>;

function linesOf(input: NodeJS.ReadableStream): Lines {
  const lines = createInterface({ input });
  lines.on("SIGINT", () => process.emit("SIGINT"));
  return lines[Symbol.asyncIterator]();
}

/** Asks the three questions about each tool. If the input ends, nobody is there to answer. */
function askerOf(lines: Lines, output: Output): AskAboutRead {
  let isOver = false;
  const yesOrNo = async (question: string, isYes: boolean): Promise<boolean> => {
    for (;;) {
      output.progress(`  ${question} ${isYes ? "[Y/n]" : "[y/N]"} > `);
      const { value, done } = await lines.next();
      isOver ||= done === true;
      const said = isOver ? "" : value.trim().toLowerCase();
      if (said === "") return isYes;
      if (/^y(?:es)?$/.test(said)) return true;
      if (/^no?$/.test(said)) return false;
    }
  };
  return async (tool, guess) => {
    if (isOver) return undefined;
    output.progress(`${toolText(tool)}\n`);
    const isStrangers = await yesOrNo("Can a stranger write any part of its result?", guess.isStrangers);
    const isPrivate = await yesOrNo(
      "Is its result private, so that not everybody you write to may see it?",
      guess.isPrivate,
    );
    const goesOut = await yesOrNo("Do its arguments leave your own systems?", guess.goesOut);
    return isOver ? undefined : { isStrangers, isPrivate, goesOut };
  };
}

function toolText({ name, description }: DraftedTool): string {
  return `${oneLine(name)}: ${oneLine(description, 300)}`;
}
