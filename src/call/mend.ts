import { untilStopped } from "../util/interrupt.ts";
import { joinLearned } from "../policy/learned.ts";
import { judging, type Planning } from "./call.ts";
import { openCall } from "../run/call-around.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { cancelledResult } from "./run.ts";
import { type Prepared, prepare, type Refused } from "./judge.ts";
import { type RepairedArguments, repairArguments } from "./recovery.ts";
import type { Planned } from "./run-calls.ts";
import { type Inside, openCallScope } from "../run/scope.ts";

/** A call whose arguments are wrong. */
type Wrong = Refused & Required<Pick<Refused, "wrong">>;

/** Tells whether the author says what to do about wrong arguments of this call. */
export function mayMend(
  prepared: Prepared | Promise<Prepared>,
  { recoveryOf }: ExecuteOptions,
): prepared is Wrong {
  return (
    !(prepared instanceof Promise) &&
    prepared.type === "refused" &&
    prepared.wrong !== undefined &&
    recoveryOf(prepared.wrong.tool)?.invalidArguments !== undefined
  );
}

/** The place of a call as it is judged after it was mended: it is no better than what was read for that. */
export function afterRepair(planning: Planning, { inside }: Planned): Planning {
  if (inside === undefined) return planning;
  const { batch } = planning;
  return { ...planning, batch: { ...batch, learned: joinLearned(batch.learned, inside.label) } };
}

/** Has wrong arguments mended, as one step of the journal; what was mended is decided about like any other call. */
export async function repair(planning: Planning, refused: Wrong, options: ExecuteOptions): Promise<Planned> {
  const { batch, index } = planning;
  const { call } = refused;
  const key = `turn/${batch.turn}/call/${index}/repair`;
  const step = {
    key,
    fingerprint: () => `${call.name} ${JSON.stringify(call.arguments)}`,
    run: () => askRepair({ refused, key, planning }, options),
  };
  const record = await untilStopped(options.journal.step(step), options.stop);
  if (record === "stopped") return { call, result: cancelledResult(call.name) };
  const { repaired, inside } = record;
  const spent = inside === undefined ? {} : { inside };
  if (repaired.type === "unhandled") return { call, prepared: refused, result: refused.result, ...spent };
  if (repaired.type !== "repaired") {
    const end = repaired.type === "failed" ? { fatal: repaired.fatal } : { escalated: true };
    return {
      call,
      prepared: { ...refused, result: repaired.result },
      result: repaired.result,
      ...end,
      ...spent,
    };
  }
  const { malformed: _malformed, ...rest } = call;
  const mended = { ...rest, arguments: repaired.arguments };
  const prepared = await prepare(mended, judging(afterRepair(planning, { call, ...spent })));
  return {
    call: mended,
    prepared,
    ...(prepared.type === "refused" ? { result: prepared.result } : {}),
    ...spent,
  };
}

interface Asking {
  readonly refused: Wrong;
  readonly key: string;
  readonly planning: Planning;
}

interface RepairRecord {
  readonly repaired: RepairedArguments;
  readonly inside?: Inside;
}

async function askRepair({ refused, key, planning }: Asking, options: ExecuteOptions): Promise<RepairRecord> {
  const { call, wrong } = refused;
  const recovery = options.recoveryOf(wrong.tool);
  if (recovery === undefined) return { repaired: { type: "unhandled" } };
  const { gate, learned } = planning.batch;
  const around = openCall(gate.intent, () => learned.label);
  const scope = openCallScope({ callId: call.id, key, ...planning.batch, around }, options);
  const repaired = await repairArguments({
    call,
    tool: wrong.tool,
    recovery,
    stopped: () => options.stop.reason !== undefined,
    context: { signal: options.stop.signal, parent: scope.run },
    onThrow: (error) => options.onThrow(call.id, error),
  });
  const inside = await scope.close();
  return inside === undefined ? { repaired } : { repaired, inside };
}
