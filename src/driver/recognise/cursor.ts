/**
 * A place in a text that readers move on. `work` is how many signs may still be looked at: on a text where much is tried in vain, reading ends
 * after a number of steps that grows with its length, so that it stays linear.
 */
export interface Cursor {
  readonly text: string;
  at: number;
  work: number;
  /** The place of the last line break: behind it there is not a comment, which ends with its line. */
  readonly lastBreak: number;
  /** The mendings on the way. */
  readonly repairs: Set<string>;
  /** The keys that stand twice in one object. */
  readonly twice: Set<string>;
}

/** A cursor at the beginning of a text. */
export function cursorOf(
  text: string,
  { repairs, twice }: Pick<Cursor, "repairs" | "twice"> = { repairs: new Set(), twice: new Set() },
): Cursor {
  return { text, at: 0, work: 40 * text.length + 4000, lastBreak: text.lastIndexOf("\n"), repairs, twice };
}

/** The text that a sticky pattern has where the cursor stands; the cursor moves behind it. Undefined when there is none. */
export function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text)?.[0];
  cursor.work -= 1 + (match?.length ?? 0);
  if (match !== undefined) cursor.at += match.length;
  return match;
}

/** The text before a sign, wherever that comes; the cursor moves behind the sign. Undefined when it never comes. */
export function takeUpTo(cursor: Cursor, sign: string): string | undefined {
  const { text, at } = cursor;
  const end = text.indexOf(sign, at);
  cursor.work -= (end === -1 ? text.length : end) - at;
  if (end === -1) return undefined;
  cursor.at = end + sign.length;
  return text.slice(at, end);
}

/** Moves behind the sign, if it is the next one. */
export function takeSign(cursor: Cursor, sign: string): boolean {
  cursor.work -= 1;
  if (!cursor.text.startsWith(sign, cursor.at)) return false;
  cursor.at += sign.length;
  return true;
}

/** Also line breaks that were escaped once too often. */
const blank = /(?:\s+|\\[nrt](?=[\s"'{}[\]\\]))+/y;
/** The heading of the turn of another, which a model goes on to write itself: it is not a comment. */
export const turnHeading: string = String.raw`#{2,}[ \t]*(?:Instruction|Response|User|Human|Question|Input|Output|Task)s?\b`;

const comment = new RegExp(String.raw`(?:(?!${turnHeading})#|\/\/)[^\n]*\n`, "y");

/** Moves over blanks and comments. */
export function skipBlanks(cursor: Cursor): void {
  do take(cursor, blank);
  while (cursor.at < cursor.lastBreak && take(cursor, comment) !== undefined);
}

/** Reads a value; when there is none, the cursor goes back to where it stood. */
export function attempt<T>(cursor: Cursor, read: (cursor: Cursor) => T | undefined): T | undefined {
  const { at } = cursor;
  const value = cursor.work > 0 ? read(cursor) : undefined;
  if (value === undefined) cursor.at = at;
  return value;
}
