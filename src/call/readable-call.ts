import type { ToolCall } from "../message/message.ts";
import { toJson } from "../util/json.ts";

/** A call from a program, in the form of one that was read from a model: arguments that cannot be read are malformed. */
export function readableCall(call: ToolCall): ToolCall {
  if (call.malformed !== undefined) return call;
  const json = toJson(call.arguments);
  return json.ok ? call : { ...call, arguments: "", malformed: json.reason };
}

/** The call with other arguments, which can be read. */
export function withArguments(
  { malformed: _malformed, ...call }: ToolCall,
  args: ToolCall["arguments"],
): ToolCall {
  return { ...call, arguments: args };
}
