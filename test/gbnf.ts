import { assertNever } from "../src/util/assert-never.ts";

/**
 * A second reading of GBNF, apart from the compiler: tells whether a grammar writes a text, and writes texts at random.
 */
export interface Gbnf {
  matches(text: string): boolean;
  /** A text of the grammar by a random walk; `random` gives numbers from 0 to 1. Undefined when it grew too long. */
  sample(random: () => number): string | undefined;
}

type Node =
  | { readonly type: "text"; readonly characters: readonly string[] }
  | {
      readonly type: "class";
      readonly negated: boolean;
      readonly ranges: readonly (readonly [number, number])[];
    }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "sequence"; readonly parts: readonly Node[] }
  | { readonly type: "choice"; readonly options: readonly Node[] }
  | { readonly type: "repeat"; readonly of: Node; readonly least: number; readonly most: number };

/** Reads a grammar of one rule a line. @throws SyntaxError where it is none. */
export function readGbnf(grammar: string): Gbnf {
  const rules = new Map<string, Node>();
  for (const line of grammar.split("\n")) {
    const [, name, body] = /^([\w-]+) ::= (.*)$/.exec(line) ?? [];
    if (name === undefined || body === undefined) throw new SyntaxError(`no rule: ${line}`);
    if (rules.has(name)) throw new SyntaxError(`two rules ${name}`);
    rules.set(name, readRule(body));
  }
  const root = rules.get("root");
  if (root === undefined) throw new SyntaxError("no root");
  const find = (name: string): Node => {
    const node = rules.get(name);
    if (node === undefined) throw new SyntaxError(`no rule ${name}`);
    return node;
  };
  const least = leastLengths(rules);
  return {
    matches(text) {
      const characters = Array.from(text);
      return matcher(characters, find)(root, 0).has(characters.length);
    },
    sample: (random) => sample(root, { find, least, random }),
  };
}

interface Cursor {
  readonly body: string;
  at: number;
}

function readRule(body: string): Node {
  const cursor = { body, at: 0 };
  const whole = readChoice(cursor);
  if (cursor.at < body.length) throw new SyntaxError(`rest: ${body.slice(cursor.at)}`);
  return whole;
}

function blank(cursor: Cursor): void {
  while (cursor.body[cursor.at] === " ") cursor.at += 1;
}

function readChoice(cursor: Cursor): Node {
  const options = [readSequence(cursor)];
  for (blank(cursor); cursor.body[cursor.at] === "|"; blank(cursor)) {
    cursor.at += 1;
    options.push(readSequence(cursor));
  }
  const [only] = options;
  return options.length === 1 && only !== undefined ? only : { type: "choice", options };
}

function readSequence(cursor: Cursor): Node {
  const parts: Node[] = [];
  for (
    blank(cursor);
    cursor.at < cursor.body.length && !"|)".includes(cursor.body.charAt(cursor.at));
    blank(cursor)
  )
    parts.push(readCount(readAtom(cursor), cursor));
  return { type: "sequence", parts };
}

function readAtom(cursor: Cursor): Node {
  const { body, at } = cursor;
  if (body[at] === "(") {
    cursor.at += 1;
    const inner = readChoice(cursor);
    if (body[cursor.at] !== ")") throw new SyntaxError(`no ) at ${cursor.at}: ${body}`);
    cursor.at += 1;
    return inner;
  }
  if (body[at] === '"') return readText(cursor);
  if (body[at] === "[") return readClass(cursor);
  const name = /^[a-zA-Z][\w-]*/.exec(body.slice(at))?.[0];
  if (name === undefined) throw new SyntaxError(`unexpected ${body.slice(at, at + 10)}`);
  cursor.at += name.length;
  return { type: "rule", name };
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  "\\": "\\",
  '"': '"',
  "[": "[",
  "]": "]",
};

function readCharacter(cursor: Cursor): number {
  const rest = cursor.body.slice(cursor.at, cursor.at + 10);
  const escape = /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/.exec(rest);
  if (escape === null) {
    const code = rest.codePointAt(0) ?? 0;
    cursor.at += code > 0xffff ? 2 : 1;
    return code;
  }
  cursor.at += escape[0].length;
  const [, byte, short, long, sign = ""] = escape;
  const hex = byte ?? short ?? long;
  if (hex !== undefined) return Number.parseInt(hex, 16);
  const meant = escapes[sign];
  if (meant === undefined) throw new SyntaxError(`unknown escape ${escape[0]}`);
  return meant.codePointAt(0) ?? 0;
}

function readText(cursor: Cursor): Node {
  const characters: string[] = [];
  for (cursor.at += 1; cursor.body[cursor.at] !== '"';) {
    if (cursor.at >= cursor.body.length) throw new SyntaxError("open text");
    characters.push(String.fromCodePoint(readCharacter(cursor)));
  }
  cursor.at += 1;
  return { type: "text", characters };
}

function readClass(cursor: Cursor): Node {
  const { body } = cursor;
  cursor.at += 1;
  const negated = body[cursor.at] === "^";
  if (negated) cursor.at += 1;
  const ranges: [number, number][] = [];
  while (body[cursor.at] !== "]") {
    if (cursor.at >= body.length) throw new SyntaxError("open class");
    const from = readCharacter(cursor);
    const isRange = body[cursor.at] === "-" && body[cursor.at + 1] !== "]";
    if (isRange) cursor.at += 1;
    const to = isRange ? readCharacter(cursor) : from;
    if (to < from) throw new SyntaxError("a range that goes back");
    ranges.push([from, to]);
  }
  cursor.at += 1;
  return { type: "class", negated, ranges };
}

