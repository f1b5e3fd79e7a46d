import { fileText } from "../message/file-part.ts";
import { trustedLabel } from "../message/label.ts";
import { filePart } from "../message/message-shape.ts";
import { type FilePart, contentText, type TextPart, type ToolResult } from "../message/message.ts";
import { describeIssues, type ParseResult } from "../schema/schema.ts";
import { isJsonList, isJsonObject, type Json, wholeJson } from "../util/json.ts";
import { fits } from "../util/shape.ts";
import { after, type Maybe } from "../util/maybe.ts";
import type { Tool } from "./tool.ts";
import { WithFiles, withoutFiles } from "./with-files.ts";
import { wrongResult } from "./wrong-values.ts";

// Register: the results whose text was written here from the whole of their value.
const wholes = new WeakSet<ToolResult>();

/** The value that the text of a result tells before it names files, and the length of its text. */
interface ToldValue {
  readonly value: Json;
  readonly length: number;
}

/**
 * The value that the text of a result tells whole; the text itself where there is no value. Undefined for the text of a failure, and for one that tells
 * another than the value. The value, which may be large, is written only for a result from elsewhere.
 */
export function toldBy(result: ToolResult): ToldValue | undefined {
  const { status, value, text, files = [] } = result;
  if (value === undefined) return status === "ok" ? { value: text, length: text.length } : undefined;
  const named = namesOf(files);
  const isTold = wholes.has(result) || contentText(value) + named === text;
  return isTold ? { value, length: text.length - named.length } : undefined;
}

/** The lines that name files, behind a text. */
function namesOf(files: readonly FilePart[]): string {
  return files.map((part) => `\n${fileText(part)}`).join("");
}

/** A successful result. A file, or a list of texts and files, is passed on part by part: for the model it is not a JSON value. */
export function okResult(value: Json, beside: readonly FilePart[] = []): ToolResult {
  if (typeof value !== "object" || !hasFile(value)) {
    const text = contentText(value) + (beside.length === 0 ? "" : namesOf(beside));
    const result: ToolResult = {
      status: "ok",
      text,
      value,
      ...(beside.length === 0 ? {} : { files: beside }),
    };
    if (typeof value === "object") wholes.add(result); // a text is compared in no time
    return result;
  }
  const parts = partsIn(value);
  if (parts === undefined) {
    const note = "A list with a file in it has texts and files alone. Return withFiles(value, files).";
    return { status: "error", text: "The tool gave files among other values.", note, label: trustedLabel };
  }
  const all = [...parts, ...beside];
  const text = all.map((part) => (part.type === "file" ? fileText(part) : part.text)).join("\n");
  return { status: "ok", text, files: all.filter((part) => part.type === "file") };
}

/** The result for a tool's value; `checked` is the outcome of its output schema. */
function resultOf(
  { name }: { readonly name: string },
  given: unknown,
  checked: ParseResult<unknown> | undefined,
): ToolResult {
  if (checked?.ok === false) {
    const note = describeIssues(checked.issues);
    return { status: "error", text: `${wrongResult(name)}.`, note, label: trustedLabel };
  }
  const beside = given instanceof WithFiles ? given : undefined;
  const value = beside === undefined ? given : beside.value;
  const json = wholeJson(checked === undefined ? value : checked.value);
  if (json.ok) return okResult(json.value, beside?.files);
  const text = `Tool '${name}' ran, but its result is not JSON.`;
  return { status: "error", text, note: json.reason, label: trustedLabel };
}

/** The result for a tool's value, checked against its output schema. */
export function checkResult(tool: Tool, given: unknown): Maybe<{ readonly result: ToolResult }> {
  const parsed = tool.output?.parse(withoutFiles(given));
  return after(parsed, (checked) => ({ result: resultOf(tool, given, checked) }));
}

function hasFile(value: Json): boolean {
  return isFile(value) || (Array.isArray(value) && value.some(isFile));
}

/** The parts of a value that is a file, or a list of texts and files. Undefined for any other value. */
function partsIn(value: Json): readonly (TextPart | FilePart)[] | undefined {
  const parts: (TextPart | FilePart)[] = [];
  for (const each of isJsonList(value) ? value : [value]) {
    if (isFile(each)) parts.push(each);
    else if (typeof each === "string") parts.push({ type: "text", text: each });
    else if (isJsonObject(each) && each["type"] === "text" && typeof each["text"] === "string")
      parts.push({ type: "text", text: each["text"] });
    else return undefined;
  }
  return parts;
}

function isFile(value: Json): value is Json & FilePart {
  return isJsonObject(value) && value["type"] === "file" && fits(filePart, value);
}
