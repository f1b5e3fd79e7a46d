import { isJsonObject, type Json } from "../../util/json.ts";

/** More of a description than this helps no model, and a stranger wrote it. */
const longestText = 2_000;

/** A description with its end cut off where it is too long. */
export function boundedText(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

/** The content of a result as text; undefined when there is none. Whatever else stands in it is named, and never makes this throw. */
export function contentText(content: Json | undefined): string | undefined {
  if (!Array.isArray(content)) return undefined;
  const lines = content.map(blockText);
  return lines.length === 0 ? undefined : lines.join("\n");
}

function blockText(block: Json): string {
  if (!isJsonObject(block)) return "[content]";
  const { type, text, mimeType, uri, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (isJsonObject(resource))
    return typeof resource["text"] === "string" ? resource["text"] : blockName(type, resource);
  return blockName(type, { mimeType, uri });
}

function blockName(type: Json | undefined, about: { readonly [field: string]: Json | undefined }): string {
  const words = [type ?? "content", about["mimeType"], about["uri"]];
  return `[${words.filter((word) => typeof word === "string").join(" ")}]`;
}
