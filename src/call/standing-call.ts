import type { Journal } from "../journal/journal.ts";
import type { Tool } from "../tool/tool.ts";
import type { KeptAnswer } from "./ask.ts";
import type { Call, CallRecord, Fate, PastRefusal } from "./call.ts";
import { deniedByPerson, skipped } from "./refused.ts";
import { keptResult, type RefusalRecord, refusalKey } from "./keep-refusals.ts";

/**
 * The records of a call that an earlier process made. They stand: a policy, an allow-list, a schema or a bound that says something else today
 * changes nothing of what has happened.
 */
export function standingOf(call: Call, { find, hasBegun }: Journal): Pick<Call, "before" | "refusal"> {
  const { key } = call;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
  const record = find?.(key) as CallRecord | undefined;
  if (record?.decision !== undefined) {
    const { decision } = record;
    const hasRun = decision.verdict !== "deny";
    return hasRun ? { before: { decision, hasRun } } : { before: { decision, hasRun }, refusal: record };
  }
  if (hasBegun?.(key) === true) return { before: { hasRun: true } };
  const refusal = find === undefined ? undefined : refusalOf(call, find);
  return refusal === undefined ? {} : { refusal };
}

/** Tells whether the author is heard about a call: as today's code says, but about one that stands where its record of that key is there alone. */
export function isHeard({ before, refusal, batch }: Call, key: () => string, today: boolean): boolean {
  const stands = before?.hasRun === true || refusal !== undefined;
  return stands ? batch.run.journal.find?.(key()) !== undefined : today;
}

/** The refusal of a call that has no record of its own. One that was left out stays so once its turn is over, and a person's no from when it was said. */
function refusalOf(
  { key, index, batch, proposed }: Call,
  find: NonNullable<Journal["find"]>,
): PastRefusal | undefined {
  const turn = `turn/${batch.turn}`;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its batch wrote it
  const kept = find(refusalKey(key)) as RefusalRecord | undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the question wrote it
  const answer = find(`${turn}/approval/${index}`) as KeptAnswer | undefined;
  const wasAsked = answer !== undefined;
  if (answer?.approved === false) return { result: deniedByPerson(proposed, answer), ...kept, wasAsked };
  const isHanded = find(`${turn}/executor`) !== undefined; // which has one record for all calls
  const isOver = !isHanded && find(`turn/${batch.turn + 1}/model`) !== undefined;
  const stands = isOver || (kept !== undefined && kept.result.status !== "skipped");
  return stands ? { ...kept, wasAsked } : undefined;
}

/** The fate of a call that did not run: the model was told that result, whatever is said of the call today. */
export function asRefused(today: Fate, refusal: PastRefusal): Fate {
  const { result, decision } = refusal;
  if (today.type === "refused") {
    const isSame = result === undefined || keptResult(today.result).text === keptResult(result).text; // a long one is kept in part
    return isSame ? today : { ...today, result };
  }
  const { proposed: call } = today.at;
  if (result === undefined) return skipped(call, "the run went on without it");
  return { type: "refused", call, result, ...(decision === undefined ? {} : { decision }) };
}

/** Stands in for the tool of a call that has run, where the agent does not have it any more. */
export function goneTool(name: string): Tool {
  return {
    name,
    description: "",
    input: { jsonSchema: {}, parse: (value) => ({ ok: true, value }) },
    effect: "undeclared",
    exclusiveKey: () => undefined,
    retry: "never",
    execute() {
      throw new Error(`the agent does not have the tool '${name}' any more`);
    },
  };
}
