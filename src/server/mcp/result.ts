import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { RunEnd } from "../../durable/run-store.ts";
import { contentText, type FilePart, type ToolResult } from "../../message/message.ts";
import { isAddress } from "../../util/media.ts";
import { isJsonObject, type Json } from "../../util/json.ts";

/** The result of a single call. */
export function callResult({ status, text, value, files = [] }: ToolResult): CallToolResult {
  if (status !== "ok") return failure(text);
  return { ...given(value), content: [{ type: "text", text }, ...files.flatMap(fileBlock)] };
}

/** The result of a run, with the files of its answer. */
export function runResult(
  { outcome, output }: Pick<RunEnd, "outcome" | "output">,
  files: readonly FilePart[] = [],
): CallToolResult {
  if (outcome.type === "answered") {
    const value = output ?? outcome.content;
    const text = contentText(value);
    return { ...given(value), content: [{ type: "text", text }, ...files.flatMap(fileBlock)] };
  }
  const code = "code" in outcome ? `${outcome.code}: ` : "";
  return failure(
    `The run is ${outcome.type} (${code}${"message" in outcome ? outcome.message : outcome.reason}).`,
  );
}

/** A result with the reason why there is none. */
export function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function given(value: Json | undefined): Pick<CallToolResult, "structuredContent"> {
  return value !== undefined && isJsonObject(value) ? { structuredContent: { ...value } } : {};
}

/** A file as a part of a result; a file that is only an address is named in the text instead. */
function fileBlock({ mediaType: mimeType, data }: FilePart): ContentBlock[] {
  if (data === "" || isAddress(data)) return [];
  if (mimeType.startsWith("image/")) return [{ type: "image", data, mimeType }];
  if (mimeType.startsWith("audio/")) return [{ type: "audio", data, mimeType }];
  return [{ type: "resource", resource: { uri: "writ://file", blob: data, mimeType } }];
}
