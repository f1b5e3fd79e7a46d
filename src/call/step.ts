import { type Journal, type Step, withWork } from "../journal/journal.ts";
import { joinedParts, partText } from "../journal/parts.ts";
import type { ToolCall } from "../message/message.ts";
import type { RunContext } from "../run/context.ts";
import type { Gate } from "../run/gate.ts";
import { RunWaits } from "../run/waits.ts";
import { mayRunAgain } from "../tool/after-crash.ts";
import { capabilityText } from "../tool/capability.ts";
import type { Tool } from "../tool/tool.ts";
import type { Maybe } from "../util/maybe.ts";
import type { CallRecord, KeptPowers, Ready } from "./call.ts";

/** The capabilities of a call as its record keeps them: those that its tool declares, and the run's grants of the same kinds. */
export function powersOf({ needs }: Pick<Tool, "needs">, { powers }: Gate): KeptPowers {
  if (needs === undefined) return {};
  const kinds = new Set(needs.map(({ kind }) => kind));
  const grants = (powers.at(-1) ?? []).filter(({ kind }) => kinds.has(kind)).slice(0, mostGrants);
  const granted = grants.length === 0 ? {} : { granted: grants.map(capabilityText) };
  return { needs: needs.slice(0, mostGrants).map(capabilityText), ...granted };
}

const mostGrants = 8;

/** A call as a step of the journal. A call that may not run twice is `lost` if an earlier process began it and left no result. */
export function stepOf(
  ready: Ready,
  perform: (isLost: boolean) => Maybe<CallRecord>,
  retell?: Step<CallRecord>["retell"],
): Step<CallRecord> {
  const { at, tool, early } = ready;
  const { key, proposed, batch } = at;
  const { journal, stop } = batch.run;
  const { recall } = journal;
  const step = {
    key,
    fingerprint: () => fingerprintOf(proposed),
    run: async () => ({ ...(await perform(false)), ...judgementOf(ready) }),
  };
  const recalled = recall?.(key, { tool: tool.name, fingerprint: fingerprintOf(proposed) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the record of a call
  const known = recalled as unknown as CallRecord | undefined;
  if (known !== undefined) return { ...step, run: async () => ({ ...known, ...judgementOf(ready) }) };
  if (tool.isAgent === true || early !== undefined)
    return { ...step, isOuter: true, ...(retell === undefined ? {} : { retell }) };
  const isOver = stop.reason !== undefined && journal.hasBegun?.(key) !== true; // the call will not begin, so a process that dies now leaves no doubt about it
  if (mayRunAgain(tool) || isOver) return step;
  return { ...step, lost: async () => ({ ...(await perform(true)), ...judgementOf(ready) }) };
}

/** The judgement about a call, as its record keeps it. */
function judgementOf({
  at,
  tool,
  decision,
  askedBy = decision,
}: Ready): Pick<CallRecord, "decision" | "judged"> & KeptPowers {
  const judged = at.times?.kept;
  return {
    decision: askedBy,
    ...(judged === undefined ? {} : { judged }),
    ...powersOf(tool, at.batch.gate),
  };
}

/** The key by which a service recognises the call: a hash of fixed length, the same at every attempt. */
export function idempotencyKeyOf({ host, runId }: Pick<RunContext, "host" | "runId">, key: string): string {
  return host.digest(`${runId}/${key}`);
}

/** The text by which a record of the call is recognised. */
export function fingerprintOf({ name, arguments: args }: ToolCall): string {
  return joinedParts([partText("tool", name), partText("arguments", args)]);
}

/** Runs steps side by side. If one cannot be recorded, the others that have begun end first, and are recorded if possible. */
export async function recorded(
  steps: readonly Step<CallRecord>[],
  journal: Journal,
): Promise<readonly CallRecord[]> {
  const running: Promise<CallRecord>[] = [];
  const noted = steps.map((step) =>
    withWork(step, (work) => {
      const started = work();
      running.push(started);
      return started;
    }),
  );
  try {
    return await journal.all(noted);
  } catch (error) {
    const ended = await Promise.allSettled(running);
    if (!(error instanceof RunWaits)) throw error;
    const broken = journal.mode === "replay" ? undefined : ended.find(isBroken);
    throw broken === undefined ? ended.reduce(alsoWaiting, error) : broken.reason;
  }
}

/** True of a call that the journal could not record. */
function isBroken(ended: PromiseSettledResult<unknown>): ended is PromiseRejectedResult {
  return ended.status === "rejected" && !(ended.reason instanceof RunWaits);
}

/** This wait, combined with that of another call. */
function alsoWaiting(waits: RunWaits, ended: PromiseSettledResult<unknown>): RunWaits {
  const isOther = ended.status === "rejected" && ended.reason instanceof RunWaits && ended.reason !== waits;
  return isOther ? waits.and(ended.reason) : waits;
}
