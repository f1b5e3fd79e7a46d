import type { ApprovalRequest } from "../../policy/rules/approval-request.ts";
import { isJsonObject } from "../../util/json.ts";
import { pick, type Drawn, type Random } from "./schedule.ts";

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
