import { trustedLabel } from "../message/label.ts";
import type { ToolResult } from "../message/message.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { boundsOf } from "../run/approval.ts";
import { RunWaits } from "../run/waits.ts";
import type { Reconcile, Reconciled, Settlement } from "../tool/after-crash.ts";
import type { Tool, ToolContext } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import { after, type Maybe } from "../util/maybe.ts";
import { questionAbout } from "./ask.ts";
import type { CallRecord, Halt, Ready } from "./call.ts";
import { type GivenEnd, settleGiven } from "./given.ts";
import { runCall } from "./run.ts";
import { fingerprintOf } from "./step.ts";
import { EndKnown } from "./thrown.ts";

/**
 * The record of a call that an earlier process began and that may not run twice: the answer of the tool's `reconcile` or of a person, otherwise `unknown`.
 *
 * @throws only the error of a journal that failed inside the call
 */
export function runLost(ready: Ready, halt: Halt): Maybe<CallRecord> {
  const { tool } = ready;
  const result = unknownResult(tool.name);
  const given = { ready, startedAt: ready.at.batch.run.host.now(), label: trustedLabel };
  const { reconcile } = tool;
  if (reconcile === "person" && ready.at.batch.run.journal.ask !== undefined)
    return settledByPerson(ready, halt, { unknown: result });
  if (typeof reconcile !== "function") return settleGiven(given, { result });
  return after(runCall({ ...ready, tool: reconciling(tool, reconcile) }, halt), (record) =>
    mayHaveHappened.has(record.result.status) ? { ...record, result } : record,
  );
}

/** Ends that do not tell what the earlier process did. */
const mayHaveHappened: ReadonlySet<ToolResult["status"]> = new Set(["skipped", "cancelled", "timeout"]);

function unknownResult(name: string): ToolResult {
  const text = `Tool '${name}' was at work when the program stopped. Its effect may have happened.`;
  return { status: "unknown", text };
}

type Lookup = Reconcile<unknown, ToolContext>;

/** The tool with a lookup in place of its function: whether it has done its work. */
function reconciling(tool: Tool, reconcile: Lookup): Tool {
  return {
    ...tool,
    async execute(args, context) {
      const known = await lookUp(tool.name, () => reconcile(args, context));
      if (!known.happened) return tool.execute(args, context);
      if (known.value !== undefined) return known.value;
      const text = `Tool '${tool.name}' did this before the program stopped. Its result is not known.`;
      throw new EndKnown({ status: "ok", text });
    },
  };
}

async function lookUp(name: string, look: () => ReturnType<Lookup>): Promise<NonNullable<Reconciled>> {
  let known: unknown;
  try {
    known = await look();
  } catch (cause) {
    throw new EndKnown(unknownResult(name), { cause });
  }
  if (isReconciled(known)) return known;
  throw new EndKnown(unknownResult(name));
}

/** True of a usable answer. Plain JavaScript can return anything: only `true` and `false` say whether it happened. */
function isReconciled(said: unknown): said is NonNullable<Reconciled> {
  return (
    typeof said === "object" && said !== null && "happened" in said && typeof said.happened === "boolean"
  );
}

/** The settlement of a call, as the journal keeps it, with the hash of the call. */
export type KeptSettlement = Settlement & { readonly hash: string; readonly by?: string };

/**
 * The record of a call after a person has said whether it happened; the run waits for that. A call that did not happen runs now, as a step of its own:
 * if its process dies too, the person is asked again.
 *
 * @throws RunWaits before it is answered
 */
async function settledByPerson(
  ready: Ready,
  halt: Halt,
  { unknown, attempt = 1 }: { readonly unknown: ToolResult; readonly attempt?: number },
): Promise<CallRecord> {
  const { at, tool, call } = ready;
  const { key, batch } = at;
  const { run } = batch;
  const request = unsettledQuestion(ready);
  const asked = await run.journal.ask?.<KeptSettlement>({
    key: `${key}/settle/${attempt}`,
    fingerprint: () => fingerprintOf(call),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request is plain data
    request: request as unknown as Json,
    by: boundsOf(request, run.approvals).by,
  });
  if (asked !== undefined && "waitsAt" in asked) throw new RunWaits([{ key: asked.waitsAt, request }]);
  const said: Settlement = asked?.answer ?? { happened: "unknown" };
  if (said.happened === false) {
    const next = { unknown, attempt: attempt + 1 };
    return run.journal.step({
      key: `${key}/again/${attempt}`,
      run: async () => runCall(ready, halt),
      lost: () => settledByPerson(ready, halt, next),
    });
  }
  const given = { ready, startedAt: run.host.now(), label: trustedLabel };
  return settleGiven(given, endOf(said, tool.name, unknown));
}

function endOf(said: Settlement, name: string, unknown: ToolResult): GivenEnd {
  if (said.happened !== true) return { result: unknown };
  if (said.value !== undefined) return { value: said.value };
  return {
    result: {
      status: "ok",
      text: `Tool '${name}' did this before the program stopped. Its result is not known.`,
    },
  };
}

/** The question whether a call happened. */
function unsettledQuestion(ready: Ready): ApprovalRequest {
  const reason = "it was at work when its process died, and nobody knows whether it happened";
  const decision = { ...ready.decision, rule: "unsettled", reason };
  return { ...questionAbout(ready, decision), unsettled: true };
}
