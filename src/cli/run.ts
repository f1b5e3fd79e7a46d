import { modelNamed } from "../adapters/model/resolve.ts";
import { driverChoices } from "../model/driver-names.ts";
import { parseCapabilities } from "../tool/capability.ts";
import { type AuditFlags, auditWriter } from "./audit.ts";
import type { ExitCode } from "./exit-code.ts";
import { type AnyAgent, checkFile, loadAgent } from "./load-agent.ts";
import { countOf, formatOf, type OutputFlags, wordOf } from "./options.ts";
import { processOutput } from "./output.ts";
import { type PrintRunOptions, printRun } from "./print-run.ts";
import { readPrompt } from "./prompt.ts";
import { type QuestionPart, readFiles } from "./read-files.ts";

/** The options of `writ run`, as they stand on the command line. */
export interface RunFlags extends OutputFlags, AuditFlags {
  readonly model?: string;
  readonly driver?: string;
  readonly maxTurns?: string;
  readonly skill?: string;
  readonly tools?: string;
  readonly cap?: string;
  readonly file?: readonly string[];
}

/**
 * `writ run <file> [prompt…]`.
 *
 * @throws WritError for everything that is wrong before the run begins: the options, the file, the prompt.
 */
export async function run(file: string, words: readonly string[], flags: RunFlags): Promise<ExitCode> {
  const { driver, maxTurns, skill, tools, cap, file: paths = [], verbose = false } = flags;
  const model = flags.model === undefined ? undefined : modelNamed(flags.model);
  const changes: Parameters<AnyAgent["with"]>[0] = {
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { budget: { turns: countOf("--max-turns", maxTurns) } }),
    ...(driver === undefined ? {} : { driver: wordOf("--driver", driver, driverChoices) }),
  };
  const options: PrintRunOptions = {
    format: formatOf(flags),
    verbose,
    skill,
    audit: auditWriter(flags, processOutput),
    ceiling: cap === undefined ? undefined : parseCapabilities(cap),
  };
  checkFile(file);
  const files = await readFiles(paths);
  const prompt = await readPrompt(words, process.stdin, { isOptional: files.length > 0 });
  const agent = await loadAgent(file, { tools, model });
  const changed = Object.keys(changes).length === 0 ? agent : agent.with(changes);
  return printRun(changed, questionOf(prompt, files), { ...options, model: changed.modelId });
}

function questionOf(prompt: string, files: readonly QuestionPart[]): string | readonly QuestionPart[] {
  if (files.length === 0) return prompt;
  return prompt.trim() === "" ? files : [prompt, ...files];
}
