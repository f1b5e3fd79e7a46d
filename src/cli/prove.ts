import { writeFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { isDefinitionFile } from "../adapters/files/definition-file.ts";
import { makeFolder } from "../adapters/make-folder.ts";
import { type GuaranteeSheet, prove, type ProvenSentence } from "../eval/prove/prove.ts";
import { readSentences } from "../eval/prove/read-sentences.ts";
import type { AgentSource } from "../eval/prove/script.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type AnyAgent, checkFile, isAgent, loadAgent } from "./load-agent.ts";
import type { OutputFlags } from "./options.ts";
import { countText, jsonLine, oneLine, printable, processOutput } from "./output.ts";
import { writing } from "./writing.ts";

/** The options of `writ prove`, as the command line has them. */
export interface ProveFlags extends OutputFlags {
  readonly sentences?: string;
  readonly write?: string;
  readonly tools?: string;
}

/**
 * `writ prove <file>`: prints the sentences that hold for every run of the agent, and writes programs that break those that do not.
 *
 * @throws WritError `eval-sentences-invalid`, `tool-unknown`, `definition-invalid`, `option-invalid`, and the errors of loading an agent
 */
export async function proveAgent(file: string, flags: ProveFlags): Promise<ExitCode> {
  const { tools, json = false, write } = flags;
  checkFile(file);
  const sentences = flags.sentences === undefined ? undefined : await readSentences(flags.sentences);
  const agent = await loadAgent(file, { tools });
  const source = await sourceOf(file, agent, { tools, folder: write ?? "." });
  const sheet = await prove(agent, { source, ...(sentences === undefined ? {} : { sentences }) });
  if (write !== undefined) await writeScripts(write, sheet);
  await processOutput.answer(json ? jsonLine({ type: "prove", ...sheet }) : textOf(sheet, write));
  if (!json) processOutput.progress(`${summaryOf(sheet)}\n`);
  const verdicts = new Set(sheet.sentences.map(({ verdict }) => verdict));
  if (verdicts.has("broken")) return exitCodes.failed;
  return verdicts.has("undecided") ? exitCodes.refused : exitCodes.answered;
}

interface Placing {
  readonly tools: string | undefined;
  readonly folder: string;
}

/** The lines of a script in a folder that import the agent of a file. */
async function sourceOf(file: string, agent: AnyAgent, { tools, folder }: Placing): Promise<AgentSource> {
  if (isDefinitionFile(file)) return { lines: definitionLines(file, { tools, folder }) };
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(resolve(file)).href);
  const from = JSON.stringify(pathFrom(folder, file));
  const name = Object.keys(exported).find((each) => exported[each] === agent && isAgent(exported[each]));
  if (exported["default"] === agent || name === undefined) return { lines: [`import agent from ${from};`] };
  return { lines: [`import { ${name === "agent" ? name : `${name} as agent`} } from ${from};`] };
}

function definitionLines(file: string, { tools, folder }: Placing): readonly string[] {
  const path = `join(import.meta.dirname, ${JSON.stringify(pathFrom(folder, file))})`; // a URL would have %20 for a space
  const given = tools === undefined ? "" : ", { tools: Object.values(tools).flat() }";
  return [
    'import { join } from "node:path";',
    'import { agent as make } from "writ";',
    'import { loadAgent } from "writ/files";',
    ...(tools === undefined ? [] : [`import * as tools from ${JSON.stringify(pathFrom(folder, tools))};`]),
    "",
    `const agent = make(await loadAgent(${path}${given}));`,
  ];
}

function pathFrom(folder: string, file: string): string {
  const path = relative(resolve(folder), resolve(file)).split(sep).join("/");
  return path.startsWith(".") ? path : `./${path}`;
}

/** The name of the program that shows how the sentence at a place breaks. */
function scriptName(place: number): string {
  return `broken-${place + 1}.ts`;
}

async function writeScripts(folder: string, { sentences }: GuaranteeSheet): Promise<void> {
  await writing({ option: "--write", path: folder }, async () => {
    makeFolder(folder);
    for (const [place, { script }] of sentences.entries())
      if (script !== undefined) await writeFile(join(folder, scriptName(place)), script);
  });
}

const styles = { proved: "green", broken: "red", undecided: "yellow" } as const;

function textOf({ agent, sentences, assumptions }: GuaranteeSheet, folder: string | undefined): string {
  const told = sentences.map((each, place) => sentenceLines(each, place, folder));
  const taken = assumptions.map((each) => `- ${each}`);
  const heading = `Every run of ${oneLine(agent)}, whatever its model says:`;
  return `${heading}\n\n${told.join("\n")}\nTaken for granted:\n${taken.join("\n")}\n`;
}

function sentenceLines(
  { verdict, text, because, script }: ProvenSentence,
  place: number,
  folder: string | undefined,
): string {
  const head = `${processOutput.styleAnswer(styles[verdict], verdict.padEnd(9))}  ${printable(text)}`;
  const lines = [head, `           ${oneLine(because, 500)}`];
  if (script !== undefined && folder !== undefined)
    lines.push(`           node ${join(folder, scriptName(place))}`);
  else if (script !== undefined)
    lines.push(
      "",
      ...script
        .trimEnd()
        .split("\n")
        .map((line) => `    ${printable(line)}`),
      "",
    );
  return `${lines.join("\n")}\n`;
}

function summaryOf({ sentences }: GuaranteeSheet): string {
  const count = (verdict: ProvenSentence["verdict"]): number =>
    sentences.filter((each) => each.verdict === verdict).length;
  return `${countText(sentences.length, "sentence")}: ${count("proved")} proved, ${count("broken")} broken, ${count("undecided")} undecided.`;
}
