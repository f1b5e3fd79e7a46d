import { charactersOf } from "../message/measure.ts";
import type { ReadyTranscript } from "../message/transcript.ts";

/**
 * Counts the characters of a transcript that only grows: each message is measured once. For estimates where a provider reports no usage.
 */
export function meter(): (transcript: ReadyTranscript) => number {
  let measured = 0;
  let characters = 0;
  return (transcript) => {
    if (transcript.length < measured) measured = characters = 0; // it was compacted
    for (const message of transcript.since(measured)) characters += charactersOf(message);
    measured = transcript.length;
    return characters;
  };
}
