import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Policy } from "../policy/decision.ts";
import { rulePolicyOf } from "../policy/rules/identity.ts";
import { ruleName } from "../policy/rules/verdict.ts";
import { type WrittenAt, writtenAt, writtenIn } from "../util/written-at.ts";

/** The places of rules by name: `policy.json:7`. Paths are relative to the folder of the process. */
export type RulePlaces = Readonly<Record<string, string>>;

/**
 * The places where the rules of a policy are written: in a JSON file beside the program, if the policy was made from its text; at the call of `allow()`,
 * `ask()`, `deny()` or `limit()`; otherwise where the policy was made. A policy that is a function has none.
 */
export async function rulePlaces(policy: Policy): Promise<RulePlaces> {
  const declared = rulePolicyOf(policy);
  const made = writtenAt(policy);
  if (declared === undefined || made === undefined) return {};
  const text = writtenIn(policy);
  const inText = text === undefined ? [] : await placesInText(text, made, declared.rules.length);
  const places = declared.rules.map((rule, index) => [
    ruleName(rule, index),
    inText[index] ?? placeText((text === undefined ? writtenAt(rule) : undefined) ?? made),
  ]);
  return Object.fromEntries(places);
}

/** The places of the last rules in a text; rules of a preset come before them, and are not in the text. */
async function placesInText(
  text: string,
  made: WrittenAt,
  count: number,
): Promise<readonly (string | undefined)[]> {
  const lists = memberLines(text);
  const lines = ["rules", "extraRules", "exceptions"].flatMap((field) => lists.get(field) ?? []);
  const file = await fileOf(text, made);
  const places = lines.map((line) =>
    file === undefined
      ? `line ${line} of the text that is read at ${placeText(made)}`
      : placeText({ file, line }),
  );
  return [...Array.from({ length: Math.max(0, count - lines.length) }, () => undefined), ...places];
}

/** The JSON file with exactly this text, beside the program or in the folder of the process. */
async function fileOf(text: string, { file }: WrittenAt): Promise<string | undefined> {
  for (const folder of new Set([dirname(pathOf(file)), process.cwd()])) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((each) => each.endsWith(".json"))) {
      const path = join(folder, name);
      const { size } = (await stat(path).catch(() => undefined)) ?? { size: -1 };
      if (size !== Buffer.byteLength(text)) continue;
      if ((await readFile(path, "utf8").catch(() => undefined)) === text) return path;
    }
  }
  return undefined;
}

const pathOf = (file: string): string => (file.startsWith("file:") ? fileURLToPath(file) : file);

function placeText({ file, line }: WrittenAt): string {
  const path = pathOf(file);
  const short = relative(process.cwd(), path);
  return `${short.startsWith("..") ? path : short}:${line}`;
}

/** The lines, from 1, at which the members of lists begin that are fields of a JSON object. The text must be valid JSON. */
export function memberLines(text: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const open: string[] = [];
  let [line, field, last] = [1, "", ""];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\n|[^\s"]/g)) {
    if (token === "\n") {
      line += 1;
      continue;
    }
    const isMember = open.length === 2 && open[1] === "[" && (last === "[" || last === ",");
    if (isMember && token !== "]") found.set(field, [...(found.get(field) ?? []), line]);
    if (token === "{" || token === "[") open.push(token);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":" && open.length === 1) field = String(JSON.parse(last));
    last = token;
  }
  return found;
}
