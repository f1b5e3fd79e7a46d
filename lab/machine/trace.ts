/** Finds the calls of the runs of one schedule in its happenings: the machine must know them before anything happens. */
import type { AgentEvent } from "../../src/event/event.ts";
import type { Outcome } from "../../src/event/outcome.ts";
import type { Happening } from "../../src/eval/simulate/happening.ts";
import type { SimulatedRun } from "../../src/eval/simulate/simulated-run.ts";
import { callsOf, type Message } from "../../src/message/message.ts";
import { mayRunAgain } from "../../src/tool/after-crash.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { often, verdicts } from "./table.ts";

/** A call of a run. */
export interface TracedCall {
  readonly id: string;
  /** Its key in the journal of the outermost run. */
  readonly key: string;
  readonly tool: string;
  verdict: number;
  readonly often: number;
}

/** A run, or one inside a call of it: each has a machine of its own, and inner runs have the owner of the outermost one. */
export interface TracedRun {
  readonly runId: string;
  readonly calls: TracedCall[];
  outcome: Outcome | undefined;
  /** The transcript; empty for a run inside another one. */
  readonly messages: readonly Message[];
}

/** The tools of the agents of a schedule, and those that the simulator stands in for. */
export interface TracedTools {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly standIns: ReadonlySet<string>;
}

/** The id of the outermost run. */
export function outermost(runId: string): string {
  return runId.split("/", 1)[0] ?? runId;
}

/** The runs of a schedule that make calls, each with all of its calls that were told. */
export function runsOf(
  happenings: readonly Happening[],
  ended: readonly SimulatedRun[],
  { tools }: TracedTools,
): readonly TracedRun[] {
  const transcripts = new Map(ended.map(({ id, result }) => [id, result?.transcript.messages ?? []]));
  const runs = new Map<string, TracedRun>();
  const keys = new Map<string, string>();
  const runOf = (runId: string): TracedRun => {
    const run = runs.get(runId) ?? {
      runId,
      calls: [],
      outcome: undefined,
      messages: transcripts.get(runId) ?? [],
    };
    runs.set(runId, run);
    return run;
  };
  for (const happening of happenings) {
    if (happening.type !== "tells") continue;
    const { event } = happening;
    if (event.type === "message-end") noteKeys(event, keys);
    else if (event.type === "run-end") runOf(event.runId).outcome = event.outcome;
    else if (event.type === "call-decided" || event.type === "tool-end")
      noteCall(event, runOf(event.runId), { keys, tools });
  }
  return [...runs.values()].filter(({ calls }) => calls.length > 0);
}

type CallEvent = Extract<AgentEvent, { readonly type: "call-decided" | "tool-end" }>;

function noteKeys(
  event: Extract<AgentEvent, { readonly type: "message-end" }>,
  keys: Map<string, string>,
): void {
  const { message, turn, runId } = event;
  const inside = runId.slice(outermost(runId).length + 1);
  const place = `${inside === "" ? "" : `${inside}/`}turn/${turn}`;
  if (message !== undefined)
    callsOf(message).forEach(({ id }, index) => keys.set(`${runId} ${id}`, `${place}/call/${index}`));
}

function noteCall(
  event: CallEvent,
  { runId, calls }: TracedRun,
  { keys, tools }: { readonly keys: ReadonlyMap<string, string>; readonly tools: TracedTools["tools"] },
): void {
  const known = calls.find(({ id }) => id === event.callId);
  if (known !== undefined) return;
  const verdict = event.type === "call-decided" ? verdicts[event.decision.verdict] : verdicts.allow;
  const key = keys.get(`${runId} ${event.callId}`);
  if (key === undefined)
    throw new Error(`${runId} tells of the call ${event.callId}, which stands in no reply`);
  calls.push({ id: event.callId, key, tool: event.name, verdict, often: oftenOf(tools.get(event.name)) });
}

function oftenOf(tool: Tool | undefined): number {
  if (tool === undefined || tool.isAgent === true || mayRunAgain(tool)) return often.again;
  return tool.reconcile === undefined ? often.once : often.lookedUp;
}

/** True when the record of an answer approves. */
export function saysYes(json: string): boolean {
  const { approved } = JSON.parse(json) as { readonly approved?: boolean }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- an answer
  return approved === true;
}

/** The status of the result in the record of a call; empty where it has none. */
export function statusIn(json: string): string {
  const { result } = JSON.parse(json) as { readonly result?: { readonly status?: string } }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the record of a call
  return result?.status ?? "";
}

/** The run that a process takes from a store with this happening; undefined for every other happening. */
export function takenBy(happening: Happening): string | undefined {
  if (happening.type === "stored" && happening.change.type === "taken") return happening.runId;
  return undefined;
}

/** The key of the question about a call. */
export function approvalOf(key: string): string {
  return key.replace(/call\/(\d+)$/, "approval/$1");
}
