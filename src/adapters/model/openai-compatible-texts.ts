import type { Delta } from "../../model/model.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { mediaTypeOf, readDataUrl } from "../../util/media.ts";
import { keptBy } from "./kept.ts";
import { soundReader } from "./openai-compatible-sound.ts";

/** Reads the parts of a reply beside its calls. */
export interface TextReader {
  /** True once the model has refused to answer. */
  readonly isRefusal: boolean;
  read(message: JsonObject): readonly Delta[];
  /** Returns the parts that are known only when the reply is whole: data of the reasoning, a sound, and sources that some servers repeat in each chunk. */
  end(citations?: Json): readonly Delta[];
}

/**
 * Reads text, reasoning and sources as servers write them. The reasoning becomes one part, with a note of the field that it came in: it goes
 * back to this server in the same field.
 */
export function textReader(server: string): TextReader {
  const details = new Map<string, JsonObject[]>();
  const sound = soundReader();
  let form: string | undefined;
  let isRefusal = false;

  function reasoning(name: string, text: Json | undefined): readonly Delta[] {
    if (!isText(text)) return [];
    const note = form === undefined ? { providerMetadata: keptBy(server, { form: name }) } : {};
    form ??= name;
    return [{ type: "reasoning-delta", block: "reasoning", text, ...note }];
  }

  /** Reads parts: some providers send the text as a list of parts, with the reasoning among them. */
  function parts(content: readonly Json[]): readonly Delta[] {
    return content.filter(isJsonObject).flatMap((part) => {
      const { thinking, type, text } = part;
      if (type === "text") return said(text);
      if (type !== "thinking") return [noted(server, "content", part)];
      if (!isJsonList(thinking)) return reasoning("thinking", thinking);
      return thinking.filter(isJsonObject).flatMap((thought) => reasoning("thinking", thought["text"]));
    });
  }

  return {
    get isRefusal() {
      return isRefusal;
    },
    read(message) {
      const { content, refusal, reasoning_content: thought } = message;
      isRefusal ||= isText(refusal);
      for (const name of detailFields) addDetails(details, name, message[name]);
      return [
        ...(isText(thought)
          ? reasoning("reasoning_content", thought)
          : reasoning("reasoning", message["reasoning"])),
        ...(isJsonList(content) ? parts(content) : said(content)),
        ...said(refusal),
        ...pictures(message["images"]),
        ...sound.read(message["audio"]),
        ...sourceFields.flatMap((field) => sources(server, field, message[field])),
      ];
    },
    end(citations) {
      const found = [...sound.end(), ...sources(server, "citations", citations)];
      const [first] = details;
      if (first === undefined) return found;
      const [name, list] = first;
      const kept = keptBy(server, { form: name, [name]: list });
      return [...found, { type: "reasoning-delta", block: "reasoning", text: "", providerMetadata: kept }];
    },
  };
}

/** The pictures that a model made, in OpenRouter's form. */
function pictures(images: Json | undefined): readonly Delta[] {
  if (!isJsonList(images)) return [];
  return images.filter(isJsonObject).flatMap(({ image_url: image }): Delta[] => {
    const url = isJsonObject(image) ? image["url"] : image;
    if (!isText(url)) return [];
    const { mediaType, data } = readDataUrl(url) ?? { mediaType: mediaTypeOf(url) ?? "image/*", data: url };
    return [{ type: "file", part: { type: "file", mediaType, data } }];
  });
}

/** The fields of a reply with the sources of its text, and the tools that the provider itself ran for it. They do not go back. */
const sourceFields = ["annotations", "citations", "executed_tools"] as const;

function sources(server: string, field: string, given: Json | undefined): readonly Delta[] {
  return isJsonList(given) ? given.map((source) => noted(server, field, source)) : [];
}

function noted(server: string, field: string, value: Json): Delta {
  return { type: "provider-part", part: { type: "provider", data: { type: field, server, value } } };
}

function said(text: Json | undefined): readonly Delta[] {
  return isText(text) ? [{ type: "text-delta", text }] : [];
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}

/** Fields of a reply whose lists have more of its reasoning than a text, such as signatures. OpenRouter has the first, LiteLLM the other. */
const detailFields = ["reasoning_details", "thinking_blocks"] as const;

/** Adds details of reasoning. A text may continue in the next chunk; everything else stays as it came. */
function addDetails(all: Map<string, JsonObject[]>, name: string, given: Json | undefined): void {
  const more = isJsonList(given) ? given.filter(isJsonObject) : [];
  if (more.length === 0) return;
  const details = all.get(name) ?? [];
  all.set(name, details);
  const last = details.at(-1);
  const [next, ...rest] = more;
  if (last === undefined || next === undefined || !goesOn(last, next)) details.push(...more);
  else details.splice(-1, 1, { ...last, ...withoutNulls(next), ...joined(last, next) }, ...rest);
}

function goesOn(last: JsonObject, next: JsonObject): boolean {
  const isSame = ["type", "index"].every((field) => last[field] === next[field]);
  const isOther = isGiven(last["id"]) && isGiven(next["id"]) && last["id"] !== next["id"];
  return isSame && !isOther && !isGiven(next["data"]) && !isGiven(last["signature"]);
}

function joined(last: JsonObject, next: JsonObject): JsonObject {
  const fields = ["text", "summary", "thinking"].map((field): [string, Json] => [
    field,
    [last[field], next[field]].filter((text) => typeof text === "string").join(""),
  ]);
  return Object.fromEntries(fields.filter(([, text]) => text !== ""));
}

function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== "";
}
