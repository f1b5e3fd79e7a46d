import type { Message } from "./message.ts";
import { type ReadyTranscript, type Show, tipOf, type Tip, type TranscriptJson } from "./transcript.ts";

function shownUpTo({ log, length }: Tip, show: Show): readonly Message[] {
  log.shown ??= new Map();
  const shown = log.shown.get(show) ?? [];
  log.shown.set(show, shown);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a log has at least `length` messages
  while (shown.length < length) shown.push(show(log.messages[shown.length] as Message));
  return shown;
}

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
    return shownUpTo(tip, this.show).slice(from, tip.length);
  }

  toJSON(): TranscriptJson {
    return this.transcript.toJSON();
  }
}
