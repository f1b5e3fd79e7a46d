/**
 * How well a model of about a hundred million parameters calls tools, by protocol: 20 questions of arithmetic, each answered only
 * through the calculator's tools. Run: npm run bench:arithmetic [-- name or path of a GGUF file] [--verbose] [--only lines]
 *
 * A question counts when the last result of the tools is right and the answer contains it; "calls" counts the right sequence of results.
 */
import { parseArgs } from "node:util";
import type { RunResult } from "writ";
import { llamaCpp } from "writ/llama-cpp";
import { calculator } from "../examples/calculator/agent.ts";
import { add, divide, multiply, subtract } from "../examples/calculator/tools.ts";

interface Question {
  readonly text: string;
  /** The results that the calls must give, in order; the last is the answer. */
  readonly steps: readonly number[];
}

const question = (text: string, ...steps: readonly number[]): Question => ({ text, steps });

/** The protocol was chosen by these. */
const tuned: readonly Question[] = [
  question("What is (3 + 5) * 2?", 8, 16),
  question("What is 12 divided by 4?", 3),
  question("Add 7 and 9, then multiply by 3.", 16, 48),
  question("What is 15 - 6?", 9),
  question("Multiply 6 by 7.", 42),
  question("What is (20 - 8) / 4?", 12, 3),
  question("Subtract 4 from 10, then add 5.", 6, 11),
  question("What is 9 + 14?", 23),
  question("A box holds 6 eggs. How many eggs are in 8 boxes?", 48),
  question("What is ((2 + 3) * 4) - 6?", 5, 20, 14),
];

/** The protocol was not chosen by these, though their scores were seen on the way. */
const heldOut: readonly Question[] = [
  question("What is 8 times 9?", 72),
  question("What is (10 + 2) / 3?", 12, 4),
  question("Divide 45 by 9.", 5),
  question("What is 100 minus 37?", 63),
  question("Subtract 3 from 11 and multiply the result by 6.", 8, 48),
  question("What is (7 - 2) * 8?", 5, 40),
  question("Tom has 13 apples and buys 9 more. How many apples does he have now?", 22),
  question("Multiply 5 by 6, then divide by 10.", 30, 3),
  question("What is the sum of 25 and 17?", 42),
  question("What is (4 + 6) * 3 - 8?", 10, 30, 22),
];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: "boolean" }, only: { type: "string", default: "" } },
});
const model = llamaCpp(positionals[0] ?? "smollm2-135m", { seed: 1, temperature: 0 });
const free = { id: model.id, stream: model.stream.bind(model), features: { tools: false, completion: true } };
const held = { ...free, features: { ...free.features, format: "grammar" as const } };
const withoutNotation = [add, subtract, multiply, divide].map((made) => ({ ...made, notation: undefined }));

const variants = {
  json: calculator.with({ model: free, driver: "json" }),
  "json, grammar": calculator.with({ model: held, driver: "json" }),
  "lines by name, no examples, grammar": calculator.with({
    model: held,
    driver: "lines",
    tools: withoutNotation,
    examples: [],
  }),
  "lines by name, examples, grammar": calculator.with({
    model: held,
    driver: "lines",
    tools: withoutNotation,
  }),
  "lines, notation, no examples, grammar": calculator.with({ model: held, driver: "lines", examples: [] }),
  "lines, notation, examples, no grammar": calculator.with({ model: free, driver: "lines" }),
  "lines, notation, examples, grammar": calculator.with({ model: held, driver: "lines" }),
  "the same without instructions": calculator.with({ model: held, driver: "lines", instructions: "" }),
  "guided, no examples": calculator.with({ model: held, driver: "guided", examples: [] }),
  "guided, examples": calculator.with({ model: held, driver: "guided" }),
};

interface Score {
  readonly right: number;
  readonly calls: number;
  readonly turns: number;
  readonly kept: number;
}

function judge({ steps }: Question, run: RunResult<unknown>): Score {
  const results = run.transcript.messages.flatMap((message) =>
    message.role === "tool" && message.status === "ok" ? [Number(message.text)] : [],
  );
  const answer = steps.at(-1);
  const said = (run.text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  const right = results.includes(answer ?? Number.NaN) && said.at(-1) === answer;
  const replies = run.transcript.messages.filter((message) => message.role === "assistant").length;
  const violations = run.transcript.messages.filter((message) => message.role === "user").length - 1;
  return {
    right: Number(right),
    calls: Number(JSON.stringify(results) === JSON.stringify(steps)),
    turns: replies,
    kept: replies - violations,
  };
}

async function measure(name: string, questions: readonly Question[]): Promise<Score> {
  let total: Score = { right: 0, calls: 0, turns: 0, kept: 0 };
  for (const asked of questions) {
    const run = await variants[name as keyof typeof variants].run(asked.text);
    const score = judge(asked, run);
    if (values.verbose === true && score.right === 0) {
      const calls = run.transcript.messages.flatMap((message) =>
        message.role === "assistant" ? [message.raw ?? ""] : [],
      );
      console.log(`    ${asked.text}  ${JSON.stringify(calls)} ${run.outcome.type}`);
    }
    total = {
      right: total.right + score.right,
      calls: total.calls + score.calls,
      turns: total.turns + score.turns,
      kept: total.kept + score.kept,
    };
  }
  return total;
}

console.log(
  "| what the model is given | tuned: right, calls | held out: right, calls | replies in the protocol | s a question |",
);
console.log("|---|--:|--:|--:|--:|");
for (const name of Object.keys(variants).filter((variant) => variant.includes(values.only))) {
  const begun = performance.now();
  const a = await measure(name, tuned);
  const b = await measure(name, heldOut);
  const seconds = (performance.now() - begun) / 1000 / (tuned.length + heldOut.length);
  const kept = Math.round((100 * (a.kept + b.kept)) / (a.turns + b.turns));
  console.log(
    `| ${name} | ${a.right}/10, ${a.calls}/10 | ${b.right}/10, ${b.calls}/10 | ${kept} % | ${seconds.toFixed(1)} |`,
  );
}
