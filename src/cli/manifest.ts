import { readFile, writeFile } from "node:fs/promises";
import { decoded } from "../util/media.ts";
import { modelNamed } from "../adapters/model/resolve.ts";
import type { ManifestChange } from "../agent/describe/manifest-change.ts";
import { compareManifests } from "../agent/describe/manifest-compare.ts";
import type { AgentManifest } from "../agent/describe/manifest-data.ts";
import { manifestText } from "../agent/describe/manifest.ts";
import { messageOf, WritError } from "../error/writ-error.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { loadAgent, single } from "./load-agent.ts";
import type { OutputFlags } from "./options.ts";
import { countText, jsonLine, printable, processOutput, shellWord } from "./output.ts";
import { writing } from "./writing.ts";

/** The options of `writ manifest`, as they stand on the command line. */
export interface ManifestFlags extends OutputFlags {
  readonly write?: string;
  readonly check?: string;
  readonly tools?: string;
  readonly model?: string;
}

/**
 * `writ manifest <file>`: prints what the agent of a file may do, writes it to a file, or compares it with such a file.
 *
 * @throws WritError `manifest-widened` if the agent may do more than the file of `--check` says; `option-invalid` for a file that is not a manifest
 */
export async function manifest(file: string, flags: ManifestFlags): Promise<ExitCode> {
  const { write, check, tools, json = false } = flags;
  if (write !== undefined && check !== undefined) {
    const advice = "Give one of the two: a newly written manifest is not compared.";
    throw new WritError("option-invalid", { option: "--write", value: write, advice });
  }
  const model = flags.model === undefined ? undefined : modelNamed(flags.model);
  const baseline = check === undefined ? undefined : await readManifest(check);
  const loaded = single(await loadAgent(file, { tools, model }), "The manifest");
  const agent = model === undefined ? loaded : loaded.with({ model });
  const now = await agent.manifest();
  if (check !== undefined && baseline !== undefined)
    return printChanges(check, compared(check, baseline, now), json);
  if (write === undefined) await processOutput.answer(manifestText(now));
  else {
    await writing({ option: "--write", path: write }, () => writeFile(write, manifestText(now)));
    processOutput.progress(printable(`${write} says what ${now.agent} may do.\n`));
  }
  return exitCodes.answered;
}

/** Verdict of the whole comparison. */
function verdictOf(changes: readonly ManifestChange[]): "same" | "narrowed" | "changed" | "widened" {
  const has = (type: ManifestChange["type"]): boolean => changes.some((change) => change.type === type);
  if (has("widened")) return "widened";
  if (has("changed")) return "changed";
  return has("narrowed") ? "narrowed" : "same";
}

const summaries = {
  same: "The agent may do what {path} says, no more and no less.",
  narrowed: "The agent may do less than {path} says, and nothing else.",
  changed: "The agent differs from what {path} says, but may do no more.",
} as const;

async function printChanges(
  path: string,
  changes: readonly ManifestChange[],
  json: boolean,
): Promise<ExitCode> {
  const verdict = verdictOf(changes);
  const isWider = verdict === "widened";
  const lines = changes.map(({ type, path: place, text }) => `${type.padEnd(8)}  ${place}: ${text}`);
  const told = json
    ? jsonLine({ path, verdict, changes })
    : printable(lines.map((line) => `${line}\n`).join(""));
  await processOutput.answer(told);
  if (json) return isWider ? exitCodes.failed : exitCodes.answered;
  if (!isWider) {
    processOutput.progress(printable(`${summaries[verdict].replace("{path}", path)}\n`));
    return exitCodes.answered;
  }
  const count = changes.filter(({ type }) => type === "widened").length;
  throw new WritError("manifest-widened", { path, changes: countText(count, "change") });
}

function compared(path: string, baseline: AgentManifest, now: AgentManifest): readonly ManifestChange[] {
  try {
    return compareManifests(baseline, now);
  } catch (error) {
    throw noManifest(path, messageOf(error), error);
  }
}

async function readManifest(path: string): Promise<AgentManifest> {
  let text: string;
  try {
    text = decoded(await readFile(path));
  } catch (error) {
    throw noManifest(path, messageOf(error), error);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw noManifest(path, parsed.reason);
  const { value } = parsed;
  const fields = ["budget", "hooks", "policy", "servers", "skills"];
  if (!isJsonObject(value) || value["version"] !== 1 || !fields.every((field) => isJsonObject(value[field])))
    throw noManifest(path, "it is not what `writ manifest` prints");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `compareManifests` throws for a value that is not a manifest
  return value as unknown as AgentManifest;
}

function noManifest(path: string, reason: string, cause?: unknown): WritError {
  const advice = `It is not a manifest (${reason}). Write one: writ manifest <file> --write ${shellWord(path)}`;
  return new WritError("option-invalid", { option: "--check", value: path, advice }, { cause });
}
