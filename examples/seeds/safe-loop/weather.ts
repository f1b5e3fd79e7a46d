import { type ModelSource, tool } from "writ";
import { callTool, llmStep, type StepDecision } from "writ/doors";
import { z } from "zod";

export const getWeather = tool({
  name: "get_weather",
  description: "Weather for a city",
  inputSchema: z.object({ city: z.string() }),
  effect: "read",
  execute: ({ city }) => `weather in ${city}: sunny`,
});

/** The purpose of the program. The model is told of it at every step, and nothing can change it. */
const intent = "Tell people the weather.";

/** The allow-list: the function that each name stands for. It is a map, so it has no inherited names. */
const tools = new Map([["get_weather", getWeather]]);
const catalog = [{ name: "get_weather", describe: "Weather for a city", params: ["city"] }];

/** The bounds of a run, and its model. Default: the model that $WRIT_MODEL names, or none. */
export interface Bounds {
  readonly maxSteps: number;
  /** Tokens. */
  readonly budget: number;
  readonly model?: ModelSource;
  readonly onStep?: (step: StepDecision, context: string) => void;
}

/** The loop of a program that keeps control: the model chooses a name, and the program decides whether to run it. */
export async function runAgent(
  question: string,
  { maxSteps, budget, model, onStep }: Bounds,
): Promise<string> {
  let spent = 0;
  let context = "";
  for (let n = 0; n < maxSteps && spent <= budget; n += 1) {
    const step = await llmStep({ model, intent, prompt: question, catalog, context });
    spent += step.tokens;
    if (step.kind === "final") return step.text;
    const chosen = tools.get(step.name);
    const result = chosen === undefined ? "not allowed" : (await callTool(chosen, step.args)).text;
    context += ` [${step.name} => ${result}]`;
    onStep?.(step, context);
  }
  return "out of steps";
}
