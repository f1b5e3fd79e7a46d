import type * as library from "yaml";
import type { Document } from "yaml";
import { messageOf } from "../../error/writ-error.ts";
import { isJsonObject, type JsonObject, parseJson, toJson } from "../../util/json.ts";

/** Fields read from a file, with their places. */
export interface Located {
  readonly ok: true;
  readonly fields: JsonObject;
  /** The line of a field, or of the nearest field around it. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

/** The fields, or the reason why there are none. */
export type ReadFields = Located | { readonly ok: false; readonly problem: Omit<Problem, "file"> };

/** A mistake in a text, with its place. */
interface Wrong {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [number, ...number[]];
}

/** A text and its format. */
export interface FieldsSource {
  readonly text: string;
  /** `strings`: YAML in which every plain value is text, as the Agent Skills specification requires. */
  readonly format: "json" | "yaml" | "strings";
  /** The line of the file at which the text begins. Default 1. */
  readonly firstLine?: number;
}

// An anchor may be used again, but a small file may not become a large value by that.
const maxAliases = 20;

/**
 * Reads the fields of an untrusted file. Never throws. It refuses tags of any kind except YAML's own plain ones, repeated keys,
 * aliases that multiply, deep nesting, and keys that change prototypes.
 */
export async function readFields({ text, format, firstLine = 1 }: FieldsSource): Promise<ReadFields> {
  const strict = format === "json" ? parseJson(text) : undefined;
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    schema: format === "strings" ? "failsafe" : "core",
    stringKeys: true,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "error",
    uniqueKeys: false, // the library compares each name with all others
  });
  // Valid JSON is accepted even if YAML finds a mistake in it; but JSON itself does not report repeated names.
  const wrong =
    (strict?.ok === true ? undefined : [...document.errors, ...document.warnings].at(0)) ??
    repeatedName(document, yaml);
  const line = wrong === undefined ? undefined : lines.linePos(wrong.pos[0]).line + firstLine - 1;
  if (strict?.ok === false) {
    const reason = `it is not JSON: ${strict.reason.replaceAll(/\s+/g, " ")}`;
    return { ok: false, problem: { line: jsonLine(reason) ?? line, reason } };
  }
  if (wrong !== undefined)
    return { ok: false, problem: { line, reason: reasonOf(wrong.code, wrong.message) } };
  const value = strict ?? plainValue(document);
  if (!value.ok) return { ok: false, problem: { line: firstLine, reason: value.reason } };
  if (!isJsonObject(value.value))
    return { ok: false, problem: { line: firstLine, reason: "it has no fields (`name: value`)" } };
  const lineOf: Located["lineOf"] = (path) => {
    const offset = offsetOf(document.contents, path, yaml);
    return offset === undefined ? undefined : lines.linePos(offset).line + firstLine - 1;
  };
  return { ok: true, fields: value.value, lineOf };
}

/** The first name that occurs twice in one map. */
function repeatedName(document: Document, { visit, isScalar }: typeof library): Wrong | undefined {
  let repeated: Wrong | undefined;
  visit(document, {
    Map: (_key, map) => {
      const names = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (names.has(key.value)) {
          repeated = { code: "DUPLICATE_KEY", message: "Map keys must be unique", pos: key.range ?? [0] };
          return visit.BREAK;
        }
        names.add(key.value);
      }
      return undefined;
    },
  });
  return repeated;
}

function plainValue(document: Document): ReturnType<typeof parseJson> {
  try {
    return toJson(document.toJS({ maxAliasCount: maxAliases }));
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

function reasonOf(code: string, message: string): string {
  if (code === "TAG_RESOLVE_FAILED") return `tags are refused: ${message}`;
  if (code === "RESOURCE_EXHAUSTION") return "it is nested too deep";
  return message;
}

/** The line in V8's error about JSON, which most mistakes have. */
function jsonLine(reason: string): number | undefined {
  const [, line] = /\(line (\d+) column \d+\)/.exec(reason) ?? [];
  return line === undefined ? undefined : Number(line);
}

/** The place in the text of the entry at a path, or of the nearest entry around it. */
function offsetOf(
  contents: unknown,
  path: readonly (string | number)[],
  { isMap, isNode, isScalar, isSeq }: typeof library,
): number | undefined {
  let node = contents;
  let offset: number | undefined;
  for (const step of path) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === step) : undefined;
    const at = isSeq(node) ? node.get(step, true) : pair?.key;
    if (!isNode(at)) break;
    offset = at.range?.[0] ?? offset;
    node = pair === undefined ? at : pair.value;
  }
  return offset;
}

/** One fault of a file. */
export interface Problem {
  /** The path of the file, as messages name it. */
  readonly file: string;
  /** The line from 1; left out if it is unknown. */
  readonly line?: number;
  /** The field, like `skills[0].name`. */
  readonly field?: string;
  readonly reason: string;
}

/** Problems for a message, one per line: `agents/a.md:4: tols: unknown`. */
export function problemLines(problems: readonly Problem[]): string {
  const lines = problems.map(({ file, line, field, reason }) => {
    const place = line === undefined ? file : `${file}:${line}`;
    return [place, ...(field === undefined || field === "" ? [] : [field]), reason].join(": ");
  });
  return lines.length === 1 ? lines.join("") : lines.map((line) => `\n  ${line}`).join("");
}

/** The two parts of a Markdown file. */
export interface FrontMatter {
  /** The YAML between the two lines of `---`. */
  readonly head: string;
  /** The text after them, without blank lines around it. */
  readonly body: string;
}

/** The line at which the head begins: the first line is the `---`. */
export const headLine = 2;

/** Splits a Markdown file, or says why it has no front matter. A line with only `---` ends the front matter; later such lines belong to the body. */
export function splitFrontMatter(text: string): FrontMatter | { readonly reason: string } {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null)
    return { reason: "it does not begin with front matter: a line `---`, fields, a line `---`" };
  const rest = text.slice(opening[0].length);
  const closing = /^---[ \t]*\r?$/m.exec(rest);
  if (closing === null) return { reason: "its front matter does not end: a line `---` is missing" };
  return {
    head: rest.slice(0, closing.index),
    body: rest.slice(closing.index + closing[0].length).trim(),
  };
}
