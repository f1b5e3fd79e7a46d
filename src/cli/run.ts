import { appendFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { messageOf, WritError } from "../error/writ-error.ts";
import type { CapabilityLook } from "../event/capability-audit.ts";
import { parseCapabilities } from "../tool/capability.ts";
import type { ExitCode } from "./exit-code.ts";
import { type AgentFlags, agentLoader } from "./given-agent.ts";
import { type AnyAgent, checkFile } from "./load-agent.ts";
import { formatOf, type OutputFlags } from "./options.ts";
import { jsonLine, oneLine, type Output, processOutput } from "./output.ts";
import { printRun, type PrintRunOptions } from "./print-run.ts";
import { type QuestionPart, readFiles } from "./read-files.ts";

/** The options of `writ run`, as the command line has them. */
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
  const advice = "It applies to a run in a store: give `--durable` too.";
  throw new WritError("option-invalid", { option: `--${given}`, value: flags[given] ?? "", advice });
}

interface Durably {
  readonly flags: RunFlags;
  readonly options: PrintRunOptions;
}

async function durably(agent: AnyAgent, prompt: Question, { flags, options }: Durably): Promise<ExitCode> {
  const [{ runDurably }, { nameOfStore, openPlace }] = await Promise.all([
    import("./run-durably.ts"),
    import("./run-store.ts"),
  ]);
  const { id, session, skill } = flags;
  const { ceiling, audit, format = "text", verbose = false } = options;
  await using opened = await openPlace(flags);
  return await runDurably(agent, {
    store: opened.store,
    sessions: opened.sessions,
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

/**
 * The prompt: the words of the command line; or, without any or with `-` alone, all of the standard input. A terminal is read only if
 * `-` asks for it.
 *
 * @throws WritError `prompt-missing` if there is none, unless it `isOptional`: then it is empty.
 */
export async function readPrompt(
  words: readonly string[],
  input: Readable & { readonly isTTY?: boolean },
  { isOptional = false }: { readonly isOptional?: boolean } = {},
): Promise<string> {
  const wantsInput = words.length === 1 && words[0] === "-";
  const prompt =
    wantsInput || (words.length === 0 && input.isTTY !== true) ? await text(input) : words.join(" ");
  if (prompt.trim() === "" && !isOptional) throw new WritError("prompt-missing", {});
  return prompt.replace(/\r?\n$/, "");
}

/** The options of `writ run` that report looks at capabilities. */
interface AuditFlags {
  readonly audit?: boolean;
  readonly auditFile?: string;
}

/**
 * Prints each look on standard error (`--audit`) and adds it to a file as a line of JSON (`--audit-file`); undefined if neither is wanted.
 *
 * @throws WritError `option-invalid` for a file that cannot be written; the listener throws it if the file cannot be written later
 */
function auditWriter(
  { audit = false, auditFile }: AuditFlags,
  output: Output,
): ((look: CapabilityLook) => void) | undefined {
  if (!audit && auditFile === undefined) return undefined;
  if (auditFile !== undefined) append(auditFile, "");
  return (look) => {
    if (auditFile !== undefined) append(auditFile, jsonLine(look));
    if (audit) output.progress(`${lookText(look)}\n`);
  };
}

function lookText({ granted, resource, tool, agent, reason = "" }: CapabilityLook): string {
  const why = reason === "" ? "" : `: ${reason}`;
  return oneLine(`audit: ${granted ? "granted" : "denied"} ${resource} to ${tool} of ${agent}${why}`, 400);
}

/** Appends to a file. Only its owner can read a file that is made here. */
function append(file: string, text: string): void {
  try {
    appendFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    const advice = `Give a file that this process may write (${messageOf(cause)}).`;
    throw new WritError("option-invalid", { option: "--audit-file", value: file, advice }, { cause });
  }
}
