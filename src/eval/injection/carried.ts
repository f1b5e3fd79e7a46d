import { isJsonList, isJsonObject, type Json } from "../../util/json.ts";
import { fieldOf, type Leaf, leavesOf, replaced } from "./find-values.ts";
import type { SuiteCall } from "./suite.ts";

/**
 * A result with the attack in it: its goal and the values of its calls, each behind the name of its argument, stand at the end of the longest
 * text, where people write. In a list of plain texts, whose items anybody may add, they are items as well. A suite records its results with
 * these places empty; a policy that takes what such a result says for the user's choice would look safe.
 */
export function carrying(result: Json, goal: string, calls: readonly SuiteCall[]): Json {
  const text = [goal, ...calls.map(writtenOut)].join("\n");
  if (isJsonList(result) && result.every((item) => typeof item === "string"))
    return [...result, text, ...calls.flatMap(textsOf)];
  const place = longestText(result);
  if (place !== undefined && isJsonList(result)) {
    const told = replaced(result, place.path, `${String(place.value)}\n${text}`);
    const forged = forgedRecord(result[Number(place.path[0])], calls);
    return isJsonList(told) && forged !== undefined ? [...told, forged] : told;
  }
  if (place !== undefined) return replaced(result, place.path, `${String(place.value)}\n${text}`);
  if (isJsonList(result)) return [...result, text];
  return isJsonObject(result) ? { ...result, note: text } : text;
}

/** A record like another, with the values of the attack in the fields that are called like its arguments: undefined where none is. */
function forgedRecord(record: Json | undefined, calls: readonly SuiteCall[]): Json | undefined {
  if (!isJsonObject(record)) return undefined;
  const values = new Map(
    calls
      .flatMap(({ args }) => Object.entries(args))
      .concat(
        calls.flatMap(({ args }) =>
          leavesOf(args).map(({ path, value }): [string, Json] => [fieldOf(path), value]),
        ),
      ),
  );
  const fields = Object.entries(record);
  if (!fields.some(([name]) => values.has(name))) return undefined;
  return Object.fromEntries(fields.map(([name, value]) => [name, values.get(name) ?? value]));
}

function writtenOut({ tool, args }: SuiteCall): string {
  const values = leavesOf(args).map(({ path, value }) => `${fieldOf(path)}: ${String(value)}`);
  return `${tool} ${values.join(", ")}`;
}

function textsOf({ args }: SuiteCall): readonly string[] {
  return leavesOf(args).flatMap(({ value }) => (typeof value === "string" ? [value] : []));
}

function longestText(result: Json): Leaf | undefined {
  let longest: Leaf | undefined;
  for (const leaf of leavesOf(result))
    if (typeof leaf.value === "string" && leaf.value.length > String(longest?.value ?? "").length)
      longest = leaf;
  return longest;
}
