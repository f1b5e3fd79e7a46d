import { checkShape } from "../error/check-shape.ts";
import { either, number, string } from "../util/shape.ts";

/** The `exclusive` of a definition, and the key of the made tool that it may spread. */
interface Exclusive {
  readonly exclusive?: boolean | ((args: never) => string);
  readonly exclusiveKey?: (args: unknown) => string | undefined;
}

/** The key by which calls of a tool wait for each other, as its author gave it. */
export function exclusiveKeyOf(
  name: string,
  { exclusive, exclusiveKey }: Exclusive,
): (args: unknown) => string | undefined {
  if (exclusive === true) return () => name;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime gives it what the input schema parsed
  if (typeof exclusive === "function") return (args) => `${name}/${keyText(name, exclusive(args as never))}`;
  return exclusive === undefined && typeof exclusiveKey === "function" ? exclusiveKey : () => undefined;
}

const exclusiveShape = either(string, number);

/** The text of a key. Of all objects it would be the same one, so that calls wait for each other that need not. @throws WritError `definition-invalid` */
function keyText(name: string, key: unknown): string {
  checkShape(`The key that \`exclusive\` of the tool "${name}" gives`, key, exclusiveShape);
  return String(key);
}
