import type { ReportedResponse } from "../../message/message.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { reportedResponse } from "./wire-fields.ts";

/** Reads a server's data about its reply as a whole. */
export interface SaidReader {
  read(chunk: JsonObject, choice: JsonObject | undefined): void;
  /** Returns all of it, with the server's own reason for the end of the reply. */
  end(finishReason: string | undefined): ReportedResponse | undefined;
}

/** Fields of a chunk or of its choice that describe the reply as a whole. */
const fields = ["service_tier", "moderation", "stop_details"] as const;

/** Reads the id and the model of a reply, its logprobs, which come with the pieces of its text, and the fields above. */
export function saidReader(): SaidReader {
  const logprobs = new Map<string, Json[]>();
  let named: ReportedResponse | undefined;
  const kept: Partial<Record<(typeof fields)[number], Json>> = {};
  return {
    read(chunk, choice) {
      named ??= reportedResponse(chunk["id"], chunk["model"]);
      for (const name of fields) {
        const value = chunk[name] ?? choice?.[name];
        if (value !== undefined && value !== null) kept[name] = value;
      }
      if (isJsonObject(choice?.["logprobs"])) addLogprobs(logprobs, choice["logprobs"]);
    },
    end(finishReason) {
      const metadata = {
        ...(logprobs.size > 0 ? { logprobs: Object.fromEntries(logprobs) } : {}),
        ...kept,
      };
      const response = {
        ...named,
        ...(finishReason === undefined ? {} : { finishReason }),
        ...(Object.keys(metadata).length > 0 ? { metadata: { "openai-compatible": metadata } } : {}),
      };
      return Object.keys(response).length > 0 ? response : undefined;
    },
  };
}

function addLogprobs(before: Map<string, Json[]>, more: JsonObject): void {
  for (const field of ["content", "refusal"]) {
    const list = more[field];
    if (!isJsonList(list) || list.length === 0) continue;
    const said = before.get(field) ?? [];
    before.set(field, said);
    for (const each of list) said.push(each);
  }
}
