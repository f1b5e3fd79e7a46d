import { parseAst } from "rolldown/parseAst";
import { type Node, nodesIn } from "./mutations.ts";

/** Types that extend as far to the right as they can: beside `|` they need parentheses. */
const reachRight = new Set(["TSFunctionType", "TSConstructorType", "TSConditionalType", "TSInferType"]);

/**
 * Declarations whose optional fields also take `undefined`. Under `exactOptionalPropertyTypes` a caller could not pass on a value that may be undefined,
 * though writ treats it as left out.
 */
export function withUndefined(text: string): string {
  const inserts = optionalTypes(nodesIn(parseAst(text, { lang: "dts" }))).flatMap(({ type, start, end }) =>
    reachRight.has(type)
      ? [
          { at: start, what: "(" },
          { at: end, what: ") | undefined" },
        ]
      : [{ at: end, what: " | undefined" }],
  );
  let written = "";
  let done = 0;
  for (const { at, what } of inserts.toSorted((one, other) => one.at - other.at)) {
    written += text.slice(done, at) + what;
    done = at;
  }
  return written + text.slice(done);
}

/** The types of optional fields, those inside others too. */
function optionalTypes(nodes: readonly Node[]): Node[] {
  return nodes.flatMap((node) => {
    const isField = node.type === "TSPropertySignature" || node.type === "PropertyDefinition";
    const [type] = nodesIn(nodesIn(node["typeAnnotation"])[0]?.["typeAnnotation"]);
    const own = isField && node["optional"] === true && type !== undefined ? [type] : [];
    return [...own, ...optionalTypes(Object.values(node).flatMap(nodesIn))];
  });
}
