import type { BoundSentence, PowersSentence, Sentence } from "./sentence.ts";
import { sentenceText } from "./sentence.ts";
import type { Spender } from "./bounds.ts";
import type { Scene } from "./scene.ts";
import type { Schedule } from "../simulate/schedule.ts";
import { literal } from "../simulate/scripted-test.ts";

/** The code that makes the agent of a script. */
export interface AgentSource {
  /** Lines that import what is needed, and define `agent`. */
  readonly lines: readonly string[];
}

/** The agent in the default export of `./agent.ts`. */
export const usualSource: AgentSource = { lines: ['import agent from "./agent.ts";'] };

const head = (sentence: Sentence): string =>
  `// Shows that this does not hold, and ends with 1: ${sentenceText(sentence)}`;

/** A program that plays a scene, and prints what broke. */
export function sceneScript(sentence: Sentence, scene: Scene, { lines }: AgentSource): string {
  const { input, script, results, schedule } = scene;
  const tools = Object.entries(results).map(
    ([name, value]) => `    ${JSON.stringify(name)}: () => (${literal(value)}),`,
  );
  return [
    head(sentence),
    `import { sentenceInvariants, simulate } from "writ/testing";`,
    ...lines,
    "",
    "const { failure } = await simulate(agent, {",
    `  inputs: [${literal(input)}],`,
    "  script: [",
    ...script.map((reply) => `    ${literal(reply)},`),
    "  ],",
    ...(tools.length === 0 ? [] : ["  tools: {", ...tools, "  },"]),
    `  invariants: sentenceInvariants(agent, [${literal(sentence)}]),`,
    `  schedule: ${scheduleText(schedule)},`,
    "});",
    'console.log(failure?.message ?? "The sentence held.");',
    "process.exitCode = failure === undefined ? 0 : 1;",
    "",
  ].join("\n");
}

function scheduleText({ deviations }: Schedule): string {
  return literal({ deviations });
}

/** A program in which a scripted model uses as much as the sentence allows, and which checks whether it is asked again. */
export function spendingScript(
  sentence: BoundSentence,
  { lines }: AgentSource,
  { input, skill }: Spender,
): string {
  const { of, most } = sentence;
  const how = skill === undefined ? "" : `, { skill: ${literal(skill)} }`; // otherwise the first reply would choose one
  const isTokens = of === "tokens";
  return [
    head(sentence),
    `import { scripted } from "writ/testing";`,
    ...lines,
    "",
    `const usage = { inputTokens: ${isTokens ? Math.ceil(most) : 1}, outputTokens: 0 };`,
    `const replies = scripted([{ calls: [{ name: "no_such_tool", arguments: {} }], usage }, "Done."]);`,
    `const model = { ...replies, price: () => ${isTokens ? 0 : most} };`,
    `await agent.with({ model }).run(${literal(input)}${how});`,
    "const isBroken = replies.requests.length > 1;",
    `console.log(isBroken ? "The model was asked again after it had used ${most}." : "The sentence held.");`,
    "process.exitCode = isBroken ? 1 : 0;",
    "",
  ].join("\n");
}

/** A program that looks for the capability in the manifest. */
export function powersScript(sentence: PowersSentence, because: string, { lines }: AgentSource): string {
  return [
    head(sentence),
    ...lines,
    "",
    "const manifest = await agent.manifest();",
    "console.log(JSON.stringify(manifest.skills, null, 2));",
    `console.log(${literal(because)});`,
    "process.exitCode = 1;",
    "",
  ].join("\n");
}
