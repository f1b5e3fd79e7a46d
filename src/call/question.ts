import type { Decision } from "../policy/decision.ts";
import { approvalRequest, type ApprovalRequest } from "../policy/rules/approval-request.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import type { Ready } from "./call.ts";

/** The question about a call. Its hash covers the tool and exactly these arguments. */
export function questionAbout({ at, call, request }: Ready, decision: Decision): ApprovalRequest {
  const { gate, run } = at.batch;
  const hash = run.host.digest(`${call.name} ${canonicalJson(request.arguments)}`);
  const path = [...(run.scope.agents ?? []), gate.agent];
  return approvalRequest(request, decision, { hash, path, policy: gate.intent.policy });
}
