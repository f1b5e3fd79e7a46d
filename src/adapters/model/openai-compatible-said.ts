import type { ReportedResponse } from "../../message/message.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { reportedResponse } from "./wire-fields.ts";

/** Reads what a server says of its reply as a whole. */
export interface SaidReader {
  read(chunk: JsonObject, choice: JsonObject | undefined): void;
  /** All of it, with the server's own word for the end of the reply. */
  end(finishReason: string | undefined): ReportedResponse | undefined;
}

/** Reads the id and the model of a reply, its logprobs, which come with the pieces of its text, and the tier of service. */
export function saidReader(): SaidReader {
  const logprobs = new Map<string, Json[]>();
  let named: ReportedResponse | undefined;
  let tier: Json | undefined;
  return {
    read(chunk, choice) {
      named ??= reportedResponse(chunk["id"], chunk["model"]);
      tier = chunk["service_tier"] ?? tier;
      if (isJsonObject(choice?.["logprobs"])) addLogprobs(logprobs, choice["logprobs"]);
    },
    end(finishReason) {
      const metadata = {
        ...(logprobs.size > 0 ? { logprobs: Object.fromEntries(logprobs) } : {}),
        ...(tier === undefined || tier === null ? {} : { service_tier: tier }),
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
