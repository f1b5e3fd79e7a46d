// npm start -- "What is (3 + 5) * 2?"
//
// Asks the calculator with the best model on this machine. To ask it with a model of your choice:
// npx writ run examples/calculator/agent.ts --model ollama/qwen2.5:7b "What is (3 + 5) * 2?"
import type { ModelRequest } from "writ/models";
import { findModel, printRun } from "writ/cli";
import { scripted } from "writ/testing";
import { calculator } from "./agent.ts";

const knownQuestion = "What is (3 + 5) * 2?";
const question = process.argv.slice(2).join(" ") || knownQuestion;
const wantsScript = process.env["WRIT_MODEL"] === "scripted";
const { model, why } = wantsScript
  ? { model: undefined, why: "WRIT_MODEL asks for the script" }
  : await findModel();

if (model !== undefined) {
  console.error(`Model: ${model.id} (${why})`);
  process.exitCode = await printRun(calculator.with({ model }), question, { model: model.id });
} else if (question === knownQuestion) {
  console.error(
    `No model: ${why}\nWhat follows is scripted: the replies are written down, the calls are real.`,
  );
  process.exitCode = await printRun(calculator.with({ model: script() }), question, { model: "a script" });
} else {
  console.error(`No model: ${why}\nThe script that stands in only knows the question "${knownQuestion}"`);
  process.exitCode = 5;
}

/** The scripted replies of a model to the known question. */
function script() {
  return scripted([
    { calls: [{ name: "add", arguments: { a: 3, b: 5 } }] },
    (request) => ({ calls: [{ name: "multiply", arguments: { a: Number(lastResult(request)), b: 2 } }] }),
    (request) => {
      const result = lastResult(request);
      if (result !== "16") throw new Error(`the tools computed ${result}, not 16`);
      return `(3 + 5) * 2 = ${result}`;
    },
  ]);
}

function lastResult({ messages }: ModelRequest): string | undefined {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.text : undefined;
}
