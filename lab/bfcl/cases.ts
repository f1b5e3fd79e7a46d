import { readdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf, WritError, type WritErrorOptions } from "../../src/error/writ-error.ts";
import type { ToolDescription } from "../../src/model/model.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/util/json.ts";
import { type BrokenLine, type Lines, readLines } from "../read-lines.ts";
import { type BfclCategory, caseIdOf, categoryOf, ruleOf } from "./categories.ts";
import { toJsonSchema } from "./json-schema.ts";

/** A function as a case declares it, in BFCL's own types. */
export interface BfclFunction {
  readonly name: string;
  readonly required: readonly string[];
  readonly properties: JsonObject;
}

/** A right call, with the values that each argument may have. `""` among them: the argument may be left out. */
export interface BfclAnswer {
  readonly name: string;
  readonly arguments: Readonly<Record<string, readonly Json[]>>;
}

/** Messages of a case before the model replies. */
export interface BfclMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

/** One case of the leaderboard. */
export interface BfclCase {
  readonly id: string;
  readonly category: BfclCategory;
  readonly messages: readonly BfclMessage[];
  /** The functions as they are judged. */
  readonly functions: readonly BfclFunction[];
  /** The functions as a model is given them: with JSON Schema. */
  readonly tools: readonly ToolDescription[];
  /** Empty in the categories that have none. */
  readonly answers: readonly BfclAnswer[];
}

/** The cases of a category by their ids, in the order of the file. */
export type BfclCases = ReadonlyMap<string, BfclCase>;

/** Reads the cases of some categories, each once. */
export interface BfclFolder {
  /** The categories that the folder has cases for. */
  readonly categories: readonly BfclCategory[];
  /**
   * The cases of a category, without those that cannot be judged since their answer is missing.
   *
   * @throws WritError `option-invalid` when the folder has none, `file-unreadable`
   */
  read(category: BfclCategory): BfclCases;
}

/**
 * Opens a folder of BFCL's cases: files like `BFCL_v4_multiple.json`, and their answers under the same names in `possible_answer`. Lines that
 * cannot be used are told of when their category is read.
 *
 * @throws WritError `option-invalid` when it is no folder or has no file of cases.
 */
export function openCases(folder: string, onBroken: (line: BrokenLine) => void): BfclFolder {
  const files = filesIn(folder);
  const answerFiles = filesIn(join(folder, "possible_answer"), { optional: true });
  if (files.size === 0) {
    throw noCases(folder, "it has no file like BFCL_v4_multiple.json");
  }
  const read = new Map<BfclCategory, BfclCases>();
  return {
    categories: [...files.keys()],
    read(category) {
      let cases = read.get(category);
      if (cases !== undefined) return cases;
      const path = files.get(category);
      const answers = answerFiles.get(category);
      const needsAnswers = ruleOf(category) !== "none" && ruleOf(category) !== "some";
      if (path === undefined || (needsAnswers && answers === undefined)) {
        const missing = path === undefined ? "cases" : "answers";
        throw noCases(folder, `it has no ${missing} of the category ${category}`);
      }
      const { cases: found, broken } = casesOf(category, {
        path,
        answers: needsAnswers ? answers : undefined,
      });
      for (const line of broken) onBroken(line);
      read.set(category, (cases = found));
      return cases;
    },
  };
}

/** The files of cases in a folder. Of several versions of a category the last one counts. */
function filesIn(folder: string, { optional = false } = {}): ReadonlyMap<BfclCategory, string> {
  const found = new Map<BfclCategory, string>();
  for (const name of namesIn(folder, optional)) {
    const [, written = ""] = /^BFCL_v\d+_(.+)\.json$/.exec(name) ?? [];
    const category = categoryOf(written);
    if (category !== undefined) found.set(category, join(folder, name));
  }
  return found;
}

function namesIn(folder: string, optional: boolean): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (cause) {
    if (optional) return [];
    throw noCases(folder, messageOf(cause), { cause });
  }
}

