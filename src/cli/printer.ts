import type { AgentEvent } from "../event/event.ts";
import { liveCalls } from "./live-calls.ts";
import { countText, durationText, oneLine, type Output } from "./output.ts";
import { fitted } from "./screen.ts";

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

export interface PrinterOptions {
  readonly agent: string;
  /** The name of the model, like `ollama/qwen2.5:7b`; left out if it is unknown. */
  readonly model?: string;
  /** Shows arguments and results whole. */
  readonly verbose: boolean;
  /** Prints only calls and errors. */
  readonly isBrief?: boolean;
  readonly output: Output;
}

interface Calls {
  /** A number for the call, in the order of the run: the lines of its start and of its end have it. */
  number(callId: string): number;
  readonly count: number;
}

const longestVerbose = 20_000;

/** Events that a conversation does not print. */
const notInBrief: ReadonlySet<AgentEvent["type"]> = new Set([
  "message-start",
  "message-end",
  "usage-add",
  "run-end",
]);

/** Prints a run while it goes on. */
export interface Printer {
  readonly tell: (event: AgentEvent) => void;
  /** Keeps the end of the terminal free while a person is asked there. */
  readonly whileAsking: <Answer>(ask: () => Answer | Promise<Answer>) => Promise<Answer>;
  /** Leaves the printed text as it is. */
  readonly close: () => void;
}

/**
 * Prints a run to the progress, event by event: the model that answers and the driver, each call with its arguments, the reason why it did not
 * run, its result and its time, and the end of the run. On a terminal, the calls that have not ended are listed below, each on a line with its
 * state.
 */
export function printer({ agent, model, verbose, isBrief = false, output }: PrinterOptions): Printer {
  const subject = `${agent}${model === undefined ? "" : ` with ${oneLine(model)}`}`;
  const longest = verbose ? longestVerbose : 200;
  const { screen } = output;
  const live = screen === undefined ? undefined : liveCalls(screen, output);
  const runs = new Map<string, Telling>();
  function tellingOf({ runId, parentRunId, agent }: AgentEvent): Telling {
    let telling = runs.get(runId);
    if (telling === undefined) {
      const outer = parentRunId === undefined ? undefined : runs.get(parentRunId);
      const name = outer === undefined ? subject : oneLine(agent);
      const indent = outer === undefined ? "" : `${outer.indent}  `;
      const isLive = live !== undefined;
      telling = { subject: name, indent, isLive, calls: numberCalls(), output, longest, modelMs: 0 };
      runs.set(runId, telling);
    }
    return telling;
  }
  return {
    tell(event) {
      const telling = tellingOf(event);
      telling.startedAt ??= event.at;
      const line = isBrief && notInBrief.has(event.type) ? undefined : lineOf(event, telling);
      const isNamed = event.type === "call-decided" || event.type === "tool-start";
      live?.take(event, isNamed ? callText(event, telling) : "", telling.indent);
      if (line !== undefined) output.progress(fitted(`${telling.indent}${line}\n`, screen));
    },
    async whileAsking(ask) {
      live?.block.hide();
      try {
        return await ask();
      } finally {
        live?.block.show();
      }
    },
    close: () => live?.block.clear(),
  };
}

/** The state of printing a run. */
interface Telling {
  /** The agent and its model. */
  readonly subject: string;
  /** The indentation: runs inside a run are indented more. */
  readonly indent: string;
  /** True if calls that have not ended are shown elsewhere. */
  readonly isLive: boolean;
  readonly calls: Calls;
  readonly output: Output;
  readonly longest: number;
  driver?: string;
  /** The time of the last reply. */
  modelMs: number;
  /** The beginning of the run, in milliseconds since 1970. */
  startedAt?: number;
}

