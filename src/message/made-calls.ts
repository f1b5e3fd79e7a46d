import type { Json } from "../util/json.ts";
import { callsOf, type ResultStatus, sinceAsked } from "./message.ts";
import { type Transcript, withDropped } from "./transcript.ts";

/** A call that a run was asked to make, and how it ended. */
export interface MadeCall {
  readonly callId: string;
  /** The tool that the model named. */
  readonly name: string;
  /** As it ran, or as the model wrote them. */
  readonly arguments: Json;
  /** The model's arguments, where it ran with others. */
  readonly proposed?: Json;
  readonly status: ResultStatus;
  /** The text that the model was given in place of a value: why the call was denied, failed or did not run. Left out for `ok`. */
  readonly reason?: string;
}

/** The calls of the last run in a transcript, in their order; those that a compaction took out of it among them. */
export function callsMade(transcript: Transcript): readonly MadeCall[] {
  const made: MadeCall[] = [];
  const places = new Map<string, number>();
  for (const message of sinceAsked(withDropped(transcript))) {
    if (message.role === "assistant")
      for (const { id, name, arguments: args } of callsOf(message)) {
        places.set(id, made.length);
        made.push({ callId: id, name, arguments: args, status: "unknown" });
      }
    if (message.role !== "tool") continue;
    const { status, text, arguments: ran } = message;
    const place = places.get(message.callId);
    const call = place === undefined ? undefined : made[place];
    if (place === undefined || call === undefined) continue;
    const changed = ran === undefined ? {} : { arguments: ran, proposed: call.arguments };
    made[place] = { ...call, ...changed, status, ...(status === "ok" ? {} : { reason: text }) };
  }
  return made;
}
