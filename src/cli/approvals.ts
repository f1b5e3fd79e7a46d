import { createInterface } from "node:readline/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { misfitOf } from "../call/ask.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { AnswerHere, Approve } from "../run/approval.ts";
import { parseCallJson } from "../util/call-json.ts";
import { asSentence } from "../util/as-sentence.ts";
import { isJsonObject, visibleJson } from "../util/json.ts";
import { visible } from "../util/visible.ts";
import { type Output, say } from "./output.ts";
import { questionText, showsAll, wholeText } from "./question-text.ts";

/** The terminal at which a person is asked. */
export interface AskOptions {
  readonly input: ReadStream;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** A question, with those of the later calls of the same reply. */
interface Asked {
  readonly request: ApprovalRequest;
  readonly others: readonly ApprovalRequest[];
  /** True if all of `others` are on the terminal already, below an earlier question. */
  readonly areListed: boolean;
}

/**
 * Makes the function that asks the person at the terminal about calls, one after another; `a` answers all calls of a reply. Undefined if there is no terminal
 * to ask at: such calls are then denied.
 */
export function terminalApprove({ input, output, signal }: AskOptions): Approve | undefined {
  if (!input.isTTY || !output.isTerminal) return undefined;
  let before: Promise<unknown> = Promise.resolve();
  let listed: readonly string[] = [];
  return (request, others = []) => {
    const answer = before.then(async () => {
      const areListed = others.every((other) => listed.includes(placeOf(other)));
      listed = others.map(placeOf);
      try {
        return await ask({ request, others, areListed }, { input, output, signal });
      } catch (error) {
        if (signal.aborted || !(error instanceof Error) || error.name !== "AbortError") throw error;
        output.progress("\n"); // Ctrl-D ends no line
        return { approved: false, reason: "the person at the terminal ended the input" };
      }
    });
    before = answer.catch(() => undefined);
    return answer;
  };
}

function placeOf({ turn, path, callId, hash }: ApprovalRequest): string {
  return JSON.stringify([turn, path, callId, hash]);
}

function choicesOf({ request: { open = [] }, others }: Asked): string {
  const wider =
    open.length === 0 ? "" : `o also with other ${open.map((name) => visible(name)).join(", ")}, `;
  const all = others.length === 0 ? "" : `a all ${others.length + 1} once, `;
  return `y once, ${all}r for this run, ${wider}v view it whole, e edit, n no (n why) > `;
}

const notAnswer = "  That is not one of the answers. Nothing was decided.\n";

async function ask(asked: Asked, at: AskOptions): Promise<AnswerHere> {
  const { input, output, signal } = at;
  const { request } = asked;
  say(`${askedText(asked, output)}\n`, output);
  let isViewed = false;
  for (;;) {
    await untilQuiet(input, signal);
    const said = (await line(at, output.style("bold", choicesOf(asked)))).trim();
    const isEdit = said.startsWith("e");
    const edit = isEdit ? await edited(request, at) : undefined;
    const answer = edit === undefined ? answerOf(said, asked) : edit.answer;
    const meant = answer?.also === undefined ? [request] : [request, ...asked.others];
    if (said === "v") {
      await view(wholeOf(asked), at);
      isViewed = true;
    } else if (answer === undefined)
      say(edit === undefined ? notAnswer : `  ${edit.problem} Nothing was decided.\n`, output);
    else if (isEdit || isViewed || meant.every(showsAll) || !answer.approved) return answer;
    else say("  Not all of it was shown: v shows it. Nothing was decided.\n", output);
  }
}

/** The question, and below it those of the later calls, unless they are on the terminal already. */
function askedText({ request, others, areListed }: Asked, output: Output): string {
  if (others.length === 0) return questionText(request, output);
  const behind = areListed
    ? "  the later calls of this reply wait, as shown above"
    : `  later in this reply:\n${others.map((each) => questionText(each, output)).join("\n")}`;
  return `${questionText(request, output)}\n${behind}`;
}

/** All arguments of all calls that an answer can be about. */
function wholeOf({ request, others }: Asked): string {
  if (others.length === 0) return wholeText(request);
  return [request, ...others].map((each) => `${visible(each.tool)}\n${wholeText(each)}`).join("\n");
}

/** Reads a line. If `words` is given, the person edits it. @throws AbortError if the run is stopped, or the input ends */
async function line({ input, signal }: AskOptions, prompt: string, words = ""): Promise<string> {
  const lines = createInterface({ input, output: process.stderr });
  lines.on("SIGINT", () => {
    process.stderr.write("\n"); // the next message begins on a line of its own
    process.emit("SIGINT", "SIGINT");
  });
  try {
    const answer = lines.question(prompt, { signal });
    lines.write(words);
    return await answer;
  } finally {
    lines.close();
  }
}

/** Shows a text page by page, as long as the person wants more. */
async function view(text: string, at: AskOptions): Promise<void> {
  const { rows, columns } = process.stderr;
  const pages = pagesOf(text, { rows: rows || 24, columns: columns || 80 }); // some terminals say 0
  for (const [index, page] of pages.entries()) {
    at.output.progress(`${page}\n`);
    const isLast = index === pages.length - 1;
    if (
      isLast ||
      (await line(at, `  ${index + 1} of ${pages.length}: Enter for more, q to go back > `)).trim() === "q"
    )
      return;
  }
}

/** An edit: an answer, or the reason why it is not one, as a sentence. */
interface Edit {
  readonly answer?: AnswerHere;
  readonly problem?: string;
}

/** The arguments after the person's changes. */
async function edited(request: ApprovalRequest, at: AskOptions): Promise<Edit> {
  const parsed = parseCallJson(
    await line(at, "  arguments as JSON > ", visibleJson(JSON.stringify(request.arguments))),
  );
  if (!parsed.ok || !isJsonObject(parsed.value)) return { problem: "The arguments must be one JSON object." };
  const answer = { approved: true, arguments: parsed.value };
  const issues = await misfitOf(parsed.value, request);
  return issues === undefined ? { answer } : { problem: `The arguments do not match: ${asSentence(issues)}` };
}

/** The time without typing before a question counts: nobody reads a question and answers it faster. */
const quietMs = 500;

/**
 * Drops everything that was typed before a question, including the beginning of a line, and what still comes, until nothing came for a moment: it cannot
 * be meant as an answer.
 *
 * @throws AbortError if the run is stopped
 */
async function untilQuiet(input: ReadStream, signal: AbortSignal): Promise<void> {
  let wasTyped: boolean;
  const drop = (keys: Buffer | string): void => {
    wasTyped = true;
    if (keys.includes("\u0003")) process.emit("SIGINT", "SIGINT"); // a raw terminal makes no signal of Ctrl-C
  };
  input.setRawMode(true).on("data", drop).resume();
  try {
    do {
      wasTyped = false;
      await setTimeout(quietMs, undefined, { signal });
      await setImmediate(); // input that came while the program was busy is read after its timers
    } while (wasTyped);
  } finally {
    input.off("data", drop).setRawMode(false).pause();
  }
}

/** The decision in an answer; undefined for words that decide nothing. */
function answerOf(said: string, { request: { open = [] }, others }: Asked): AnswerHere | undefined {
  if (said === "y" || said === "yes") return { approved: true };
  if (said === "a" && others.length > 0) return { approved: true, also: others.map(({ hash }) => hash) };
  if (said === "r") return { approved: true, for: "run" };
  if (said === "o" && open.length > 0) return { approved: true, for: "run", free: open };
  const no = /^no?(?:\s+(.*))?$/.exec(said);
  if (no === null) return undefined;
  return { approved: false, reason: no[1] ?? "the person at the terminal said no" };
}

/** The screen that shows pages. */
interface Screen {
  readonly rows: number;
  readonly columns: number;
}

/** A text as pages that leave a line of the screen for a question. Longer lines continue on the next line. */
export function pagesOf(text: string, { rows, columns }: Screen): readonly string[] {
  const width = Math.max(20, columns);
  const lines = text.split("\n").flatMap((line) => inPieces(line, width));
  const height = Math.max(1, rows - 1);
  const pages: string[] = [];
  for (let at = 0; at < lines.length; at += height) pages.push(lines.slice(at, at + height).join("\n"));
  return pages;
}

function inPieces(line: string, width: number): readonly string[] {
  if (line.length <= width) return [line];
  const pieces: string[] = [];
  for (let at = 0; at < line.length; at += width) pieces.push(line.slice(at, at + width));
  return pieces;
}
