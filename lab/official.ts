import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, parseJson } from "../src/util/json.ts";
import { type BfclCategory, categoryOf } from "./bfcl/categories.ts";
import type { Count } from "./replay-score.ts";

/**
 * Counts of the leaderboard's maintainers for a model with its own decoder: the first lines of
 * `score/<model>/<category>_score.json`. Figures that are missing or cannot be read are left out:
 * only a comparison depends on them.
 */
export function officialScores(folder: string, model: string): ReadonlyMap<BfclCategory, Count> {
  const found = new Map<BfclCategory, Count>();
  const path = join(folder, "score", model);
  for (const file of attempted(() => readdirSync(path)) ?? []) {
    const [, name = ""] = /^(?:BFCL_v\d+_)?(.+)_score\.json$/.exec(file) ?? [];
    const category = categoryOf(name);
    const text = attempted(() => readFileSync(join(path, file), "utf8"));
    if (category === undefined || text === undefined) continue;
    const count = countIn(text.slice(0, text.indexOf("\n") + 1 || text.length));
    if (count !== undefined) found.set(category, count);
  }
  return found;
}

function countIn(line: string): Count | undefined {
  const parsed = parseJson(line);
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { correct_count: right, total_count: outputs } = parsed.value;
  return typeof right === "number" && typeof outputs === "number" ? { outputs, right } : undefined;
}

function attempted<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
