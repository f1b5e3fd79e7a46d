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
  /** Where that stands which users can import under its name. None if they cannot. */
  readonly gives: readonly Place[];
}

interface Place {
  readonly path: string;
  readonly name: string;
}

/**
 * The declarations that an entry leads to, in their files, with the comments above them: a user of the package comes to no others. They are indented by
 * tabs: the compiler writes four spaces. An entry loads the others that have names of its types: the compiler writes the declarations of a user's
 * library with names of loaded files alone.
 */
export function reachedTypes(entries: readonly string[], files: readonly SourceFile[]): SourceFile[] {
  const read = new Map(files.map((file) => [file.path, statementsOf(file)]));
  const named: NamedParts = new Map([...read].map(([path, statements]) => [path, partsByName(statements)]));
  const namers = namersOf(entries, named);
  const reached = reachedFrom(entries, named);
  const classes = new Set(
    files.flatMap(({ text }) => [...text.matchAll(/\bclass (\w+)/g)].map(([, name]) => name)),
  );
  return [...read]
    .map(([path, statements]) => ({
      path,
      text: statements.map((one) => keptText(one, { reached, classes })).join(""),
    }))
    .filter(({ text }) => text !== "")
    .map(({ path, text }) => ({
      path,
      text: [...libraryOf(text), text, ...loadedBeside(path, namers)].join("\n"),
    }));
}

/** The compiler's library that a file needs beside those of an older target: a browser's program has none. */
function libraryOf(text: string): string[] {
  return text.includes("AsyncDisposable") ? ['/// <reference lib="esnext.disposable" />'] : [];
}

/** The parts of each file by their names. */
type NamedParts = ReadonlyMap<string, ReadonlyMap<string, readonly Part[]>>;

/** The parts that some files lead to. */
function reachedFrom(paths: readonly string[], named: NamedParts): Set<Part> {
  const reached = new Set(paths.flatMap((path) => partsOf(path, named)));
  for (const { needs } of reached) for (const next of partsAt(needs, named)) reached.add(next);
  return reached;
}

function partsOf(path: string, named: NamedParts): Part[] {
  return [...(named.get(path)?.values() ?? [])].flat();
}

function partsAt(places: readonly Place[], named: NamedParts): Part[] {
  return places.flatMap(({ path, name }) => named.get(path)?.get(name) ?? []);
}

/** The entries that have names of what each entry leads to. */
function namersOf(entries: readonly string[], named: NamedParts): ReadonlyMap<string, readonly string[]> {
  const given = new Map(
    entries.map((entry) => [entry, partsOf(entry, named).flatMap(({ gives }) => partsAt(gives, named))]),
  );
  return new Map(
    entries.map((entry) => {
      const reached = reachedFrom([entry], named);
      const names = (other: string): boolean => given.get(other)?.some((part) => reached.has(part)) === true;
      return [entry, entries.filter((other) => other !== entry && names(other))];
    }),
  );
}

/** The imports of the entries that an entry loads. Those that an earlier one of them loads are left out. */
function loadedBeside(entry: string, namers: ReadonlyMap<string, readonly string[]>): string[] {
  const imports: string[] = [];
  const loaded = new Set<string>();
  const entries = [...namers.keys()];
  for (const other of namers.get(entry) ?? []) {
    if (loaded.has(other)) continue;
    const path = posix.relative(posix.dirname(entry), other).replace(/\.d\.ts$/, ".js");
    imports.push(`import "${path.startsWith(".") ? path : `./${path}`}";`);
    // Later ones leave out what earlier ones load, never the other way round.
    if (entries.indexOf(other) < entries.indexOf(entry))
      for (const next of namers.get(other) ?? []) loaded.add(next);
  }
  return imports;
}

function partsByName(statements: readonly Statement[]): ReadonlyMap<string, readonly Part[]> {
  const parts = statements.flatMap((statement) => statement.parts);
  return Map.groupBy(parts, ({ name }) => name);
}

interface Kept {
  readonly reached: ReadonlySet<Part>;
  readonly classes: ReadonlySet<string | undefined>;
}

/** The text of a statement without unreached parts. It does not say of an interface that it is a type: only of a class, which would be a value too. */
function keptText({ before, parts, after }: Statement, { reached, classes }: Kept): string {
  const kept = parts
    .filter((part) => reached.has(part))
    .map(({ name, text }) => (classes.has(name) ? text : text.replace(/^type (?=\w+$)/, "")));
  return kept.length === 0 ? "" : before + kept.join(", ") + after;
}

function statementsOf({ path, text: written }: SourceFile): Statement[] {
  const typed = written
    .replaceAll(/^(?:import ".+"|export \{\});\n/gm, "") // those give no types
    .replaceAll(/^import type \{/gm, "import {");
  const text = typed.replaceAll(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
  const nodes = nodesIn(parseAst(text, { lang: "dts" }).body);
  return nodes.map((node, index) => {
    const begin = nodes[index - 1]?.end ?? 0;
    const specifiers = nodesIn(node["specifiers"]);
    const [first, last] = [specifiers.at(0), specifiers.at(-1)];
    if (first === undefined || last === undefined)
      return { before: text.slice(begin, node.start), parts: declared(node, path, text), after: "" };
    const parts = specifiers.map((specifier) => handedOn(specifier, node, { path, text }));
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
  const gives = node["declaration"] === undefined ? [] : [{ path, name }];
  return [{ name, text: text.slice(node.start, node.end), needs, gives }];
}

/** A name that is imported or re-exported needs its name in the file that it comes from. */
function handedOn(
  { start, end, local, imported, exported }: Node,
  statement: Node,
  { path, text }: SourceFile,
): Part {
  const needs = [{ path: sourceOf(statement, path), name: nameOf(imported ?? local) }];
  const gives = exported === undefined ? [] : needs;
  return { name: nameOf(exported ?? local), text: text.slice(start, end), needs, gives };
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