function readCount(of: Node, cursor: Cursor): Node {
  const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(cursor.body.slice(cursor.at, cursor.at + 20));
  if (match === null) return of;
  cursor.at += match[0].length;
  const [sign, from, comma, to] = match;
  if (sign === "*" || sign === "+" || sign === "?")
    return { type: "repeat", of, least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : Infinity };
  const least = Number(from);
  return { type: "repeat", of, least, most: comma === "" ? least : to === "" ? Infinity : Number(to) };
}

const isIn = (node: Extract<Node, { type: "class" }>, character: string | undefined): boolean => {
  const code = character?.codePointAt(0);
  return code !== undefined && node.ranges.some(([from, to]) => from <= code && code <= to) !== node.negated;
};

function matcher(
  characters: readonly string[],
  find: (name: string) => Node,
): (node: Node, start: number) => ReadonlySet<number> {
  const known = new Map<string, ReadonlySet<number>>();
  const open = new Set<string>();
  const ends = (node: Node, start: number): ReadonlySet<number> => {
    switch (node.type) {
      case "text":
        return node.characters.every((one, index) => characters[start + index] === one)
          ? new Set([start + node.characters.length])
          : new Set();
      case "class":
        return isIn(node, characters[start]) ? new Set([start + 1]) : new Set();
      case "rule":
        return named(node.name, start);
      case "sequence":
        return node.parts.reduce<ReadonlySet<number>>((starts, part) => all(part, starts), new Set([start]));
      case "choice":
        return new Set(node.options.flatMap((option) => [...ends(option, start)]));
      case "repeat":
        return repeated(node, start);
      default:
        return assertNever(node);
    }
  };
  const named = (name: string, start: number): ReadonlySet<number> => {
    const key = `${name} ${start}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    if (open.has(key)) throw new SyntaxError(`left recursion in ${name}`);
    open.add(key);
    const found = ends(find(name), start);
    open.delete(key);
    known.set(key, found);
    return found;
  };
  const repeated = (
    { of, least, most }: Extract<Node, { type: "repeat" }>,
    start: number,
  ): ReadonlySet<number> => {
    const found = new Set(least === 0 ? [start] : []);
    let at: ReadonlySet<number> = new Set([start]);
    for (let count = 1; count <= most && at.size > 0; count += 1) {
      at = all(of, at);
      if (count < least) continue;
      const isNew = [...at].some((end) => !found.has(end));
      for (const end of at) found.add(end);
      if (!isNew) break;
    }
    return found;
  };
  const all = (node: Node, starts: ReadonlySet<number>): ReadonlySet<number> =>
    new Set([...starts].flatMap((start) => [...ends(node, start)]));
  return ends;
}

/** How long the shortest text of each rule is, so that a walk that grew long can come to an end. */
function leastLengths(rules: ReadonlyMap<string, Node>): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (let changed = true; changed;) {
    changed = false;
    for (const [name, node] of rules) {
      const length = leastOf(node, known);
      if (length < (known.get(name) ?? Infinity)) {
        known.set(name, length);
        changed = true;
      }
    }
  }
  return known;
}

function leastOf(node: Node, known: ReadonlyMap<string, number>): number {
  if (node.type === "text") return node.characters.length;
  if (node.type === "class") return 1;
  if (node.type === "rule") return known.get(node.name) ?? Infinity;
  if (node.type === "sequence") return node.parts.reduce((sum, part) => sum + leastOf(part, known), 0);
  if (node.type === "choice") return Math.min(...node.options.map((option) => leastOf(option, known)));
  return node.least === 0 ? 0 : node.least * leastOf(node.of, known);
}

interface Walk {
  readonly find: (name: string) => Node;
  readonly least: ReadonlyMap<string, number>;
  readonly random: () => number;
}

const longWalk = 300;
const longestWalk = 20_000;

function sample(root: Node, { find, least, random }: Walk): string | undefined {
  let text = "";
  let steps = 0;
  const pick = (size: number): number => Math.min(size - 1, Math.floor(random() * size));
  const write = (node: Node): void => {
    steps += 1;
    if (steps > longestWalk) throw new RangeError("too long");
    const isLong = text.length > longWalk;
    if (node.type === "text") text += node.characters.join("");
    else if (node.type === "rule") write(find(node.name));
    else if (node.type === "class") text += characterOf(node, pick);
    else if (node.type === "sequence") for (const part of node.parts) write(part);
    else if (node.type === "choice") {
      const lengths = node.options.map((option) => leastOf(option, least));
      const shortest = lengths.indexOf(Math.min(...lengths));
      const chosen = node.options[isLong ? shortest : pick(node.options.length)];
      if (chosen !== undefined) write(chosen);
    } else {
      const more = isLong ? 0 : pick(Math.min(node.most - node.least, 4) + 1);
      for (let count = 0; count < node.least + more; count += 1) write(node.of);
    }
  };
  try {
    write(root);
    return text;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const likely = Array.from("aZ09 _-.é日😀\u007f\u2028");

function characterOf(node: Extract<Node, { type: "class" }>, pick: (size: number) => number): string {
  const common = likely.filter((character) => isIn(node, character));
  if (node.negated) return common[pick(common.length)] ?? "a";
  if (common.length > 0 && pick(3) === 0) return common[pick(common.length)] ?? "";
  const [from, to] = node.ranges[pick(node.ranges.length)] ?? [97, 97];
  return String.fromCodePoint(from + pick(to - from + 1));
}
