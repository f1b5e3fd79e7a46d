import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { randomFrom } from "./draw.ts";
import { valueOf } from "./propose.ts";
import { pick, type Drawn, type Random } from "./schedule.ts";
import type { World } from "./world.ts";

/** A deviation of a person, who otherwise says yes. `canClickTwice`: the question is in a store, where anybody can answer it, and again. */
export function drawAnswer(
  random: Random,
  request: ApprovalRequest,
  canClickTwice: boolean,
): Drawn | undefined {
  const ways = ["refuses", "keeps-silent", "answers-late", "edits"] as const;
  const more = ["answers-twice", "answers-another"] as const;
  const does = pick(random, canClickTwice ? [...ways, ...more, ...more] : ways);
  if (does === undefined) return undefined;
  if (does === "answers-late") return { does, ms: pick(random, [60_000, 86_400_000]) };
  if (does !== "edits") return { does };
  const { arguments: args } = request;
  if (!isJsonObject(args)) return undefined;
  const changed = Object.entries(args).map(([name, value]) => [
    name,
    typeof value === "number" ? value + 1 : value,
  ]);
  return { does, arguments: Object.fromEntries(changed) };
}

/** A deviation of those who send a signal that a tool waits for: it comes late, or never. */
export function drawSignal(random: Random): Drawn {
  if (random() < 0.5) return { does: "keeps-silent" };
  return { does: "answers-late", ms: pick(random, [60_000, 86_400_000]) ?? 60_000 };
}

/** The value of a signal: one that the schema of the wait takes, in most cases. */
export function signalValue(schema: JsonObject | undefined, world: World): Json {
  return schema === undefined ? null : valueOf(randomFrom(world.count("signal")), schema, []);
}
