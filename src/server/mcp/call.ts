import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RunEnd, WaitingQuestion } from "../../durable/run-store.ts";
import { isWritError, WritError } from "../../error/writ-error.ts";
import type { AgentEvent } from "../../event/event.ts";
import type { ToolResult } from "../../message/message.ts";
import { isJsonObject, type JsonObject } from "../../util/json.ts";
import type { Caller } from "../callers.ts";
import type { RunsAround } from "../route.ts";
import { runEvents } from "../run-events.ts";
import type { OfferedRun } from "./offer.ts";
import type { McpOffer } from "./options.ts";
import { type Progress, type Pulse, pulseOf } from "./pulse.ts";
import { answerIn, formName, isForPeople, mayAnswer } from "./questions.ts";
import { toldOutcome } from "../told-failures.ts";
import { callResult, failure, runResult } from "./result.ts";

/** The parts of a server that all calls share. */
export interface McpAround extends RunsAround {
  readonly approvals: NonNullable<McpOffer["approvals"]>;
  /** Aborted when the server is about to end. */
  readonly leaving: AbortSignal;
}

/** A call of a client, as far as it has come. */
export interface Calling {
  readonly caller: Caller;
  readonly args: JsonObject;
  /** The place at which an earlier round of the same call stopped to ask. */
  readonly place?: Place | undefined;
  /** The answers of the person at the client, by {@link formName}. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** True if the client can ask a person. */
  readonly canAsk: boolean;
  /**
   * Asks the person at a client that can be asked during its request, and returns the answers by {@link formName}. Left out, a round ends with the questions.
   */
  readonly elicit?: ((questions: readonly WaitingQuestion[]) => Promise<Calling["answers"]>) | undefined;
  /** The call may become a task, whose end the client fetches: at once, or if it takes long. Default: the client waits. */
  readonly task?: "at-once" | "if-long" | undefined;
  readonly signal: AbortSignal;
  /** Tells the client how far the call is. Left out if it does not want to be told. */
  readonly progress?: ((told: Progress) => void) | undefined;
}

/** The run of a call, and the last of its facts that the client was told. */
export interface Place {
  readonly run: string;
  readonly seq: number;
}

/** The end of a round: the result, questions for the person at the client, or the id of a run that goes on as a task. */
export type Round =
  | { readonly task: string }
  | { readonly result: CallToolResult; readonly value?: ToolResult | undefined }
  | { readonly ask: readonly WaitingQuestion[]; readonly place: Place };

/**
 * Carries out a call as a run of the caller. Its input is untrusted, because a client's model wrote it. Returns when the run has ended, waits for the person at
 * the client, or waits for somebody else. A client that takes the call back ends the run.
 *
 * @throws WritError `input-invalid`, `run-missing` for a place that is not the caller's, and the errors of the store
 */
