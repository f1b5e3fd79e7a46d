import { accessSync, constants } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname } from "node:path";
import {
  chooseModel,
  isInstalled,
  lookAround,
  type ModelChoice,
  type Surroundings,
} from "../adapters/find-model.ts";
import { modelNamed } from "../adapters/model/resolve.ts";
import { type CardFile, listCards } from "../adapters/model-cards.ts";
import { enforcement, type Isolator } from "../adapters/isolate/isolate.ts";
import { cacheFolder, type ListedModel, listModelFiles } from "../adapters/model-files/cache.ts";
import { isWritError, type WritError } from "../error/writ-error.ts";
import { codeOf } from "../util/thrown.ts";
import { agentChecks } from "./doctor-agent.ts";
import type { Check } from "./doctor-check.ts";
import { type HostedFinding, keyCheck, lookAtHosted, nameChecks } from "./doctor-hosted.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { installedVersion } from "../adapters/peer.ts";
import { nodeIsNewEnough, oldestNode } from "../adapters/node-version.ts";
import type { OutputFlags } from "./options.ts";
import { jsonLine, oneLine, type Output, processOutput, sizeText } from "./output.ts";
import { packageVersion } from "./package-version.ts";
import { wrapped } from "./text-width.ts";

export type { Check } from "./doctor-check.ts";

/** Facts about the machine. */
export interface Findings {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly writ: string;
  readonly hasOllamaPackage: boolean;
  /** The versions of the packages of durable runs that are installed. */
  readonly packages: Readonly<Record<string, string | undefined>>;
  readonly around: Surroundings;
  readonly files: readonly ListedModel[];
  readonly cache: { readonly folder: string; readonly writable: boolean };
  /** Cards of models that were probed. */
  readonly cards: readonly CardFile[];
  /** The ways to isolate untrusted code on this machine, after trying them. */
  readonly isolators: readonly Isolator[];
  /** The hosted providers whose keys are set. */
  readonly hosted: readonly HostedFinding[];
}

/** The packages that durable runs on many machines need. */
const storePackages = [
  { name: "pg", purpose: "durable runs in PostgreSQL", command: "npm i pg" },
  {
    name: "@dbos-inc/dbos-sdk",
    purpose: "durable runs that DBOS hands out",
    command: "npm i @dbos-inc/dbos-sdk pg",
  },
] as const;

const knownKeys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/** Flags of `writ doctor`. */
export interface DoctorFlags extends OutputFlags {
  readonly model?: string;
}

/** `writ doctor [file]`. Changes nothing; exits with 1 only if something is broken that writ needs. */
export async function doctor(flags: DoctorFlags, file?: string): Promise<ExitCode> {
  const audited = file === undefined ? [] : await agentChecks(file);
  const named = flags.model === undefined ? [] : nameChecks(flags.model);
  const findings = await look();
  const choice = chooseModel(findings.around);
  const checks = [...checksOf(findings, choice), ...named, ...audited];
  const isOk = checks.every(({ state }) => state !== "broken");
  const model = choice.type === "none" ? null : { name: choice.name, fetched: choice.type === "ready" };
  if (flags.json === true)
    await processOutput.answer(jsonLine({ type: "doctor", ok: isOk, checks, model, why: choice.why }));
  else await processOutput.answer(checks.map((check) => checkText(check, processOutput)).join(""));
  return isOk ? exitCodes.answered : exitCodes.failed;
}

const ok = (name: string, text: string): Check => ({ name, state: "ok", text });
const note = (name: string, text: string, advice?: string): Check => ({ name, state: "note", text, advice });

/** Reports for each finding whether it is in order. */
export function checksOf(found: Findings, choice: ModelChoice): readonly Check[] {
  const { node, platform, cores, memoryBytes, writ, around, files, cache, cards, hosted } = found;
  const missingKeys = knownKeys.filter((key) => hosted.every((one) => one.key !== key));
  return [
    nodeCheck(node),
    ok("platform", `${platform}, ${cores} cores, ${sizeText(memoryBytes)} of memory`),
    ok("writ", `writ ${writ}`),
    found.hasOllamaPackage
      ? installed("ollama")
      : note("ollama", notInstalled("ollama", "models of an Ollama server"), "npm i ollama"),
    ...storePackages.map((each) => packageCheck(each, found.packages[each.name])),
    around.canEmbed
      ? installed("node-llama-cpp")
      : note(
          "node-llama-cpp",
          notInstalled("node-llama-cpp", "models inside the process"),
          "npm i node-llama-cpp",
        ),
    ollamaCheck(around.ollama),
    ...files.map(fileCheck),
    cache.writable
      ? ok("cache", `models are kept in ${cache.folder}`)
      : note("cache", `${cache.folder} cannot be written`, "set WRIT_CACHE to a folder that can"),
    ...cards.map(cardCheck),
    ...found.isolators.map(isolatorCheck),
    ...hosted.map(keyCheck),
    ...missingKeys.map((key) => note(key, `${key} is not set`)),
    modelCheck(choice, hosted),
  ];
}

