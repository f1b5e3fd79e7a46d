import { createInterface } from "node:readline/promises";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import type { Approval, Approve } from "../run/approval.ts";
import type { ApprovalRequest, ApprovalValue } from "../policy/rules/approval-request.ts";
import { sourceText } from "../policy/study/explain.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import { visible } from "../util/visible.ts";
import { oneLine, type Output, printable } from "./output.ts";

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

const choices = "y once, r for this run, e edit, n no (n why) > ";

async function ask(request: ApprovalRequest, { input, output, signal }: AskOptions): Promise<Approval> {
  output.progress(`${questionText(request, output)}\n`);
  await untilQuiet(input, signal);
  const lines = createInterface({ input, output: process.stderr });
  lines.on("SIGINT", () => process.emit("SIGINT"));
  try {
    for (;;) {
      const said = (await lines.question(output.style("bold", choices), { signal })).trim();
      if (said.startsWith("e")) {
        const edited = readArguments(await lines.question("  arguments as JSON > ", { signal }));
        if (edited !== undefined) return edited;
        output.progress("  that is no JSON object; nothing was decided\n");
        continue;
      }
      const answer = answerOf(said);
      if (answer !== undefined) return answer;
      output.progress("  that is no answer; nothing was decided\n");
    }
  } finally {
    lines.close();
  }
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
function answerOf(said: string): Approval | undefined {
  if (said === "y" || said === "yes") return { approved: true };
  if (said === "r") return { approved: true, for: "run" };
  const no = /^no?(?:\s+(.*))?$/.exec(said);
  if (no === null) return undefined;
  return { approved: false, reason: no[1] ?? "the person at the terminal said no" };
}

function readArguments(text: string): Approval | undefined {
  const parsed = parseJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? { approved: true, arguments: parsed.value } : undefined;
}

/** The question for people: each value, whether it is their own, and what the model had read. */
export function questionText(request: ApprovalRequest, { style }: Pick<Output, "style">): string {
  const { tool, effect, values, more = 0, reason, rule, label, links } = request;
  const lines = [
    style("yellow", `  ${printable(tool)} (${effect}) needs your approval: ${oneLine(reason)}`),
    ...values.map(valueLine),
    ...(more === 0 ? [] : [`    … and ${more} more, which are not shown`]),
    ...links.map((link) => `    a link that only a stranger named: ${visible(link)}`),
    style("dim", `    rule ${oneLine(rule)}; the model had read: ${readText(label) || "nothing else"}`),
  ];
  return lines.join("\n");
}

function readText({ sources }: ApprovalRequest["label"]): string {
  return oneLine(sources.map(sourceText).join(", "));
}

function valueLine({ path, value, bound }: ApprovalValue): string {
  const isEmpty = value === null || value === "";
  const origin = isEmpty ? "empty" : bound ? "you said it" : "you did not say it";
  return `    ${visible(path)}: ${whole(visible(JSON.stringify(value)))}  (${origin})`;
}

/** Shows a value whole; of one that nobody could read, both ends. */
function whole(text: string): string {
  const most = 4000;
  if (text.length <= most) return text;
  const left = text.length - most;
  return `${text.slice(0, most / 2)} … ${left} characters are not shown … ${text.slice(-most / 2)}`;
}
