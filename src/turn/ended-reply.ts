import type { TurnInput } from "../driver/driver.ts";
import { WritError } from "../error/writ-error.ts";
import { isWordless, type ReplyMessage } from "../message/message.ts";
import { addReply } from "../message/transcript.ts";
import { type End, failed } from "../run/end.ts";
import { skipAll } from "./act.ts";
import type { ModelRecord } from "./ask-model.ts";
import type { NextState, Run, State } from "./state.ts";

/** A reply of which the token limit left nothing: asked again, the model would need as many tokens. The budget tells of its own limit. */
export function emptied(
  { message, finishReason }: ModelRecord,
  { state, input }: { readonly state: State; readonly input: TurnInput },
  run: Run,
): NextState | undefined {
  if (finishReason !== "length" || !isWordless(message) || state.ledger.tokens >= state.limits.tokens)
    return undefined;
  const { maxOutputTokens: limit } = input.settings;
  const error = new WritError("reply-cut", {
    model: run.options.model.id,
    limit: limit === undefined ? "which its provider sets" : `\`maxOutputTokens\` ${limit}`,
  });
  return { state, end: { outcome: failed(error), error } };
}

/** The provider held the answer back: no use in asking again. */
export function filtered(
  state: State,
  { message, text }: { readonly message: ReplyMessage; readonly text: string },
  run: Run,
): NextState {
  const reason = `the provider filtered the answer${text.trim() === "" ? "" : `: ${text.trim()}`}`;
  const error = new WritError("run-refused", { name: run.gate.agent, reason });
  const end: End = { outcome: { type: "refused", code: error.code, message: error.message }, error };
  const added = addReply(state.transcript, message);
  if (added.state === "open")
    return skipAll(state, { open: added, reason: "the provider filtered the reply", end });
  return { state: { ...state, transcript: added }, end };
}