function noCases(folder: string, reason: string, options?: WritErrorOptions): WritError {
  const advice =
    `There are no cases in ${folder}: ${reason}. Give a folder with the files of the Berkeley Function Calling ` +
    "Leaderboard, version 4, and with their answers in its folder `possible_answer`.";
  return new WritError("option-invalid", { option: "--cases", value: folder, advice }, options);
}

function casesOf(
  category: BfclCategory,
  { path, answers }: { readonly path: string; readonly answers: string | undefined },
): { readonly cases: BfclCases; readonly broken: readonly BrokenLine[] } {
  const lines = readLines(path);
  const answerLines = answers === undefined ? undefined : readLines(answers);
  const broken = [...lines.broken, ...(answerLines?.broken ?? [])];
  const known = answerLines === undefined ? undefined : answersIn(answerLines);
  const cases = new Map<string, BfclCase>();
  for (const { line, value } of lines.values) {
    const id = idOf(value, category);
    const found = known === undefined ? [] : known.get(id ?? "");
    const test =
      id === undefined || found === undefined ? undefined : caseOf(value, { id, category, answers: found });
    if (test !== undefined) cases.set(test.id, test);
    else
      broken.push({
        path,
        line,
        reason:
          id === undefined ? `it is no case of ${category}` : "it lacks an answer, a question or functions",
      });
  }
  return { cases, broken };
}

function idOf({ id }: JsonObject, category: BfclCategory): string | undefined {
  const read = typeof id === "string" ? caseIdOf(id) : undefined;
  return read?.category === category ? read.id : undefined;
}

function answersIn({ values }: Lines): ReadonlyMap<string, readonly BfclAnswer[]> {
  const found = new Map<string, readonly BfclAnswer[]>();
  for (const { value } of values) {
    const { id, ground_truth: truth } = value;
    if (typeof id !== "string" || !Array.isArray(truth)) continue;
    const answers = truth.flatMap((call: Json) => answerOf(call));
    if (answers.length > 0 && answers.length === truth.length) found.set(caseIdOf(id).id, answers);
  }
  return found;
}

function answerOf(call: Json): readonly BfclAnswer[] {
  const [entry] = isJsonObject(call) ? Object.entries(call) : [];
  if (entry === undefined || !isJsonObject(entry[1])) return [];
  const [name, given] = entry;
  const lists = Object.entries(given).map(([key, allowed]): [string, readonly Json[]] => [
    key,
    Array.isArray(allowed) ? allowed : [allowed],
  ]);
  return [{ name, arguments: Object.fromEntries(lists) }];
}

function caseOf(
  { question, function: declared }: JsonObject,
  about: Pick<BfclCase, "id" | "category" | "answers">,
): BfclCase | undefined {
  const functions: readonly Json[] = Array.isArray(declared) ? declared : [declared ?? null];
  const turns = Array.isArray(question) ? question : [];
  const messages = (Array.isArray(turns[0]) ? turns[0] : []).flatMap(messageIn);
  if (messages.length === 0 || !functions.every(isNamed)) return undefined;
  return { ...about, messages, functions: functions.map(functionOf), tools: functions.map(toolOf) };
}

function messageIn(message: Json): readonly BfclMessage[] {
  if (!isJsonObject(message)) return [];
  const { role, content } = message;
  if (typeof content !== "string" || (role !== "system" && role !== "user" && role !== "assistant"))
    return [];
  return [{ role, text: content }];
}

type Named = JsonObject & { readonly name: string };

function isNamed(declared: Json): declared is Named {
  return isJsonObject(declared) && typeof declared["name"] === "string";
}

function functionOf({ name, parameters }: Named): BfclFunction {
  const { required, properties } = isJsonObject(parameters) ? parameters : {};
  return {
    name,
    required: Array.isArray(required) ? required.map(String) : [],
    properties: isJsonObject(properties) ? properties : {},
  };
}

function toolOf({ name, description, parameters }: Named): ToolDescription {
  return {
    name,
    description: typeof description === "string" ? description : "",
    inputSchema: isJsonObject(parameters) ? toJsonSchema(parameters) : { type: "object" },
  };
}