function nodeCheck(node: string): Check {
  if (nodeIsNewEnough(node)) return ok("node", `Node ${node}`);
  const advice = `writ needs Node ${oldestNode} or newer: npm i -D node@24`;
  return { name: "node", state: "broken", text: `Node ${node} is too old`, advice };
}

function isolatorCheck({ mechanism, level, platform, probes, reason = "" }: Isolator): Check {
  const name = `isolation-${mechanism}`;
  if (level === "isolated")
    return ok(name, `${mechanism} holds: ${probes.length} ways out were tried, none is open`);
  const install = mechanism === "linux-bwrap" ? "apt install bubblewrap" : "npm i quickjs-emscripten";
  const remedy = reason.includes("not installed") ? install : undefined;
  const isElsewhere = mechanism === "linux-bwrap" && !platform.startsWith("linux");
  const advice = isElsewhere ? "isolatedTool needs Linux" : remedy;
  return note(name, `${mechanism} isolates nothing here: ${oneLine(reason)}`, advice);
}

function installed(name: string): Check {
  return ok(name, `package ${name} is installed`);
}

function packageCheck({ name, purpose, command }: (typeof storePackages)[number], version?: string): Check {
  if (version === undefined) return note(name, notInstalled(name, purpose), command);
  return ok(name, `package ${name} ${version} is installed`);
}

function notInstalled(name: string, purpose: string): string {
  return `package ${name} (${purpose}) is not installed`;
}

function ollamaCheck(ollama: Surroundings["ollama"]): Check {
  if ("why" in ollama) return note("ollama-server", ollama.why, "ollama serve, or set OLLAMA_HOST");
  const names = ollama.map(
    ({ name, capabilities }) => `${name}${capabilities?.includes("tools") === true ? " (tools)" : ""}`,
  );
  return names.length > 0
    ? ok("ollama-server", `Ollama has ${names.join(", ")}`)
    : note("ollama-server", "Ollama runs and has no models", "ollama pull qwen2.5:7b");
}

function fileCheck({ name, sizeBytes, licence, present, path }: ListedModel): Check {
  if (present) return ok(`model-file-${name}`, `model ${name} is in ${path}`);
  const text = `model ${name} is not fetched (${sizeText(sizeBytes)}, ${licence})`;
  return note(`model-file-${name}`, text, `writ models pull ${name}`);
}

function cardCheck(file: CardFile): Check {
  if (file.type === "ignored") {
    const advice = "it is ignored: delete it, or run writ probe again";
    return note("card", `${file.path} is not a card of a model: ${file.reason}`, advice);
  }
  const { model, driver, why, writ, date } = file.card;
  const text = `auto uses ${driver} with ${model}: writ probe ${writ} measured it on ${date} (${why})`;
  return ok(`card-${model}`, text);
}

function modelCheck(choice: ModelChoice, [usable]: readonly HostedFinding[]): Check {
  const advice =
    usable === undefined
      ? "writ demo needs none"
      : `${usable.key} is set: name a model with --model ${usable.name}/<model>, or in WRIT_MODEL`;
  if (choice.type === "none") return note("model", `no model: ${choice.why}`, advice);
  const wrong = choice.type === "ready" ? wrongName(choice.name) : undefined;
  if (wrong !== undefined)
    return note("model", `no model: ${choice.why}, and ${oneLine(wrong.message, 200)}`, wrong.hint);
  const fetched = choice.type === "fetch" ? ", and would be fetched first" : "";
  return ok("model", `the model to use here is ${choice.name}${fetched}: ${choice.why}`);
}

/** The error of a name by which no model can be asked here, because its provider is unknown or its package is not installed. */
function wrongName(name: string): WritError | undefined {
  try {
    modelNamed(name);
    return undefined;
  } catch (error) {
    if (isWritError(error)) return error;
    throw error;
  }
}

const styles = { ok: "green", note: "yellow", broken: "red" } as const;

/** The text of a check: its state, the finding, and advice below. On a terminal, lines are broken between words. */
function checkText({ state, text, advice }: Check, output: Output): string {
  const { styleAnswer, answersTerminal, screen } = output;
  const columns = answersTerminal && screen !== undefined ? screen.size().columns : Infinity;
  const lines = [`${styleAnswer(styles[state], state.padEnd(6))}  ${oneLine(text, 500)}`];
  if (advice !== undefined) lines.push(`        ${styleAnswer("dim", oneLine(advice, 500))}`);
  return lines.map((line) => `${wrapped(line, columns, 8)}\n`).join("");
}

async function look(): Promise<Findings> {
  const folder = cacheFolder();
  return {
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    writ: packageVersion(),
    hasOllamaPackage: isInstalled("ollama/browser"),
    packages: Object.fromEntries(storePackages.map(({ name }) => [name, installedVersion(name)])),
    around: await lookAround(),
    files: listModelFiles(),
    cache: { folder, writable: isWritable(folder) },
    cards: listCards(),
    isolators: await enforcement(),
    hosted: lookAtHosted(),
  };
}

/** True for a folder that can be written, or made if it does not exist. */
function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    const parent = dirname(folder);
    return codeOf(error) === "ENOENT" && parent !== folder && isWritable(parent);
  }
}
