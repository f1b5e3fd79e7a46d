/** The text of one piece. `stopped` is true after a stop sequence; nothing after it belongs to the reply. */
export interface WrittenPiece {
  readonly text: string;
  readonly stopped: boolean;
}

/** Turns tokens into text that can be shown at once. */
export interface TextWriter<Token> {
  /** Takes the next token and returns the text that is certain now: no half of a character, no beginning of a stop sequence. */
  push(token: Token): WrittenPiece;
  /** Returns the text that was held back. A character that the model left incomplete is dropped. */
  end(): string;
}

/** The most tokens of one character, which has at most four bytes. */
const maxTokensOfCharacter = 8;
const unfinished = "\uFFFD";

/**
 * Makes the writer of one reply. `detokenize` returns the text of tokens that follow others, with U+FFFD for bytes that are not a character (yet).
 */
export function textWriter<Token>(
  detokenize: (tokens: readonly Token[], before: readonly Token[]) => string,
  stopSequences: readonly string[],
): TextWriter<Token> {
  const stops = stopSequences.filter((stop) => stop !== "");
  const written: Token[] = [];
  let pending: Token[] = [];
  let held = "";
  const release = (text: string): WrittenPiece => {
    held += text;
    const at = firstStop(held, stops);
    if (at >= 0) {
      const before = held.slice(0, at);
      held = "";
      return { text: before, stopped: true };
    }
    const keep = lengthOfStopBeginning(held, stops);
    const free = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    return { text: free, stopped: false };
  };
  return {
    push(token) {
      pending.push(token);
      const text = detokenize(pending, written);
      if (text.endsWith(unfinished) && pending.length < maxTokensOfCharacter)
        return { text: "", stopped: false };
      written.push(...pending);
      if (written.length > maxTokensOfCharacter) written.splice(0, written.length - maxTokensOfCharacter);
      pending = [];
      return release(text);
    },
    end() {
      const rest = pending.length === 0 ? "" : detokenize(pending, written);
      const text = held + rest.replace(/\uFFFD+$/, "");
      held = "";
      pending = [];
      return text;
    },
  };
}

function firstStop(text: string, stops: readonly string[]): number {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
}

/** Counts the characters at the end that could begin a stop sequence. */
function lengthOfStopBeginning(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length;
    }
  }
  return longest;
}
