import { openCall } from "../run/around.ts";
import type { Inside } from "../run/inside.ts";
import { openCallScope } from "../run/scope.ts";
import { joinLearned } from "../policy/knowledge/learned.ts";
import { assertNever } from "../util/assert-never.ts";
import { untilStopped } from "../util/interrupt.ts";
import type { Call, Refused } from "./call.ts";
import { cancelled } from "./refused.ts";
import { withArguments } from "./readable-call.ts";
import { isHeard } from "./standing-call.ts";
import { fingerprintOf } from "./step.ts";
import { repairArguments, type RepairedArguments } from "./recovery.ts";

/** A call whose arguments are wrong. */
export type Wrong = Refused & Required<Pick<Refused, "wrong">>;

/** Tells whether the author says what to do about wrong arguments of this call. */
export function isMendable(refused: Refused, call: Call): refused is Wrong {
  if (refused.wrong === undefined) return false;
  return isHeard(call, () => keyOf(call), refused.wrong.tool.recover?.invalidArguments !== undefined);
}

const keyOf = ({ key }: Call): string => `${key}/repair`;

/** A call after its mending: it is no better than what was read for that. */
export interface Mended {
  readonly call: Call;
  /** The end of a call that could not be mended. Undefined for one with other arguments, which is judged like any other. */
  readonly fate?: Refused;
  /** The runs inside its mending. */
  readonly inside?: Inside;
}

/** Has wrong arguments mended, as one step of the journal. */
export async function mend(at: Call, wrong: Wrong): Promise<Mended> {
  const { run } = at.batch;
  const { call } = wrong;
  const key = keyOf(at);
  const step = { key, fingerprint: () => fingerprintOf(call), run: () => askAuthor(at, wrong, key) };
  const record = await untilStopped(run.journal.step(step), run.stop);
  if (record === "stopped") return { call: at, fate: cancelled(call) };
  const { repaired, inside } = record;
  const read = inside === undefined ? at : { ...at, learned: joinLearned(at.learned, inside.label) };
  if (repaired.type !== "repaired") return { call: read, fate: unmended(repaired, wrong), inside };
  return { call: { ...read, proposed: withArguments(call, repaired.arguments) }, inside };
}

function unmended(
  repaired: Exclude<RepairedArguments, { readonly type: "repaired" }>,
  wrong: Wrong,
): Refused {
  switch (repaired.type) {
    case "unhandled":
      return wrong;
    case "escalated":
      return { ...wrong, result: repaired.result, escalated: true };
    case "failed":
      return { ...wrong, result: repaired.result, fatal: repaired.fatal };
    default:
      return assertNever(repaired);
  }
}

interface MendRecord {
  readonly repaired: RepairedArguments;
  readonly inside?: Inside;
}

async function askAuthor({ batch, learned }: Call, { call, wrong }: Wrong, key: string): Promise<MendRecord> {
  const { run, gate } = batch;
  const { recover: recovery } = wrong.tool;
  if (recovery === undefined) return { repaired: { type: "unhandled" } };
  const around = openCall(gate.intent, run.scope, () => learned.label);
  const scope = openCallScope({ callId: call.id, key, ...batch, around }, run);
  const repaired = await repairArguments({
    call,
    tool: wrong.tool,
    recovery,
    stopped: () => run.stop.reason !== undefined,
    context: { signal: run.stop.signal, parent: scope.run },
    onThrow: (error) => run.onThrow(call.id, error),
  });
  const inside = await scope.close();
  return inside === undefined ? { repaired } : { repaired, inside };
}
