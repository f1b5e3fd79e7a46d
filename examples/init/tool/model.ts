import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, such as openai/gpt-5-mini or ollama/qwen2.5:7b. Without it a stand-in, which needs neither key nor network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** Acts as a model would: it calls the tool, then answers with the result. */
function standIn({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return `The thermometer says: ${last.text}.`;
  const [city = "Oslo"] = /Oslo|Rome/.exec(JSON.stringify(last)) ?? [];
  return { calls: [{ name: "temperature", arguments: { city } }] };
}