/** The line of each event that is printed; people do not wait for the others. */
const tellers: {
  readonly [Type in AgentEvent["type"]]?: (event: EventOf<Type>, telling: Telling) => string | undefined;
} = {
  "message-start": driverLine,
  "message-end": (event, telling) => {
    telling.modelMs = event.durationMs;
    const { output, longest } = telling;
    const mended = (event.repairs ?? []).map((repair) =>
      output.style("dim", `  mended: ${oneLine(repair, longest)}`),
    );
    const lines = [driverLine(event, telling) ?? [], mended].flat();
    return lines.length === 0 ? undefined : lines.join("\n");
  },
  "usage-add": ({ turn, usage }, { modelMs, output }) =>
    output.style("dim", `  turn ${turn}: ${durationText(modelMs)}, ${tokensText(usage)}`),
  "call-decided": (event, telling) =>
    event.decision.verdict === "deny" ? refused(event, telling) : undefined,
  "approval-request": (event, telling) =>
    callLine("?", `${callText(event, telling)}  needs an approval`, telling),
  "approval-answer": ({ callId, approved, reason = "a person said no" }, telling) => {
    const number = telling.calls.number(callId);
    if (approved) return callLine("✓", `${number} approved`, telling);
    return callLine("✗", `${number} denied: ${oneLine(reason, telling.longest)}`, telling);
  },
  "capability-checked": ({ callId, resource, granted, reason = "" }, telling) =>
    granted
      ? undefined
      : callLine(
          "✗",
          `${telling.calls.number(callId)} ${oneLine(resource, telling.longest)} not granted: ${oneLine(reason, telling.longest)}`,
          telling,
        ),
  "tool-start": (event, telling) =>
    telling.isLive ? undefined : callLine("→", callText(event, telling), telling),
  "tool-end": ended,
  "knowledge-used": ({ callId, name, result }, telling) => {
    const call = `${telling.calls.number(callId)} ${name}`;
    if (result.status === "denied" || result.status === "invalid") return undefined;
    if (result.status !== "ok")
      return callLine("✗", `${call} ${result.status}: ${oneLine(result.text, telling.longest)}`, telling);
    return callLine("✓", `${call} read, ${countText(result.text.length, "character")}`, telling);
  },
  "skill-chosen": ({ skill, by, confidence }, { output, longest }) => {
    if (by !== "model") return undefined;
    const sure = confidence === undefined ? "" : `, the model is ${confidence} sure`;
    return output.style("dim", `  skill ${oneLine(skill, longest)}${sure}`);
  },
  "compaction-end": ({ droppedTurns, tokensBefore, tokensAfter }, { output }) =>
    output.style(
      "dim",
      `  left out ${countText(droppedTurns, "old turn")}: about ${tokensBefore} tokens became ${tokensAfter}`,
    ),
  "budget-threshold": ({ field, used, limit }, { output }) =>
    output.style("dim", `  budget: ${used} of ${limit} ${field}`),
  "budget-extended": ({ field, from, to }, { output }) =>
    output.style("yellow", `  budget: ${field} raised from ${from} to ${to}`),
  "retry-start": ({ reason, delayMs = 0 }, { output, longest }) =>
    output.style(
      "yellow",
      `  asked again${delayMs === 0 ? "" : ` in ${delayMs} ms`}: ${oneLine(reason, longest)}`,
    ),
  "run-end": endLine,
};

function lineOf<Type extends AgentEvent["type"]>(event: EventOf<Type>, telling: Telling): string | undefined {
  return tellers[event.type]?.(event, telling);
}

/** The line with the model that answers and its driver: once, and again if the driver changes. */
function driverLine(
  { driver }: EventOf<"message-start" | "message-end">,
  telling: Telling,
): string | undefined {
  if (driver === telling.driver) return undefined;
  telling.driver = driver;
  return telling.output.style("bold", `${telling.subject}, driver ${driver}`);
}

/** A call that was refused before it ran: its arguments, the rule that refused it, and the change that would have allowed it. */
function refused(event: EventOf<"call-decided">, telling: Telling): string {
  const { rule, reason, remedy } = event.decision;
  const { longest } = telling;
  const call = callText(event, telling);
  if (rule === "arguments")
    return callLine("✗", `${call}  wrong arguments: ${oneLine(reason, longest)}`, telling);
  // A change that does not fit says nothing once it is cut.
  const advice =
    remedy === undefined || remedy.length > longest ? "" : `; to allow it: ${oneLine(remedy, longest)}`;
  return callLine("✗", `${call}  denied (${rule}): ${oneLine(reason, longest)}${advice}`, telling);
}

/** The result of a call that ran. A call that did not run was printed when that was decided, except when it was skipped. */
function ended(event: EventOf<"tool-end">, telling: Telling): string | undefined {
  const { callId, name, result, durationMs } = event;
  const { calls, output, longest, isLive } = telling;
  if (result.status === "denied" || result.status === "invalid") return undefined;
  // The line of a beginning above has the arguments already.
  const call = isLive ? callText(event, telling) : `${calls.number(callId)} ${name}`;
  const time = output.style("dim", `  ${durationText(durationMs)}`);
  if (result.status === "ok")
    return `${callLine("✓", `${call} = ${oneLine(result.text, longest)}`, telling)}${time}`;
  const ran = result.status === "skipped" ? "" : time;
  return `${callLine("✗", `${call} ${result.status}: ${oneLine(result.text, longest)}`, telling)}${ran}`;
}

function endLine(
  { outcome, usage, at }: EventOf<"run-end">,
  { calls, output, startedAt = at }: Telling,
): string {
  const facts = [countText(calls.count, "call"), durationText(at - startedAt), tokensText(usage)].join(", ");
  const style = outcome.type === "answered" ? "green" : "red";
  return `${output.style(style, outcome.type)} ${output.style("dim", `after ${facts}`)}`;
}

const signs = { "→": "cyan", "✓": "green", "✗": "red", "?": "yellow" } as const;

function callLine(sign: keyof typeof signs, text: string, { output }: Telling): string {
  return `${output.style(signs[sign], sign)} ${text}`;
}

function callText(
  event: EventOf<"call-decided" | "approval-request" | "tool-start" | "tool-end">,
  { calls, longest }: Telling,
): string {
  const { callId, name } = event;
  const sent = typeof event.arguments === "string" ? event.arguments : JSON.stringify(event.arguments);
  return `${calls.number(callId)} ${name} ${oneLine(sent, longest)}`;
}

function tokensText({ inputTokens, outputTokens, estimated }: EventOf<"run-end">["usage"]): string {
  return `${estimated === true ? "about " : ""}${inputTokens} tokens in, ${outputTokens} out`;
}

function numberCalls(): Calls {
  const numbers = new Map<string, number>();
  return {
    number(callId) {
      const number = numbers.get(callId) ?? numbers.size + 1;
      numbers.set(callId, number);
      return number;
    },
    get count() {
      return numbers.size;
    },
  };
}
