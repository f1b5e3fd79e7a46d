import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, such as openai/gpt-5-mini or ollama/qwen2.5:7b. Without it a stand-in, which needs neither key nor network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** Acts as a model would: it looks up the order, then answers. */
function standIn({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return `Your order: ${last.text}.`;
  const [order = "17"] = /\d+/.exec(JSON.stringify(last)) ?? [];
  return { calls: [{ name: "look_up", arguments: { order } }] };
}
