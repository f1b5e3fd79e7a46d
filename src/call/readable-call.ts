import type { ToolCall } from "../message/message.ts";
import { toJson } from "../util/json.ts";

/** A call that a program hands over, as one that was read from a model is: arguments that no reader gets through are malformed. */
export function readableCall(call: ToolCall): ToolCall {
  if (call.malformed !== undefined) return call;
  const json = toJson(call.arguments);
  return json.ok ? call : { ...call, arguments: "", malformed: json.reason };
}
