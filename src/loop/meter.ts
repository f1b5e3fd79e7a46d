import { charactersOf } from "../message/measure.ts";
import type { Message } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";

/**
 * Counts the characters of a transcript that grows from turn to turn: each message is measured once, and all again after old ones were taken
 * out. For estimates where a provider reports no usage.
 */
export function meter(): (transcript: ReadyTranscript) => number {
  let measured = 0;
  let characters = 0;
  let last: Message | undefined;
  return (transcript) => {
    const goesOn = measured === 0 || transcript.since(measured - 1)[0] === last;
    if (!goesOn) measured = characters = 0;
    for (const message of transcript.since(measured)) {
      characters += charactersOf(message);
      last = message;
    }
    measured = transcript.length;
    return characters;
  };
}
