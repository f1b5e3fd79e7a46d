import { parseAst } from "rolldown/parseAst";
import { type Node, nodesIn } from "./mutations.ts";
import type { SourceFile } from "./source-files.ts";

/**
 * The functions that V8 keeps in its old generation, with all that they can see, until a full collection: those that are written directly into a
 * field (`this.end = () => …`; V8's parser takes them for methods that live long), and getters of object literals. A constant between, or a class, avoids it.
 */
export function keptFunctions(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const found: string[] = [];
    function visit(node: Node): void {
      if (isKept(node)) found.push(`${path}:${text.slice(0, node.start).split("\n").length}`);
      for (const field of Object.values(node)) for (const inner of nodesIn(field)) visit(inner);
    }
    for (const statement of nodesIn(parseAst(text, { lang: "ts" }).body)) visit(statement);
    return found;
  });
}

function isKept(node: Node): boolean {
  if (node.type === "ObjectExpression") return nodesIn(node["properties"]).some(({ kind }) => kind === "get");
  if (node.type !== "AssignmentExpression") return false;
  const [[target], [value]] = [nodesIn(node["left"]), nodesIn(node["right"])];
  return target?.type === "MemberExpression" && /Function/.test(value?.type ?? "");
}
