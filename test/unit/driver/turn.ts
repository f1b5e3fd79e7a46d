import type { TurnInput } from "../../../src/driver/driver.ts";
import { type ReplyPart, type ToolCall, userMessage } from "../../../src/message/message.ts";
import { addUser, emptyTranscript } from "../../../src/message/transcript.ts";
import type { Reply } from "../../../src/model/assemble.ts";
import type { ModelFeatures } from "../../../src/model/model.ts";
import { allowList, type Tools } from "../../../src/policy/allow-list.ts";
import { type SchemaSource, toSchema } from "../../../src/schema/to-schema.ts";
import { scripted } from "../../../src/testing.ts";
import type { Json } from "../../../src/util/json.ts";

interface About {
  readonly tools?: Tools;
  readonly toolChoice?: TurnInput["toolChoice"];
  readonly output?: SchemaSource;
  readonly features?: ModelFeatures;
}

/** The first turn of a run that is asked "Go." */
export function turnOf({ tools = [], toolChoice = "auto", output, features = {} }: About = {}): TurnInput {
  return {
    transcript: addUser(emptyTranscript({ role: "system", text: "Be good." }), userMessage("Go.")),
    allowed: allowList("skill", tools),
    model: scripted([], { features }),
    settings: {},
    examples: [],
    toolChoice,
    ...(output === undefined ? {} : { output: toSchema(output, { name: "answer", role: "input" }) }),
  };
}

/** A reply of these parts; a bare text is a part of text. */
export function replyOf(...parts: readonly (string | ReplyPart)[]): Reply {
  const whole = parts.map((part) =>
    typeof part === "string" ? { type: "text" as const, text: part } : part,
  );
  return { message: { role: "assistant", parts: whole }, finishReason: "stop" };
}

/** A native call. */
export function callOf(name: string, args: Json): ToolCall {
  return { type: "tool-call", id: `call_${name}`, name, arguments: args };
}
