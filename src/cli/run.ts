import { WritError } from "../error/writ-error.ts";
import { parseCapabilities } from "../tool/capability.ts";
import { type AuditFlags, auditWriter } from "./audit.ts";
import type { ExitCode } from "./exit-code.ts";
import { type AgentFlags, agentLoader } from "./given-agent.ts";
import { type AnyAgent, checkFile } from "./load-agent.ts";
import { formatOf, type OutputFlags } from "./options.ts";
import { processOutput } from "./output.ts";
import { type PrintRunOptions, printRun } from "./print-run.ts";
import { readPrompt } from "./prompt.ts";
import { type QuestionPart, readFiles } from "./read-files.ts";

/** The options of `writ run`, as they stand on the command line. */
export interface RunFlags extends OutputFlags, AuditFlags, AgentFlags {
  readonly skill?: string;
  readonly cap?: string;
  readonly file?: readonly string[];
  readonly durable?: boolean;
  readonly store?: string;
  readonly id?: string;
  readonly session?: string;
}

/** @throws WritError `option-invalid` */
function checkDurable({ durable, ...flags }: RunFlags): void {
  const given = (["store", "id", "session"] as const).find((name) => flags[name] !== undefined);
  if (durable === true || given === undefined) return;
  const advice = "It is about a run that is kept: give `--durable` too.";
  throw new WritError("option-invalid", { option: `--${given}`, value: flags[given] ?? "", advice });
}

interface Durably {
  readonly flags: RunFlags;
  readonly options: PrintRunOptions;
}

async function durably(agent: AnyAgent, prompt: Question, { flags, options }: Durably): Promise<ExitCode> {
  const [{ runDurably }, { nameOfStore, openStore }] = await Promise.all([
    import("./run-durably.ts"),
    import("./run-store.ts"),
  ]);
  const { id, session, skill } = flags;
  const { ceiling, audit, format = "text", verbose = false } = options;
  await using store = await openStore(flags);
  return await runDurably(agent, {
    store,
    place: flags.store === undefined ? undefined : nameOfStore(flags),
    prompt,
    start: { id, session, skill, ceiling },
    audit,
    format,
    verbose,
  });
}

/**
 * `writ run <file> [prompt…]`.
 *
 * @throws WritError for everything that is wrong before the run begins: the options, the file, the prompt.
 */
export async function run(file: string, words: readonly string[], flags: RunFlags): Promise<ExitCode> {
  checkDurable(flags);
  const { skill, cap, file: paths = [], verbose = false } = flags;
  const load = agentLoader(file, flags);
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
  const agent = await load();
  const question = questionOf(prompt, files);
  if (flags.durable === true) return durably(agent, question, { flags, options });
  return printRun(agent, question, { ...options, model: agent.modelId });
}

type Question = string | readonly QuestionPart[];

function questionOf(prompt: string, files: readonly QuestionPart[]): Question {
  if (files.length === 0) return prompt;
  return prompt.trim() === "" ? files : [prompt, ...files];
}
