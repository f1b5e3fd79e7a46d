import { messageOf } from "../error/writ-error.ts";
import { consult, hookKey } from "../hook/consult.ts";
import { hookFailure } from "../hook/run-hooks.ts";
import { untrustedFrom } from "../message/label.ts";
import { isDefaultLabel, type ToolCall } from "../message/message.ts";
import { checkResult, okResult } from "../tool/result.ts";
import type { Tool } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import { type Call, type Fate, withArguments } from "./call.ts";
import { cancelled, denied, refused } from "./refused.ts";
import { isHeard } from "./standing-call.ts";

/** The occasion on which hooks are asked about a call: as the model wrote it, after its arguments were mended, or after a person edited it. */
type HookedPart = "" | "/mended" | "/edited";

/** Tells whether the hooks are asked about a call. */
export function isHooked(call: Call, part: HookedPart = ""): boolean {
  const { run, turn } = call.batch;
  const key = (): string => hookKey({ turn, place: "beforeToolCall", part: `${call.index}${part}` });
  return isHeard(call, key, run.hooks.beforeToolCall !== undefined);
}

/** Asks the author's hooks about a call of an allowed tool. A hook that fails denies the call. */
export async function askHooksBefore(call: Call, part: HookedPart = ""): Promise<Call | Fate> {
  const { proposed, batch, index } = call;
  const { run, turn, gate } = batch;
  const { journal, stop, tell } = run;
  const { beforeToolCall = [] } = run.hooks; // for a call that has run, the journal keeps the answers of hooks that the agent no longer has
  const { id: callId, name: tool } = proposed;
  if (!gate.allowed.tools.has(tool) && call.before?.hasRun !== true) return call;
  const at = { turn, callId, tool, arguments: proposed.arguments };
  try {
    const question = { place: "beforeToolCall" as const, at, turn, part: `${index}${part}`, callId };
    const answer = await consult({ hooks: { beforeToolCall }, journal, stop, tell }, question);
    if (answer.deny !== undefined) return denied(proposed, "hook", answer.deny);
    if (answer.result !== undefined)
      return await substituted(proposed, answer.result, gate.allowed.tools.get(tool));
    if (answer.arguments === undefined) return call;
    return { ...call, proposed: withArguments(proposed, answer.arguments) };
  } catch (error) {
    if (run.stop.reason !== undefined) return cancelled(proposed);
    if (hookFailure(error) === undefined) throw error; // the journal failed, not a hook
    const text = `A \`beforeToolCall\` hook of agent "${gate.agent}" failed, and the call of "${tool}" was denied: ${messageOf(error)}`;
    run.host.warn?.({ code: "WRIT_HOOK_FAILED", text, isDeprecation: false });
    return denied(proposed, "hook-failed", messageOf(error));
  }
}

/** The end of a call by a hook's value, which passes the checks of the tool's own, and whose origin nobody knows. It is for no more people than that. */
async function substituted(call: ToolCall, value: Json, tool: Tool | undefined): Promise<Fate> {
  const { result } = tool === undefined ? { result: okResult(value) } : await checkResult(tool, value);
  const decision = {
    verdict: "allow",
    rule: "hook",
    reason: "a hook answered in place of the tool",
  } as const;
  const label = { ...untrustedFrom(`tool/${call.name}`), secrecy: tool?.secrecy ?? "public" };
  return refused(call, decision, isDefaultLabel(label, call.name) ? result : { ...result, label });
}
