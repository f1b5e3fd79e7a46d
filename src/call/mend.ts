import { joinLearned } from "../policy/knowledge/learned.ts";
import { openCall } from "../run/call-around.ts";
import { type Inside, openCallScope } from "../run/scope.ts";
import { assertNever } from "../util/assert-never.ts";
import { untilStopped } from "../util/interrupt.ts";
import {
  type Call,
  cancelled,
  type Fate,
  fingerprintOf,
  keyOf,
  type Refused,
  withArguments,
} from "./call.ts";
import { checkCall } from "./check.ts";
import { type RepairedArguments, repairArguments } from "./recovery.ts";

/** A call whose arguments are wrong. */
type Wrong = Refused & Required<Pick<Refused, "wrong">>;

/** Tells whether the author says what to do about wrong arguments of this call. */
export function isMendable(fate: Fate, { batch }: Call): fate is Wrong {
  return (
    fate.type === "refused" &&
    fate.wrong !== undefined &&
    batch.run.recoveryOf(fate.wrong.tool)?.invalidArguments !== undefined
  );
}

/** A call after its mending: it is no better than what was read for that. */
export interface Mended {
  readonly call: Call;
  readonly fate: Fate;
}

/** Has wrong arguments mended, as one step of the journal; the mended call is decided about like any other. */
export async function mend(at: Call, wrong: Wrong): Promise<Mended> {
  const { run } = at.batch;
  const { call } = wrong;
  const key = `${keyOf(at)}/repair`;
  const step = { key, fingerprint: () => fingerprintOf(call), run: () => askAuthor(at, wrong, key) };
  const record = await untilStopped(run.journal.step(step), run.stop);
  if (record === "stopped") return { call: at, fate: cancelled(call) };
  const { repaired, inside } = record;
  const after = inside === undefined ? at : { ...at, learned: joinLearned(at.learned, inside.label) };
  const fate = await fateOf(repaired, wrong, after);
  return { call: after, fate: inside === undefined ? fate : { ...fate, inside } };
}

function fateOf(repaired: RepairedArguments, wrong: Wrong, at: Call): Fate | Promise<Fate> {
  switch (repaired.type) {
    case "unhandled":
      return wrong;
    case "escalated":
      return { ...wrong, result: repaired.result, escalated: true };
    case "failed":
      return { ...wrong, result: repaired.result, fatal: repaired.fatal };
    case "repaired":
      return checkCall({ ...at, proposed: withArguments(wrong.call, repaired.arguments) });
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
  const recovery = run.recoveryOf(wrong.tool);
  if (recovery === undefined) return { repaired: { type: "unhandled" } };
  const around = openCall(gate.intent, () => learned.label);
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
