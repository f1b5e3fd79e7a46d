import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, such as openai/gpt-5-mini or ollama/qwen2.5:7b. Without it a stand-in, which needs neither key nor network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** Acts as a model would: it asks for the refund, then reports whether the refund was made. */
function standIn({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return last.status === "ok" ? "Order 17 is refunded." : "Nothing was refunded.";
  return { calls: [{ name: "refund", arguments: { order: "17", euro: 40 } }] };
}
