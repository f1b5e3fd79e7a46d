import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

const name = process.env["WRIT_MODEL"];

/** The model that WRIT_MODEL names, such as openai/gpt-5-mini or ollama/qwen2.5:7b. Without it a stand-in, which needs neither key nor network. */
export const model: ModelSource = name === undefined ? standIn : modelNamed(name);

/** The calls of the stand-in, one a turn. */
const steps: readonly { readonly name: string; readonly arguments: Record<string, string | string[]> }[] = [
  { name: "run_program", arguments: { program: "test", args: [] } },
  { name: "read_file", arguments: { path: "src/price.mjs" } },
  { name: "edit_file", arguments: { path: "src/price.mjs", old: "count > 10", new: "count >= 10" } },
  { name: "run_program", arguments: { program: "test", args: [] } },
];

/** Acts as a model would: it runs the tests, reads the faulty file, mends it, and runs the tests again. */
function standIn({ messages }: ModelRequest) {
  const results = messages.filter((message) => message.role === "tool");
  const next = steps[results.length];
  if (next !== undefined) return { calls: [next] };
  return /fail 0\b/.test(results.at(-1)?.text ?? "")
    ? "Ten are cheaper now; the tests pass."
    : "I could not mend it.";
}
