import { posix } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { type Node, nodesIn } from "./mutations.ts";
import type { SourceFile } from "./source-files.ts";

/** A statement of a file of declarations: the text before, between and after its parts. Only the parts that are reached stay. */
interface Statement {
  readonly before: string;
  readonly parts: readonly Part[];
  readonly after: string;
}

/** A declaration, or one name of an import or an export. */
interface Part {
  readonly name: string;
  readonly text: string;
  readonly needs: readonly Place[];
}

interface Place {
  readonly path: string;
  readonly name: string;
}

/**
 * The declarations that an entry leads to, in their files, with the comments above them: a user of the package comes to no others. They are indented by
 * tabs: the compiler writes four spaces.
 */
export function reachedTypes(entries: readonly string[], files: readonly SourceFile[]): SourceFile[] {
  const read = new Map(files.map((file) => [file.path, statementsOf(file)]));
  const named = new Map([...read].map(([path, statements]) => [path, partsByName(statements)]));
  const reached = new Set(entries.flatMap((path) => [...(named.get(path)?.values() ?? [])].flat()));
  for (const { needs } of reached)
    for (const { path, name } of needs)
      for (const part of named.get(path)?.get(name) ?? []) reached.add(part);
  return [...read]
    .map(([path, statements]) => ({ path, text: statements.map((one) => keptText(one, reached)).join("") }))
    .filter(({ text }) => text !== "");
}

function partsByName(statements: readonly Statement[]): ReadonlyMap<string, readonly Part[]> {
  const parts = statements.flatMap((statement) => statement.parts);
  return Map.groupBy(parts, ({ name }) => name);
}

function keptText({ before, parts, after }: Statement, reached: ReadonlySet<Part>): string {
  const kept = parts.filter((part) => reached.has(part)).map(({ text }) => text);
  return kept.length === 0 ? "" : before + kept.join(", ") + after;
}

function statementsOf({ path, text: written }: SourceFile): Statement[] {
  const typed = written.replaceAll(/^(?:import ".+"|export \{\});\n/gm, ""); // those give no types
  const text = typed.replaceAll(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
  const nodes = nodesIn(parseAst(text, { lang: "dts" }).body);
  return nodes.map((node, index) => {
    const begin = nodes[index - 1]?.end ?? 0;
    const specifiers = nodesIn(node["specifiers"]);
    const [first, last] = [specifiers.at(0), specifiers.at(-1)];
    if (first === undefined || last === undefined)
      return { before: text.slice(begin, node.start), parts: declared(node, path, text), after: "" };
    const parts = specifiers.map((specifier) => handedOn(specifier, sourceOf(node, path), text));
    return { before: text.slice(begin, first.start), parts, after: text.slice(last.end, node.end) };
  });
}

/** A declaration needs every name in it. */
function declared(node: Node, path: string, text: string): Part[] {
  const [declaration = node] = nodesIn(node["declaration"]);
  const given =
    declaration.type === "VariableDeclaration" ? nodesIn(declaration["declarations"]) : [declaration];
  const [name = ""] = given.map(({ id }) => nameOf(id));
  if (given.length > 1) throw new Error(`${path}: declare ${name} in a statement of its own`);
  const needs = [...namesIn(declaration)].map((needed) => ({ path, name: needed }));
  return [{ name, text: text.slice(node.start, node.end), needs }];
}

/** A name that is imported or re-exported needs its name in the file that it comes from. */
function handedOn({ start, end, local, imported, exported }: Node, from: string, text: string): Part {
  const needs = [{ path: from, name: nameOf(imported ?? local) }];
  return { name: nameOf(exported ?? local), text: text.slice(start, end), needs };
}

/** The file that a statement imports or re-exports from; its own file where it names none. */
function sourceOf(node: Node, path: string): string {
  const specifier = nodesIn(node["source"])[0]?.["value"];
  if (typeof specifier !== "string") return path;
  return posix.join(posix.dirname(path), specifier).replace(/\.(?:ts|js)$/, ".d.ts");
}

function nameOf(field: unknown): string {
  const [identifier] = nodesIn(field);
  return String(identifier?.["name"]);
}

function namesIn(node: Node, found = new Set<string>()): Set<string> {
  if (node.type === "Identifier") found.add(nameOf(node));
  for (const field of Object.values(node)) for (const inner of nodesIn(field)) namesIn(inner, found);
  return found;
}
