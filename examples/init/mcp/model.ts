import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, such as openai/gpt-5-mini or ollama/qwen2.5:7b. Without it a stand-in, which needs neither key nor network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** Acts as a model would: it searches the notes, then answers with the note that it found. */
function standIn({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return last.status === "ok" ? "Steep it for four minutes." : "I could not look.";
  return { calls: [{ name: "notes/search", arguments: { query: "tea" } }] };
}
