import type { Fact } from "../event/event.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { type Excess, type Ledger, type Limits, reserveCall } from "../policy/budget.ts";
import type { CallRequest } from "../policy/decision.ts";
import type { Approval, Approve, ExecuteOptions } from "./options.ts";
import { type Prepared, prepare, type Runnable } from "./prepare.ts";
import { untilStopped } from "../util/interrupt.ts";
import { cancelledResult } from "./perform.ts";
import { type EarlyCall, type Planned, runCalls } from "./run-calls.ts";

/** The calls of one turn. `early` are those that were already started while the model wrote, by id. */
export interface Batch {
  readonly turn: number;
  readonly calls: readonly ToolCall[];
  readonly ledger: Ledger;
  readonly early?: ReadonlyMap<string, EarlyCall>;
}

/** How a batch ended: one result for each call, in the order of the calls. */
export interface Executed {
  readonly results: readonly ToolResult[];
  readonly ledger: Ledger;
  /** The bound that forbade a call of the batch. */
  readonly excess?: Excess;
  /** The call of an unknown tool that stopped the batch. */
  readonly unknown?: ToolCall;
  /** When the last call ended, in milliseconds since 1970; 0 when none ran. */
  readonly endedAt: number;
}

/**
 * Carries out the calls of one reply: decides about each in order, then runs those that may run beside each other, and gives one result
 * for each call. Facts come in the order of the calls, whichever tool is faster.
 */
export async function execute(batch: Batch, options: ExecuteOptions): Promise<Executed> {
  const { turn } = batch;
  const { tell } = options;
  const plan = await planCalls(batch, options);
  const planned: Planned[] = [];
  for (const entry of plan.planned) {
    if (entry.prepared !== undefined) tell?.(decidedFact(turn, entry.prepared));
    const { prepared } = entry;
    planned.push(
      prepared?.type === "ask" ? await askFor({ turn, index: planned.length, prepared }, options) : entry,
    );
  }
  for (const { call, result } of planned) {
    if (result === undefined)
      tell?.({ type: "tool-start", turn, callId: call.id, name: call.name, arguments: call.arguments });
  }
  const records = await runCalls({ turn, planned, early: batch.early }, options);
  const endedAt = records.reduce((last, record) => Math.max(last, record.endedAt), 0);
  return { ...plan.end, results: records.map((record) => record.result), endedAt };
}

interface Plan {
  readonly planned: readonly Planned[];
  readonly end: Pick<Executed, "ledger" | "excess" | "unknown">;
}

/** Reserves and decides, call by call; after a bound or an unknown tool that ends the run, the rest is skipped. */
async function planCalls(batch: Batch, options: ExecuteOptions): Promise<Plan> {
  const planned: Planned[] = [];
  let { ledger } = batch;
  for (const call of batch.calls) {
    const reservation = reserveCall(ledger, options.limits, measure(call, options.limits));
    if (!reservation.ok)
      return {
        planned: skipRest(planned, batch, reservation.excess.message),
        end: { ledger, excess: reservation.excess },
      };
    ({ ledger } = reservation);
    const early = call.malformed === undefined ? batch.early?.get(call.id) : undefined;
    const decided = early?.prepared ?? prepare(call, batch.turn, options.gate);
    const prepared = decided instanceof Promise ? await untilStopped(decided, options.stop) : decided;
    if (prepared === "stopped") {
      planned.push({ call, result: cancelledResult(call.name) });
      continue;
    }
    planned.push(
      prepared.type === "refused" ? { call, prepared, result: prepared.result } : { call, prepared },
    );
    if (prepared.type === "refused" && prepared.unknownTool === true && options.onUnknownTool === "throw") {
      return {
        planned: skipRest(planned, batch, "an earlier call stopped the batch"),
        end: { ledger, unknown: call },
      };
    }
  }
  return { planned, end: { ledger } };
}

/** What a call is reserved by. The size of its arguments is only taken when it is bounded. */
export function measure(call: ToolCall, limits: Limits): { tool: string; argumentBytes: number } {
  if (limits.argumentBytes === Infinity) return { tool: call.name, argumentBytes: 0 };
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  return { tool: call.name, argumentBytes: new TextEncoder().encode(text).length };
}

function skipRest(planned: readonly Planned[], batch: Batch, reason: string): Planned[] {
  const text = `Not run: ${reason}.`;
  return [
    ...planned,
    ...batch.calls
      .slice(planned.length)
      .map((call): Planned => ({ call, result: { status: "skipped", text } })),
  ];
}

function decidedFact(turn: number, { call, decision, ...rest }: Prepared): Fact {
  const coerced = "coerced" in rest && rest.coerced !== undefined ? { coerced: rest.coerced } : {};
  return {
    type: "call-decided",
    turn,
    callId: call.id,
    name: call.name,
    arguments: call.arguments,
    decision,
    ...coerced,
  };
}

/** Asks a person. Nobody to ask means no; when the run is stopped meanwhile, the call is cancelled. */
async function askFor(asking: Asking, options: ExecuteOptions): Promise<Planned> {
  const { turn, index, prepared } = asking;
  const { call, tool, request } = prepared;
  const { id: callId, name } = call;
  options.tell?.({ type: "approval-request", turn, callId, name, arguments: request.arguments });
  const step = {
    key: `turn/${turn}/approval/${index}`,
    fingerprint: () => `${name} ${JSON.stringify(call.arguments)}`,
    run: () => answerOf(request, options.approve),
  };
  const answer = await untilStopped(options.journal.step(step), options.stop);
  if (answer === "stopped") {
    options.tell?.({ type: "approval-answer", turn, callId, approved: false, reason: "the run was stopped" });
    return { call, prepared, result: cancelledResult(name) };
  }
  options.tell?.({ type: "approval-answer", turn, callId, ...answer });
  if (answer.approved) return { call, prepared };
  const text = `Tool '${tool.name}' was denied: ${answer.reason ?? "a person said no"}`;
  return { call, prepared, result: { status: "denied", text } };
}

interface Asking {
  readonly turn: number;
  readonly index: number;
  readonly prepared: Runnable;
}

async function answerOf(request: CallRequest, approve: Approve | undefined): Promise<Approval> {
  if (approve === undefined)
    return { approved: false, reason: "it needs an approval, and there is nobody to ask" };
  try {
    const answer = await approve(request);
    if (typeof answer === "boolean") return { approved: answer };
    return {
      approved: isYes(answer.approved),
      ...(answer.reason === undefined ? {} : { reason: answer.reason }),
    };
  } catch (error) {
    return {
      approved: false,
      reason: `asking failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Plain JavaScript can answer with anything; only `true` is a yes. */
function isYes(answer: unknown): boolean {
  return answer === true;
}
