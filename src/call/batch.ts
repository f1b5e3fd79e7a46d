import type { ToolResult } from "../message/message.ts";
import type { Ledger, Limits } from "../policy/budget.ts";
import { countSuccess } from "../policy/constraints.ts";
import type { Mode } from "../tool/tool.ts";
import type { Batch } from "./call.ts";
import type { ExecuteOptions } from "../run/context.ts";
import type { CallRecord } from "./run.ts";
import { type BatchEnd, planBatch } from "./plan-batch.ts";
import { type Planned, runCalls } from "./run-calls.ts";
import type { Inside } from "../run/scope.ts";

/** What the calls of a batch left behind beside their results. */
interface Left extends Pick<BatchEnd, "fatal"> {
  /** How successful calls change the rest of the run. */
  readonly modes: readonly Mode[];
  /** What runs inside the calls spent. */
  readonly inside: readonly Inside[];
  /** The failures that end no run, by their place: the author's recovery chose to tell the model. */
  readonly escalated: ReadonlySet<number>;
  /** When the last call ended, in milliseconds since 1970; 0 when none ran. */
  readonly endedAt: number;
}

/** How a batch ended: one result for each call, in the order of the calls. */
export interface Executed extends BatchEnd, Left {
  readonly results: readonly ToolResult[];
  readonly ledger: Ledger;
  readonly limits: Limits;
}

/**
 * Carries out the calls of one reply: decides about each in order, then runs those that may run beside each other, and gives one result
 * for each call. Facts come in the order of the calls, whichever tool is faster.
 */
export async function execute(batch: Batch, options: ExecuteOptions): Promise<Executed> {
  const { planned, ...end } = await planBatch(batch, options);
  options.scope.purse.change(end);
  if (options.tell !== undefined) for (const entry of planned) tellStart(batch.turn, entry, options.tell);
  const records = await runCalls({ ...batch, planned }, options);
  const left = collect(planned, records);
  const results = records.map(({ result }) => result);
  const ledger = afterCalls(end.ledger, batch, results);
  return { ...end, ...left, ledger, fatal: end.fatal ?? left.fatal, results };
}

/** The ledger with the successes that constraints of other tools wait for. */
function afterCalls(ledger: Ledger, { gate, calls }: Batch, results: readonly ToolResult[]): Ledger {
  const { counted } = gate.allowed;
  if (counted === undefined) return ledger;
  const succeeded = calls.filter(({ name }, index) => counted.has(name) && results[index]?.status === "ok");
  return { ...ledger, uses: succeeded.reduce((uses, { name }) => countSuccess(uses, name), ledger.uses) };
}

/** Knowledge is told when it was read; what does not run has no start. */
function tellStart(
  turn: number,
  { call, prepared, result }: Planned,
  tell: NonNullable<ExecuteOptions["tell"]>,
): void {
  const runs = result === undefined && prepared !== undefined && prepared.type !== "refused";
  if (!runs || prepared.tool.kind === "knowledge") return;
  tell({ type: "tool-start", turn, callId: call.id, name: call.name, arguments: call.arguments });
}

function collect(planned: readonly Planned[], records: readonly CallRecord[]): Left {
  const modes: Mode[] = [];
  const inside: Inside[] = [];
  const escalated = new Set<number>();
  let fatal: Left["fatal"];
  let endedAt = 0;
  records.forEach((record, index) => {
    const { call, prepared, inside: before } = planned[index] as Planned;
    if (before !== undefined) inside.push(before);
    if (record.inside !== undefined) inside.push(record.inside);
    if (record.escalated === true) escalated.add(index);
    if (record.fatal !== undefined) fatal ??= { call, fatal: record.fatal };
    endedAt = Math.max(endedAt, record.endedAt);
    const mode = record.result.status === "ok" ? modeOf(prepared) : undefined;
    if (mode !== undefined) modes.push(mode);
  });
  return { modes, inside, escalated, fatal, endedAt };
}

function modeOf(prepared: Planned["prepared"]): Mode | undefined {
  return prepared === undefined || prepared.type === "refused"
    ? undefined
    : prepared.tool.mode?.(prepared.args);
}