export async function carryOut(offered: OfferedRun, calling: Calling, around: McpAround): Promise<Round> {
  const { caller, args, signal } = calling;
  const { runs, served } = around;
  const id = caller.prefix + (calling.place?.run ?? `mcp-${served.host.randomId()}`);
  const alone = offered.isCall ? { tools: [offered.name] } : {};
  if (calling.place === undefined)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `start` holds it against what the agent takes
    await runs.start(offered.runner, offered.inputOf(args) as never, { id, intent: "", ...alone });
  else if ((await runs.show(id))?.agent !== offered.runner.name) throw new WritError("run-missing", { id });
  const stop = (): void => {
    if (!around.leaving.aborted) runs.cancel(id, "the client took the call back").catch(() => undefined); // the run ends by its own bounds
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop(); // aborted while the run was begun
  try {
    return await patiently(id, { offered, calling }, around);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The time after which a call becomes a task, for a client that can fetch its end. */
const patienceMs = 1_000;

async function patiently(id: string, following: Following, around: McpAround): Promise<Round> {
  const { offered, calling } = following;
  if (calling.task === "at-once") return { task: id };
  if (calling.task === undefined) return followCall(id, following, around);
  const impatient = new AbortController();
  const stopTimer = around.served.host.timer(patienceMs, () => impatient.abort());
  const signal = AbortSignal.any([calling.signal, impatient.signal]);
  try {
    return await followCall(id, { offered, calling: { ...calling, signal } }, around);
  } catch (error) {
    if (!impatient.signal.aborted || calling.signal.aborted || around.leaving.aborted) throw error;
    return { task: id };
  } finally {
    stopTimer();
  }
}

/** A call, with the tool that it calls. */
export interface Following {
  readonly offered: OfferedRun;
  readonly calling: Calling;
}

/** Follows the run of a call as {@link carryOut} does, but the run goes on if the client takes the call back. @throws WritError `run-missing` */
export async function followCall(
  id: string,
  { offered, calling }: Following,
  around: McpAround,
): Promise<Round> {
  const { signal, place, progress } = calling;
  const { runs, served, leaving } = around;
  using pulse = pulseOf(progress, served.host);
  const steps = new Steps(offered.isCall, place?.seq ?? 0, pulse);
  await answerAll(id, calling, around);
  const told = AbortSignal.any([signal, leaving]);
  for (;;) {
    let known = 0;
    for await (const event of runEvents(id, served, { after: 0, signal: told, untilItWaits: true })) {
      known = Math.max(known, event.seq);
      steps.take(event);
    }
    const end = (await runs.show(id))?.end;
    if (end !== undefined) return endedRound(id, { end, steps, caller: calling.caller }, around);
    const asked = await askedNow(id, { calling, seq: steps.seq }, around);
    if (asked === "waits") await newsOf(runEvents(id, served, { after: known, signal: told }));
    else if (asked !== undefined && "ask" in asked && calling.elicit !== undefined)
      await answerAll(id, { ...calling, ...asked, answers: await calling.elicit(asked.ask) }, around);
    else if (asked !== undefined) return asked;
  }
}

/** Waits until there is an event. */
async function newsOf(events: AsyncGenerator<AgentEvent, void>): Promise<void> {
  await events.next();
  await events.return();
}

/**
 * Returns what a call does about the open questions of its run: it asks the person at the client, or says that it waits for somebody else. If approvals
 * are refused and the client cannot ask, it answers no, or cancels a run that only others may approve. Undefined if the run goes on, and "waits" if
 * it goes on by itself: its tools wait for a time or a signal.
 */
export async function askedNow(
  id: string,
  { calling, seq }: { readonly calling: Calling; readonly seq: number },
  { runs, approvals }: McpAround,
): Promise<Round | "waits" | undefined> {
  const { caller } = calling;
  const open = await runs.waiting(id);
  if (open.length === 0) return undefined; // it was answered meanwhile
  const own = open.filter((question) => mayAnswer(question, caller));
  const run = id.slice(caller.prefix.length);
  if (approvals !== "elsewhere" && calling.canAsk && own.length > 0) return { ask: own, place: { run, seq } };
  const asksPeople = open.some(isForPeople);
  if (approvals !== "refuse" && calling.task === undefined) return { result: waiting(run, open) };
  if (!asksPeople) return "waits";
  if (approvals !== "refuse") return { task: id };
  if (own.length === 0) await runs.cancel(id, "it needs an approval of somebody else");
  for (const { key, request } of own)
    await runs.answer(id, key, { hash: request.hash, approved: false, by: caller.name, reason: cannotAsk });
  return undefined;
}

interface Ended {
  readonly end: RunEnd;
  readonly steps: Steps;
  readonly caller: Caller;
}

/** The end as a client gets it. Events lack the data of files, so files are read from the records. */
async function endedRound(
  id: string,
  { end, steps: { result: value, hasFiles }, caller }: Ended,
  { runs }: McpAround,
): Promise<Round> {
  const whole = hasFiles ? await runs.replay(id) : undefined;
  if (value === undefined) {
    const outcome = toldOutcome(end.outcome, caller);
    return { result: runResult({ ...end, outcome }, whole?.files) };
  }
  const kept = whole?.transcript.messages.findLast((message) => message.role === "tool");
  return { result: callResult({ ...value, ...(kept?.files && { files: kept.files }) }), value };
}

const cannotAsk = "it needs an approval, and the client cannot ask anybody (it has no elicitation)";

/** Gives the answers that came with this round, if the client may be asked. An answer that somebody else gave meanwhile stands. */
export async function answerAll(
  id: string,
  { caller, answers, place }: Pick<Calling, "caller" | "answers" | "place">,
  { runs, approvals }: McpAround,
): Promise<void> {
  if (place === undefined || approvals === "elsewhere") return;
  for (const question of await runs.waiting(id)) {
    const given = answers[formName(question)];
    if (given === undefined || !mayAnswer(question, caller)) continue;
    try {
      await runs.answer(id, question.key, answerIn(given, question, caller.name));
    } catch (error) {
      if (!isWritError(error, "question-answered") && !isWritError(error, "question-unknown")) throw error;
    }
  }
}

function waiting(run: string, open: readonly WaitingQuestion[]): CallToolResult {
  const people = open.filter(isForPeople);
  const what = (people.length > 0 ? people : open)
    .map(({ request: { tool, reason } }) => `${tool} (${reason})`)
    .join(", ");
  const until = people.length > 0 ? `until somebody else has approved ${what}` : `in ${what}`;
  return failure(
    `It is not done: the run ${run} waits ${until}. Do not call again; ` +
      `\`run_result\` with { "run": ${JSON.stringify(run)} } tells how it went on.`,
  );
}

/** Makes the notifications for a client from the events of a run. */
class Steps {
  /** The result of a single call. */
  result: ToolResult | undefined;
  /** The last fact that was told. */
  seq: number;
  /** True if the result, or a reply, has files. */
  hasFiles = false;
  private readonly isCall: boolean;
  private readonly pulse: Pulse | undefined;
  /** The last progress of a call that was told. */
  private done: number | undefined;

  constructor(isCall: boolean, seq: number, pulse: Pulse | undefined) {
    this.isCall = isCall;
    this.seq = seq;
    this.pulse = pulse;
  }

  take(event: AgentEvent): void {
    if (event.parentRunId !== undefined) return;
    if (this.isCall) return this.takeOfCall(event);
    if (event.type === "message-end")
      this.hasFiles = event.message?.parts.some(({ type }) => type === "file") ?? false;
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    const message =
      event.type === "turn-start" ? `turn ${event.turn}` : event.type === "tool-start" ? event.name : "";
    if (message !== "") this.pulse?.tell({ progress: event.seq, message });
  }

  private takeOfCall(event: AgentEvent): void {
    if (event.type === "tool-end" || event.type === "knowledge-used") {
      this.result = event.result;
      this.hasFiles = (event.result.files ?? []).length > 0;
    }
    if (event.type !== "tool-progress") return;
    const told = isJsonObject(event.value) ? event.value : { message: JSON.stringify(event.value) };
    const { progress, total, message } = told;
    this.done = this.pulse?.tell({
      progress: typeof progress === "number" ? progress : (this.done ?? 0) + 1,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
  }
}
