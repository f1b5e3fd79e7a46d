import { assertNever } from "./assert-never.ts";
import { isCitation } from "./citation.ts";
import { type Json, maxJsonDepth, parseJson } from "./json.ts";

/** Reads JSON while it is written. */
export interface PartialJson {
  /** Takes the next piece of the text, cut wherever. Never throws. */
  push(text: string): void;
  /**
   * The value as far as it can be read; undefined before the first `{` or `[`. It is a snapshot: it never
   * changes afterwards, and its complete parts are the same objects in all later ones. Unchanged since the
   * last time, it is the same object. Inside a container with very many members it may be some pieces behind,
   * until the text is whole.
   */
  value(): Json | undefined;
}

/** An object or list that is not closed yet, with the members that are complete. */
interface Open {
  readonly members: Json[] | Record<string, Json>;
  /** The cost of a copy of the members. */
  effort: number;
  /** The name of the member that is being written, in an object. */
  key: string;
}

/**
 * The text that must come next. `root` skips everything up to a bracket. `first` looks at what follows the
 * bracket, since prose has brackets too. `broken`: the text cannot be JSON, and the value stays as it was.
 */
type Awaiting =
  | "root"
  | "first"
  | "value"
  | "key"
  | "colon"
  | "end"
  | "string"
  | "scalar"
  | "done"
  | "broken";

/**
 * Begins to read the first object or list of a text that comes in pieces. Text before it is skipped, and so is everything after it; only a number
 * in brackets, `[1]`, gives way to an object or list behind it, since it may be a citation. Texts
 * are given as far as they have come; numbers, `true`, `false` and `null` once they are complete. A comma too many before a closing bracket
 * does no harm. Members named `__proto__` are left out.
 *
 * All pushes and all values together take time that grows with the length of the text, however often a value is asked for. A value costs a
 * copy of the containers that are still open, and nothing of those that are closed.
 *
 * @example
 * ```ts
 * import { partialJson } from "writ/drivers";
 *
 * const reader = partialJson();
 * for (const piece of ['{"city": "Li', 'ma", "days"', ": 3}"]) {
 *   reader.push(piece);
 *   console.log(reader.value()); // { city: "Li" }, then { city: "Lima" }, then { city: "Lima", days: 3 }
 * }
 * ```
 */
export function partialJson(): PartialJson {
  const reader = new Reader();
  return {
    push(text) {
      reader.effortLeft += text.length * effortPerCharacter;
      for (let index = 0; index < text.length;) index = reader.read(text, index);
    },
    value: () => reader.snapshot(),
  };
}

/**
 * The copies that each character pays for, in members of lists: a list of a million numbers is not copied for
 * each of them.
 */
const effortPerCharacter = 32;
/** The same for a member of an object. */
const memberEffort = 4;

