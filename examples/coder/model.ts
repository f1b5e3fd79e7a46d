import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, like openai/gpt-5-mini or ollama/qwen2.5:7b; else a stand-in, which needs neither a key nor a network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** What it calls, one a turn. */
const steps: readonly { readonly name: string; readonly arguments: Record<string, string | string[]> }[] = [
  { name: "run_program", arguments: { program: "test", args: [] } },
  { name: "read_file", arguments: { path: "src/price.mjs" } },
  { name: "edit_file", arguments: { path: "src/price.mjs", old: "count > 10", new: "count >= 10" } },
  { name: "run_program", arguments: { program: "test", args: [] } },
];

/** Does what a model would do with the project here: it runs the tests, reads the file at fault, mends it, and looks whether that was it. */
function standIn({ messages }: ModelRequest) {
  const results = messages.filter((message) => message.role === "tool");
  const next = steps[results.length];
  if (next !== undefined) return { calls: [next] };
  return /fail 0\b/.test(results.at(-1)?.text ?? "")
    ? "Ten are cheaper now; the tests pass."
    : "I could not mend it.";
}
