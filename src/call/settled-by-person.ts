import { trustedLabel } from "../message/label.ts";
import type { ToolResult } from "../message/message.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import { boundsOf } from "../run/approval.ts";
import { RunWaits } from "../run/waits.ts";
import type { Settlement } from "../tool/after-crash.ts";
import type { Json } from "../util/json.ts";
import { questionAbout } from "./question.ts";
import type { CallRecord, Halt, Ready } from "./call.ts";
import { type GivenEnd, settleGiven } from "./given.ts";
import { runCall } from "./run.ts";
import { fingerprintOf } from "./step.ts";

/** The settlement of a call, as the journal keeps it, with the hash of the call. */
export type KeptSettlement = Settlement & { readonly hash: string; readonly by?: string };

/**
 * The record of a call after a person has said whether it happened; the run waits for that. A call that did not happen runs now, as a step of its own:
 * if its process dies too, the person is asked again.
 *
 * @throws RunWaits before it is answered
 */
export async function settledByPerson(
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
