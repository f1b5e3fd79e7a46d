import type { ToolCall } from "../message/message.ts";
import { wireNames } from "../model/tool-names.ts";
import type { TurnInput } from "./driver.ts";
import { isQuoted } from "./copied-calls.ts";
import { recogniser } from "./recognise/recogniser.ts";

/**
 * Calls in the tags that a model was trained on, when the provider did not read them: servers do so whose parser does not fit the model. Only
 * a reply that is such calls and nothing else counts, and none that stands in what was said or read before, so that an answer that quotes one
 * stays an answer. Undefined when there are none.
 */
export function unparsedCalls(text: string, turn: TurnInput): readonly ToolCall[] | undefined {
  const { allowed, model } = turn;
  if (!/^\s*[<[]/.test(text) || allowed.tools.size === 0) return undefined;
  const names = wireNames(allowed, model.features.toolNames);
  const known = [...allowed.tools.values()].map(({ name, input }) => ({
    name: names.toWire(name),
    inputSchema: input.jsonSchema,
  }));
  const { calls, layer } = recogniser(known, "strict").read(text);
  if (calls.length === 0 || layer !== "tagged" || isQuoted(text, turn)) return undefined;
  return calls.map(({ name, arguments: args }) => {
    return { type: "tool-call", id: "", name: names.fromWire(name), arguments: args };
  });
}
