import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, like openai/gpt-5-mini or ollama/qwen2.5:7b; else a stand-in, which needs neither a key nor a network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** Does what a model would do here: it gives the money back where it may. */
function standIn({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return last.status === "ok" ? "Order 17 is refunded." : "Nothing was refunded.";
  return { calls: [{ name: "refund", arguments: { order: "17", euro: 40 } }] };
}
