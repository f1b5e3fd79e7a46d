import type { Message } from "./message.ts";
import { type ReadyTranscript, type Show, tipOf, type TranscriptJson } from "./transcript.ts";

/**
 * The same conversation with other messages in the place of some: for a model that is shown more, or less, than there is. Nothing can be added to it.
 * Each message is shown once, however often this is asked.
 */
export function shownAs(transcript: ReadyTranscript, show: Show): ReadyTranscript {
  return new ShownTranscript(transcript, show);
}

/** A class, since every turn makes one: members live once, on the prototype. */
class ShownTranscript implements ReadyTranscript {
  readonly state = "ready";
  private readonly transcript: ReadyTranscript;
  private readonly show: Show;

  constructor(transcript: ReadyTranscript, show: Show) {
    this.transcript = transcript;
    this.show = show;
  }

  get length(): number {
    return this.transcript.length;
  }

  get messages(): readonly Message[] {
    return this.since(0);
  }

  get characters(): number {
    return this.transcript.characters;
  }

  since(from: number): Message[] {
    const tip = tipOf(this.transcript);
    return tip.log.shownUpTo(tip.length, this.show).slice(from, tip.length);
  }

  toJSON(): TranscriptJson {
    return this.transcript.toJSON();
  }
}
