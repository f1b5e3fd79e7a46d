import { openCall } from "../run/around.ts";
import type { Inside } from "../run/inside.ts";
import { openCallScope } from "../run/scope.ts";
import { joinLearned } from "../policy/knowledge/learned.ts";
import { assertNever } from "../util/assert-never.ts";
import { untilStopped } from "../util/interrupt.ts";
import { type Call, type Fate, withArguments } from "./call.ts";
import { cancelled } from "./refused.ts";
import { isHeard } from "./standing-call.ts";
import { fingerprintOf } from "./step.ts";
import { repairArguments, type RepairedArguments } from "./recovery.ts";

/** Tells whether the author mends wrong arguments of this call. For a call with a record, the record decides, whatever is wrong with them today. */
export function isMendable(checked: Fate, call: Call): boolean {
  const recovery = checked.type === "refused" ? checked.wrong?.tool.recover : undefined;
  return isHeard(call, () => keyOf(call), recovery?.invalidArguments !== undefined);
}

const keyOf = ({ key }: Call): string => `${key}/repair`;

/** A call after its mending: its label is no better than that of what was read to mend it. */
export interface Mended {
  readonly call: Call;
  /** The fate of a call that could not be mended. Undefined for a call with new arguments, which is judged like any other. */
  readonly fate?: Fate;
  /** The runs inside its mending. */
  readonly inside?: Inside;
}

/** Has wrong arguments mended, as one step of the journal. */
export async function mend(at: Call, checked: Fate): Promise<Mended> {
  const { run } = at.batch;
  const { call } = checked;
  const key = keyOf(at);
  const step = { key, fingerprint: () => fingerprintOf(call), run: () => askAuthor(at, checked, key) };
  const record = await untilStopped(run.journal.step(step), run.stop);
  if (record === "stopped") return { call: at, fate: cancelled(call) };
  const { repaired, inside } = record;
  const read = inside === undefined ? at : { ...at, learned: joinLearned(at.learned, inside.label) };
  if (repaired.type !== "repaired") return { call: read, fate: unmended(repaired, checked), inside };
  return { call: { ...read, proposed: withArguments(call, repaired.arguments) }, inside };
}

function unmended(repaired: Exclude<RepairedArguments, { readonly type: "repaired" }>, checked: Fate): Fate {
  if (checked.type === "ready") return checked; // its record has what the model was told
  switch (repaired.type) {
    case "unhandled":
      return checked;
    case "escalated":
      return { ...checked, result: repaired.result, escalated: true };
    case "failed":
      return { ...checked, result: repaired.result, fatal: repaired.fatal };
    default:
      return assertNever(repaired);
  }
}

interface MendRecord {
  readonly repaired: RepairedArguments;
  readonly inside?: Inside;
}

async function askAuthor({ batch, learned }: Call, checked: Fate, key: string): Promise<MendRecord> {
  const { run, gate } = batch;
  const { call } = checked;
  const wrong = checked.type === "refused" ? checked.wrong : undefined;
  const recovery = wrong?.tool.recover;
  if (wrong === undefined || recovery === undefined) return { repaired: { type: "unhandled" } };
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
