import { parseAst } from "rolldown/parseAst";
import type { SourceFile } from "./source-files.ts";

/** A small fault that can be put into a file: `text` replaces the text from `start` to `end`. */
export interface Mutation {
  readonly path: string;
  /** The first is 1. */
  readonly line: number;
  /** As `a < b → a <= b`, on one line. */
  readonly change: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A node of the syntax of a file. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** What a place becomes, and the place where it is not the whole node. */
interface Change {
  readonly node: Node;
  readonly text: string;
}

const otherOperator: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
};

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** The nodes in a field. */
export function nodesIn(field: unknown): readonly Node[] {
  if (Array.isArray(field)) return field.filter(isNode);
  return isNode(field) ? [field] : [];
}

/** A node whose parts can be asked for their text. */
interface Read {
  readonly node: Node;
  readonly part: (field: string) => string;
  readonly source: (node: Node) => string;
}

/** The texts that can replace a node, by its type. */
const replacements: Readonly<Record<string, (read: Read) => readonly string[]>> = {
  BinaryExpression({ node, part }) {
    const other = otherOperator[String(node["operator"])];
    return other === undefined ? [] : [`${part("left")} ${other} ${part("right")}`];
  },
  LogicalExpression: ({ part }) => [`(${part("left")})`, `(${part("right")})`],
  ConditionalExpression: ({ part }) => [`(${part("test")}) ? ${part("alternate")} : ${part("consequent")}`],
  UnaryExpression: ({ node, part }) => (node["operator"] === "!" ? [`(${part("argument")})`] : []),
  AwaitExpression: ({ part }) => [`(${part("argument")})`],
  ExpressionStatement({ node }) {
    const [inner] = nodesIn(node["expression"]);
    return /^(?:Call|Await|Assignment)Expression$/.test(inner?.type ?? "") ? ["void 0;"] : [];
  },
  AssignmentPattern: ({ part }) => [part("left")],
  Literal({ node: { value } }) {
    if (typeof value === "boolean") return [String(!value)];
    return typeof value === "number" ? [String(value + 1)] : [];
  },
};

/** The faults that a node can have. */
function changesOf(read: Read): readonly Change[] {
  const { node, part, source } = read;
  if (node.type === "CallExpression")
    return isCommutative.test(part("callee")) ? [] : swapped(nodesIn(node["arguments"]), source);
  if (node.type === "IfStatement")
    return nodesIn(node["test"]).flatMap((test) => [
      { node: test, text: "false" },
      { node: test, text: `!(${source(test)})` },
    ]);
  return (replacements[node.type]?.(read) ?? []).map((text) => ({ node, text }));
}

/** Functions whose result does not depend on the order of their arguments: another order is not a fault. */
const isCommutative = /^(?:Math\.(?:max|min)|addUsage|joinLabels|joinSecrecy|sameJson)$/;

/** Swaps the first two arguments of a call. */
function swapped(given: readonly Node[], source: (node: Node) => string): readonly Change[] {
  const [first, second] = given;
  if (first === undefined || second === undefined || source(first) === source(second)) return [];
  const both: Node = { type: "arguments", start: first.start, end: second.end };
  return [{ node: both, text: `${source(second)}, ${source(first)}` }];
}

/** Nodes that are not code when the program runs. */
const isTyping = /^(?:TS(?!AsExpression|SatisfiesExpression|NonNullExpression)|ImportDeclaration)/;

function oneLine(code: string): string {
  return code.replaceAll(/\s+/g, " ").slice(0, 70);
}

/** Every fault that a file can be given, in the order of the text. */
export function mutationsOf({ path, text }: SourceFile): Mutation[] {
  const found: Mutation[] = [];
  const source = ({ start, end }: Node): string => text.slice(start, end);
  const partOf =
    (node: Node) =>
    (field: string): string =>
      nodesIn(node[field]).map(source).join("");
  function visit(node: Node): void {
    if (isTyping.test(node.type)) return;
    for (const { node: place, text: changed } of changesOf({ node, part: partOf(node), source })) {
      const { start, end } = place;
      const line = text.slice(0, start).split("\n").length;
      const change = `${oneLine(source(place))} → ${oneLine(changed)}`;
      found.push({ path, line, change, start, end, text: changed });
    }
    for (const field of Object.values(node)) for (const inner of nodesIn(field)) visit(inner);
  }
  for (const statement of nodesIn(parseAst(text, { lang: "ts" }).body)) visit(statement);
  return found;
}
