import { createInterface } from "node:readline/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import type { Approval, Approve } from "../run/approval.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { isJsonObject, parseJson, visibleJson } from "../util/json.ts";
import { visible } from "../util/visible.ts";
import type { Output } from "./output.ts";
import { pagesOf } from "./pages.ts";
import { fitted } from "./screen.ts";
import { questionText, showsAll, wholeText } from "./question-text.ts";

/** Terminal at which a person is asked. */
export interface AskOptions {
  readonly input: ReadStream;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/**
 * Asks the person at the terminal about calls, one after another. Undefined where there is no terminal to ask at: then such calls are denied.
 */
export function terminalApprove({ input, output, signal }: AskOptions): Approve | undefined {
  if (!input.isTTY || !output.isTerminal) return undefined;
  let before: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = before.then(() => ask(request, { input, output, signal }));
    before = answer.catch(() => undefined);
    return answer;
  };
}

function choicesOf({ open = [] }: ApprovalRequest): string {
  const others =
    open.length === 0 ? "" : `o also with other ${open.map((name) => visible(name)).join(", ")}, `;
  return `y once, r for this run, ${others}v view it whole, e edit, n no (n why) > `;
}

async function ask(request: ApprovalRequest, at: AskOptions): Promise<Approval> {
  const { input, output, signal } = at;
  output.progress(`${fitted(questionText(request, output), output.screen)}\n`);
  let isSeen = showsAll(request);
  for (;;) {
    await untilQuiet(input, signal);
    const said = (await line(at, output.style("bold", choicesOf(request)))).trim();
    const answer = said.startsWith("e") ? await edited(request, at) : answerOf(said, request);
    if (said === "v") {
      await view(wholeText(request), at);
      isSeen = true;
    } else if (answer === undefined) output.progress("  that is no answer; nothing was decided\n");
    else if (said.startsWith("e") || isSeen || !answer.approved) return answer;
    else output.progress("  not all of it was shown, and v shows it; nothing was decided\n");
  }
}

/** Reads a line. With words in it already, the person changes those. @throws AbortError when the run is stopped, or the input ends */
async function line({ input, signal }: AskOptions, prompt: string, words = ""): Promise<string> {
  const lines = createInterface({ input, output: process.stderr });
  lines.on("SIGINT", () => {
    process.stderr.write("\n"); // what is told of it begins on a line of its own
    process.emit("SIGINT");
  });
  try {
    const answer = lines.question(prompt, { signal });
    lines.write(words);
    return await answer;
  } finally {
    lines.close();
  }
}

/** Shows a text page by page, as far as the person wants. */
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

/** The arguments as the person leaves them. */
async function edited({ arguments: args }: ApprovalRequest, at: AskOptions): Promise<Approval | undefined> {
  return readArguments(await line(at, "  arguments as JSON > ", visibleJson(JSON.stringify(args))));
}

/** Nobody reads a question and answers it in less. */
const quietMs = 500;

/**
 * Drops what was typed before a question, also the beginning of a line, and what still comes, until nothing came for a moment: none of it can be meant
 * for what is asked.
 *
 * @throws AbortError when the run is stopped
 */
async function untilQuiet(input: ReadStream, signal: AbortSignal): Promise<void> {
  let wasTyped: boolean;
  const drop = (keys: Buffer | string): void => {
    wasTyped = true;
    if (keys.includes("\u0003")) process.emit("SIGINT"); // a raw terminal makes no signal of Ctrl-C
  };
  input.setRawMode(true).on("data", drop).resume();
  try {
    do {
      wasTyped = false;
      await setTimeout(quietMs, undefined, { signal });
      await setImmediate(); // what came while the program was busy is read after its timers
    } while (wasTyped);
  } finally {
    input.off("data", drop).setRawMode(false).pause();
  }
}

/** The decision in an answer; undefined for words that decide nothing. */
function answerOf(said: string, { open = [] }: ApprovalRequest): Approval | undefined {
  if (said === "y" || said === "yes") return { approved: true };
  if (said === "r") return { approved: true, for: "run" };
  if (said === "o" && open.length > 0) return { approved: true, for: "run", free: open };
  const no = /^no?(?:\s+(.*))?$/.exec(said);
  if (no === null) return undefined;
  return { approved: false, reason: no[1] ?? "the person at the terminal said no" };
}

function readArguments(text: string): Approval | undefined {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? { approved: true, arguments: parsed.value } : undefined;
}
