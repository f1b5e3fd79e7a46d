import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, like openai/gpt-5-mini or ollama/qwen2.5:7b; else a stand-in, which needs neither a key nor a network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** Does what a model would do here: it calls the tool, and answers with the result. */
function standIn({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return `The thermometer says: ${last.text}.`;
  const [city = "Oslo"] = /Oslo|Rome/.exec(JSON.stringify(last)) ?? [];
  return { calls: [{ name: "temperature", arguments: { city } }] };
}
