import { readdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf, WritError, type WritErrorOptions } from "../src/error/writ-error.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../src/util/json.ts";
import { type CaseId, caseIdOf } from "./bfcl/categories.ts";
import type { JudgedCall } from "./bfcl/judge.ts";
import { type BrokenLine, readLines } from "./read-lines.ts";

/** A model whose outputs were recorded. */
export interface RecordedModel {
  readonly name: string;
  /** The paths of its files of outputs. */
  readonly files: readonly string[];
}

/**
 * Output of a model for a case: text, or the calls that its provider had found already, with the names as the
 * provider takes them.
 */
export interface RecordedOutput {
  readonly case: CaseId;
  readonly output:
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "calls"; readonly calls: readonly JudgedCall[] };
}

const outputFile = /_result\.json$/;

/**
 * The models in a data folder, laid out as BFCL's maintainers publish their outputs: `result/<model>/<anything>_result.json`, also in
 * folders of the model's folder. A model without such files has no outputs.
 *
 * @throws WritError `option-invalid` when there are none.
 */
export function recordedModels(folder: string): readonly RecordedModel[] {
  const path = join(folder, "result");
  const names = modelsIn(folder);
  const models = names.flatMap((name): RecordedModel[] => {
    const files = readdirSync(join(path, name), { recursive: true })
      .map(String)
      .filter((file) => outputFile.test(file));
    return files.length === 0
      ? []
      : [{ name, files: files.toSorted().map((file) => join(path, name, file)) }];
  });
  if (models.length > 0) return models;
  const reason = names.length === 0 ? "it has no folders" : "no folder in it has a file of outputs";
  throw noOutputs(folder, reason);
}

function modelsIn(folder: string): string[] {
  try {
    const entries = readdirSync(join(folder, "result"), { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted();
  } catch (cause) {
    throw noOutputs(folder, messageOf(cause), { cause });
  }
}

/** An error that says why a data folder has no recorded outputs. */
export function noOutputs(folder: string, reason: string, options?: WritErrorOptions): WritError {
  const advice =
    `There are no recorded outputs in ${join(folder, "result")}: ${reason}. Give a folder with one folder a model in ` +
    "`result`, and in each files in JSON Lines whose names end in `_result.json`.";
  return new WritError("option-invalid", { option: "--data", value: folder, advice }, options);
}

/**
 * The outputs in a file.
 *
 * @throws WritError `file-unreadable`
 */
export function outputsIn(path: string): {
  readonly outputs: readonly RecordedOutput[];
  readonly broken: readonly BrokenLine[];
} {
  const lines = readLines(path);
  const broken = [...lines.broken];
  const outputs: RecordedOutput[] = [];
  for (const { line, value } of lines.values) {
    const { id, result } = value;
    const output = typeof id === "string" && result !== undefined ? outputOf(result) : undefined;
    if (typeof id === "string" && output !== undefined) outputs.push({ case: caseIdOf(id), output });
    else broken.push({ path, line, reason: "it has no id, or no result that is text or calls" });
  }
  return { outputs, broken };
}

/** In a list, objects are calls, `{name: arguments}`, and strings are the text around them. A result of null is empty text. */
function outputOf(result: Json): RecordedOutput["output"] | undefined {
  if (result === null) return { type: "text", text: "" };
  if (typeof result === "string") return { type: "text", text: result };
  const items: readonly Json[] = Array.isArray(result) ? result : [result];
  if (!items.every((item) => typeof item === "string" || isJsonObject(item))) return undefined;
  const calls = items.filter(isJsonObject).flatMap(callsIn);
  if (calls.length > 0) return { type: "calls", calls };
  return { type: "text", text: items.filter((item) => typeof item === "string").join("\n") };
}

function callsIn(item: JsonObject): readonly JudgedCall[] {
  return Object.entries(item).map(([name, given]) => {
    const parsed = typeof given === "string" ? parseJson(given) : undefined;
    return { name, arguments: parsed?.ok === true ? parsed.value : given };
  });
}
