import { WritError } from "../error/writ-error.ts";
import { listAt, mapAt } from "../schema/keywords.ts";
import type { Schema } from "../schema/schema.ts";
import { isJsonObject, type Json } from "../util/json.ts";

/** A notation must say all that the tool needs, and nothing that it does not take. @throws WritError `definition-invalid` */
export function checkNotation(name: string, notation: string | undefined, { jsonSchema }: Schema): void {
  if (notation === undefined) return;
  const used = [...notation.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const properties = mapAt(jsonSchema, "properties");
  const required = listAt(jsonSchema, "required");
  const wrong =
    used.find((field, index) => !Object.hasOwn(properties, field) || used.indexOf(field) !== index) ??
    required.find((field) => !used.some((one) => one === field));
  const composite = used.find((field) => isComposite(properties[field]));
  const adjacent = notation.includes("}{");
  if (wrong === undefined && composite === undefined && !adjacent) return;
  const reason =
    wrong !== undefined
      ? `\`notation\` must name each argument once, as {name}; look at ${JSON.stringify(wrong)}.`
      : adjacent
        ? "`notation` must have something between two arguments."
        : `\`notation\` can only hold plain values, and "${String(composite)}" is a list or an object.`;
  throw new WritError("definition-invalid", { where: `Tool "${name}"`, reason });
}

function isComposite(schema: Json | undefined): boolean {
  return isJsonObject(schema) && (schema["type"] === "array" || schema["type"] === "object");
}
