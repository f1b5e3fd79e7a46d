import type { AgentEvent } from "../../event/event.ts";
import type { Approve } from "../../run/approval.ts";
import { session } from "../../session/session.ts";
import { terminalApprove } from "../approvals.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { followRun, type PrintedEnd } from "../follow-run.ts";
import { listenForInterrupts } from "../interrupts.ts";
import type { Output } from "../output.ts";
import { printEnd } from "../print-run.ts";
import { printer } from "../printer.ts";
import { markdownWriter, type MarkdownWriter } from "./markdown.ts";
import { addSpent, type ChatPlace, type Spent, type Talk } from "./talk.ts";

/** Asks the agent. The first Ctrl-C stops the answer; a second one ends the process. */
export async function askAgent(
  question: string,
  talk: Talk,
  place: ChatPlace,
): Promise<{ readonly spent: Spent; readonly exitCode: ExitCode }> {
  const answer = answerWriter(place.output);
  const output = answer?.beside ?? place.output;
  const interrupts = listenForInterrupts(output);
  const { signal } = interrupts;
  const print = printer({
    agent: talk.agent.name,
    model: talk.agent.modelId,
    verbose: place.verbose,
    isBrief: !place.verbose,
    output,
  });
  let spent = { ...talk.spent, questions: talk.spent.questions + 1 };
  const watch = (event: AgentEvent): void => {
    spent = addSpent(spent, event);
    answer?.take(event);
    print.tell(event);
  };
  const ask = terminalApprove({ input: process.stdin, output, signal });
  const asking: Approve | undefined =
    ask && ((request, others) => print.whileAsking(() => ask(request, others)));
  const approve = talk.approved.size === 0 ? asking : allowing(talk.approved, asking);
  const kept = session(place.store, talk.id);
  try {
    const end = await followRun(talk.agent, question, { signal, session: kept, approve, watch });
    print.close();
    return { spent, exitCode: await tell(end, answer, { output, verbose: place.verbose }) };
  } finally {
    print.close();
    interrupts.stopListening();
  }
}

/** Approves calls of the tools that the person named before, unless an agent inside this one calls them. */
function allowing(approved: ReadonlySet<string>, ask: Approve | undefined): Approve {
  return (request, others) => {
    if (approved.has(request.tool) && request.path.length < 2) return true;
    return (
      ask?.(request, others) ?? {
        approved: false,
        reason: "it needs an approval, and /approve does not name it",
      }
    );
  };
}

async function tell(
  end: PrintedEnd,
  answer: AnswerWriter | undefined,
  { output, verbose }: { readonly output: Output; readonly verbose: boolean },
): Promise<ExitCode> {
  const type = end.outcome?.type;
  if (answer !== undefined && type === "answered") {
    answer.finish(end.text ?? "");
    return exitCodes.answered;
  }
  if (output.isTerminal && type === "cancelled") {
    output.progress(`${output.style("yellow", "Stopped.")} The conversation so far is kept.\n`);
    return exitCodes.interrupted;
  }
  return printEnd(end, { output, format: "text", verbose });
}

/** Shows the answer on a terminal while it is written. */
interface AnswerWriter {
  readonly take: (event: AgentEvent) => void;
  /** Shows the answer, unless it was shown while it was written. */
  readonly finish: (answer: string) => void;
  /** The output for everything else: it begins on a line of its own. */
  readonly beside: Output;
}

/** Undefined if nobody watches the answer on a terminal: it is then printed once it is whole. */
function answerWriter(output: Output): AnswerWriter | undefined {
  if (!output.answersTerminal) return undefined;
  const writer: MarkdownWriter = markdownWriter({
    write: (text) => void output.answer(text),
    style: output.styleAnswer,
    columns: () => process.stdout.columns || 80, // some terminals say 0
    isStyled: output.styleAnswer("bold", "x") !== "x",
  });
  let shown = "";
  return {
    take(event) {
      if (event.parentRunId !== undefined) return;
      if (event.type === "message-start") shown = "";
      const isCall = event.type === "call-decided" || event.type === "tool-start";
      if (event.type === "message-end" || (isCall && !writer.isAtLineStart())) writer.end();
      if (event.type !== "text-delta") return;
      shown += event.text;
      writer.push(event.text);
    },
    finish(answer) {
      if (shown.trim() !== answer.trim()) writer.push(answer);
      writer.end();
    },
    beside: {
      ...output,
      progress(text) {
        if (!writer.isAtLineStart()) writer.end();
        output.progress(text);
      },
    },
  };
}
