import { checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { list, optional, shapeOf, string } from "../util/shape.ts";
import type { Principal } from "./callers.ts";

const where = "The principals of a server";

const principal = closed({
  name: shapeOf("letters, digits, `.`, `_` or `-`", (value) => /^[\w.-]{1,100}$/.test(String(value))),
  tokens: list(
    shapeOf("`sha256:` and 64 hexadecimal digits, as hashToken() makes it", (value) =>
      /^sha256:[\da-f]{64}$/.test(String(value)),
    ),
    "a list of hashes of tokens",
  ),
  agents: optional(list(string, "a list of names")),
});
const shape = list(principal, "a list of principals");

/** @throws WritError `definition-invalid` */
export function checkPrincipals(principals: readonly Principal[]): void {
  checkShape(where, principals, shape);
  const name = twice(principals.map((one) => one.name));
  if (name !== undefined) refuse(`two have the name "${name}".`);
  if (twice(principals.flatMap(({ tokens }) => tokens)) !== undefined) refuse("two have the same token.");
}

const twice = (texts: readonly string[]): string | undefined =>
  texts.find((text, place) => texts.indexOf(text) !== place);

function refuse(reason: string): never {
  throw new WritError("definition-invalid", { where, reason });
}
