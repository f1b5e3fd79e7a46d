import type { Json } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import type { RunSnapshot } from "./eval-case.ts";
import type { EvaluatedRun } from "./eval-report.ts";
import { shown } from "./check.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** The end of a run, without secrets, and without tokens, dollars and time, which differ from run to run. */
export function snapshotOf({ outcome, answer, calls }: EvaluatedRun): RunSnapshot {
  return withoutSecrets({
    outcome,
    answer,
    calls: calls.map(({ tool, arguments: args, status, result }) => ({
      tool,
      arguments: args,
      status,
      result,
    })),
  });
}

/** The first difference between a run and its recording; undefined if there is none. */
export function changeSince(before: RunSnapshot, run: EvaluatedRun): string | undefined {
  const now = snapshotOf(run);
  for (const [index, call] of before.calls.entries()) {
    const made = now.calls[index];
    if (made === undefined) return `call ${index + 1} is not made any more: ${shown({ ...call })}`;
    if (!sameJson({ ...call }, { ...made })) return changed(`call ${index + 1}`, { ...call }, { ...made });
  }
  const more = now.calls[before.calls.length];
  if (more !== undefined) return `call ${before.calls.length + 1} is new: ${shown({ ...more })}`;
  if (before.outcome !== now.outcome) return changed("the outcome", before.outcome, now.outcome);
  return before.answer === now.answer ? undefined : changed("the answer", before.answer, now.answer);
}

function changed(what: string, before: Json, now: Json): string {
  return `${what} was ${shown(before)}, and is ${shown(now)}; --record takes it as it is now`;
}
