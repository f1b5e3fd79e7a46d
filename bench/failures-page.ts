/** The page docs/failures-compared.md: what every peer did in every scenario. */
import { scenarios } from "./failure-scenarios.ts";

/** The result of one run. */
export interface Seen {
  readonly cell: string;
  readonly answered: boolean;
  /** How many calls of the tool ran with arguments that the model never wrote. */
  readonly invented: number;
}

/** One peer: the head of its column, and its results in the order of the scenarios. `undefined`: not run. */
export interface Column {
  readonly name: string;
  readonly versions: string;
  readonly seen: readonly (Seen | undefined)[];
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function totals(columns: readonly Column[], of: (seen: Seen) => boolean): readonly string[] {
  return columns.map(({ seen }) => {
    const run = seen.filter((one) => one !== undefined);
    return run.length === 0 ? "not run" : `${run.filter(of).length} of ${run.length}`;
  });
}

export function pageOf(columns: readonly Column[]): string {
  const rows = scenarios.map(({ name, does }, at) =>
    row([`**${name}**: ${does}`, ...columns.map(({ seen }) => seen[at]?.cell ?? "not run")]),
  );
  return `# Failures compared

What writ and three other libraries do when the provider fails, asked the same question of the same server. Written by
\`npm run bench:install -- ai openai-agents mastra\` and \`npm run bench:failures\`, with Node ${process.versions.node}; it is not edited by hand.

${columns.map(({ name, versions }) => `- ${name}: ${versions}`).join("\n")}

How each was asked: "What is 2 + 35?", one tool \`add\` with two required numbers, streamed, the text read to its end, and nothing set that has a default. The
server speaks OpenAI's chat completions on the loopback interface; its model calls \`add\`, and says \`2 + 35 is 37.\` once a result with 37 is in the request.
Each run has a process of its own, and 15 seconds.

- writ: \`agent({ model: openaiCompatible(…), tools })\`, \`stream\`. What it says of a run that did not answer stands after "not answered"; called as a function
  it throws that.
- AI SDK: \`new ToolLoopAgent({ model: createOpenAICompatible(…)(…), tools })\`, \`stream\`; then \`textStream\`, \`text\`, \`finishReason\`.
- OpenAI Agents: \`new Agent({ model: new OpenAIChatCompletionsModel(…), tools })\`, \`run\` with \`stream: true\`; then \`toTextStream()\`, \`completed\`, \`finalOutput\`.
  Tracing is off.
- Mastra: \`new Agent({ model: { id, url, apiKey }, tools })\`, \`stream\`; then \`textStream\`, \`text\`, \`finishReason\`, \`error\`.
  It asks again with \`maxRetries\`, which is not set by default; with \`maxRetries: 2\` a 429 was answered.

How to read it: "answered" is the whole text \`2 + 35 is 37.\` and no error. "gave" shows another text, as the program gets it without an exception; in brackets
stands the finish reason where it is not \`stop\`, by which a program that looks can tell. Requests are those that the server got. The first row is how it is when
nothing fails. What a library logs on the console is not shown. One run a cell: seconds differ from run to run,
waits are partly drawn by lot.

${row(["", ...columns.map(({ name }) => name)])}
${row(["---", ...columns.map(() => "---")])}
${rows.join("\n")}
${row(["answered", ...totals(columns, ({ answered }) => answered)])}
${row(["the tool ran with arguments that nobody wrote", ...totals(columns, ({ invented }) => invented > 0)])}

An answer is not the aim of every row: after a content filter, empty replies, an endless loop and a page of HTML there is none to have, and what counts is whether
the program learns of it. Other ways to ask, other settings and other versions may do otherwise. The scenarios were chosen by the authors of writ, from what they saw fail.
`;
}