const blank = /\s/;
/** Scalars that are complete before anything follows. */
const literals: ReadonlySet<string> = new Set(["true", "false", "null"]);
/** The characters that may follow the bracket of an object, and of a list. */
const firstMarks: ReadonlyMap<string, RegExp> = new Map([
  ["{", /["}]/],
  ["[", /[[{"\-\dtfn\]]/],
]);

/** A class, since it lives as long as the text comes. */
class Reader {
  effortLeft = 0;
  private awaiting: Awaiting = "root";
  private bracket = "";
  private readonly open: Open[] = [];
  private root: Json | undefined;
  /** The string or scalar that is being written, as far as it has come. */
  private text = "";
  private lastUnit = 0;
  /** An escape in a string that is not complete: `\`, or `\u` with the digits that came. */
  private escape = "";
  private isKey = false;
  private shown: Json | undefined;
  private changed = false;

  /** Reads on from `index`; gives the index after what was read. */
  read(text: string, index: number): number {
    switch (this.awaiting) {
      case "root":
        return this.findRoot(text, index);
      case "first":
        return this.readFirst(text, index);
      case "string":
        return this.readString(text, index);
      case "scalar":
        return this.readScalar(text, index);
      case "done":
      case "broken":
        return text.length;
      case "value":
      case "key":
      case "colon":
      case "end":
        this.readMark(text[index] ?? "");
        return index + 1;
      default:
        return assertNever(this.awaiting);
    }
  }

  snapshot(): Json | undefined {
    const effort = this.changed ? this.open.reduce((sum, open) => sum + open.effort, 0) : Infinity;
    if (effort > this.effortLeft) return this.shown;
    this.effortLeft -= effort;
    this.changed = false;
    let inner: Json | undefined = this.openText();
    for (const around of this.open.toReversed()) inner = copyWith(around, inner);
    return (this.shown = inner ?? this.root);
  }

  /** The string that is being written as a value; half a surrogate pair at its end is held back. */
  private openText(): string | undefined {
    if (this.awaiting !== "string" || this.isKey) return undefined;
    // Not looked up in the text itself: V8 would copy it whole each time.
    const isHalf = this.lastUnit >= 0xd800 && this.lastUnit < 0xdc00;
    return isHalf ? this.text.slice(0, -1) : this.text;
  }

  private findRoot(text: string, from: number): number {
    const brackets = /[{[]/g;
    brackets.lastIndex = from;
    const match = brackets.exec(text);
    if (match === null) return text.length;
    [this.bracket] = match;
    this.awaiting = "first";
    return brackets.lastIndex;
  }

  private readFirst(text: string, index: number): number {
    const mark = text[index] ?? "";
    if (blank.test(mark)) return index + 1;
    if (firstMarks.get(this.bracket)?.test(mark) === true) this.begin(this.bracket);
    else this.awaiting = "root";
    return index;
  }

  private readMark(mark: string): void {
    if (blank.test(mark)) return;
    const { awaiting } = this;
    if (mark === "}" || mark === "]") this.close(mark);
    else if (awaiting === "colon" && mark === ":") this.awaiting = "value";
    else if (awaiting === "end" && mark === ",") this.awaiting = this.isInList() ? "value" : "key";
    else if (awaiting === "key" && mark === '"') this.beginString();
    else if (awaiting === "value") this.beginValue(mark);
    else this.fail();
  }

  private beginValue(mark: string): void {
    if (mark === '"') this.beginString();
    else if (mark === "{" || mark === "[") this.begin(mark);
    else if (/[-\dtfn]/.test(mark)) this.beginScalar(mark);
    else this.fail();
  }

  private begin(bracket: string): void {
    if (this.open.length >= maxJsonDepth) return this.fail();
    this.open.push({ members: bracket === "[" ? [] : {}, effort: 0, key: "" });
    this.awaiting = bracket === "[" ? "value" : "key";
    this.changed = true;
  }

  private close(bracket: string): void {
    const isList = bracket === "]";
    const isWhole = this.awaiting === "end" || this.awaiting === (isList ? "value" : "key");
    const last = isWhole && isList === this.isInList() ? this.open.pop() : undefined;
    if (last === undefined) this.fail();
    else this.settle(last.members);
  }

  /** A value is complete. */
  private settle(value: Json): void {
    const around = this.open.at(-1);
    this.changed = true;
    this.awaiting = around === undefined ? "done" : "end";
    if (around === undefined) {
      // Behind a citation, `[1]`, what is meant may still come.
      if (isCitation(value)) this.awaiting = "root";
      if (this.root === undefined || !isCitation(value)) this.root = value;
      return;
    }
    const { members, key } = around;
    around.effort += Array.isArray(members) ? 1 : memberEffort;
    if (Array.isArray(members)) members.push(value);
    else if (key !== "__proto__") members[key] = value;
  }

  private beginString(): void {
    this.isKey = this.awaiting === "key";
    this.awaiting = "string";
    this.text = "";
    this.lastUnit = 0;
    if (!this.isKey) this.changed = true;
  }

  private readString(text: string, from: number): number {
    if (this.escape !== "") return this.readEscape(text, from);
    const marks = /["\\]/g;
    marks.lastIndex = from;
    const match = marks.exec(text);
    this.write(text.slice(from, match?.index));
    if (match === null) return text.length;
    if (match[0] === "\\") this.escape = "\\";
    else this.endString();
    return marks.lastIndex;
  }

  private readEscape(text: string, index: number): number {
    this.escape += text[index] ?? "";
    const isLong = this.escape[1] === "u";
    if (isLong && this.escape.length < 6) return index + 1;
    const read = parseJson(`"${this.escape}"`);
    this.escape = "";
    if (read.ok && typeof read.value === "string") this.write(read.value);
    else this.fail();
    return index + 1;
  }

  private write(piece: string): void {
    if (piece === "") return;
    this.text += piece;
    this.lastUnit = piece.charCodeAt(piece.length - 1);
    if (!this.isKey) this.changed = true;
  }

  private endString(): void {
    const around = this.open.at(-1);
    if (!this.isKey) return this.settle(this.text);
    if (around !== undefined) around.key = this.text;
    this.awaiting = "colon";
  }

  private beginScalar(first: string): void {
    this.text = first;
    this.awaiting = "scalar";
  }

  private readScalar(text: string, from: number): number {
    const marks = /[^-+.\w]/g;
    marks.lastIndex = from;
    const end = marks.exec(text)?.index ?? text.length;
    this.text += text.slice(from, end);
    const isLiteral = this.text.length <= 5 && literals.has(this.text);
    if (end === text.length && !isLiteral) return end;
    const read = parseJson(this.text);
    if (read.ok && read.value !== undefined) this.settle(read.value);
    else this.fail();
    return end;
  }

  private isInList(): boolean {
    return Array.isArray(this.open.at(-1)?.members);
  }

  /** A list that breaks before its first member was no list: `[note]`. */
  private fail(): void {
    const [root] = this.open;
    const isProse = this.open.length === 1 && root?.effort === 0 && this.isInList();
    if (isProse) {
      this.open.pop();
      this.changed = true;
    }
    this.awaiting = isProse ? "root" : "broken";
  }
}

function copyWith({ members, key }: Open, inner: Json | undefined): Json {
  if (!Array.isArray(members))
    return inner === undefined || key === "__proto__" ? { ...members } : { ...members, [key]: inner };
  return inner === undefined ? members.slice() : members.concat([inner]); // one copy: a push would make another
}
