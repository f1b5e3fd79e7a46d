import type { Journal } from "../journal/journal.ts";
import type { Tool } from "../tool/tool.ts";
import type { KeptAnswer } from "./ask.ts";
import type { Call, CallRecord, Fate } from "./call.ts";
import { deniedByPerson, skipped } from "./refused.ts";
import { keptResult, refusalIn } from "./keep-refusals.ts";

/**
 * The records of a call that an earlier process made. They stand: a policy, an allow-list, a schema or a bound that differs today
 * changes nothing that has happened.
 */
export function standingOf(
  call: Call,
  { find, hasBegun }: Journal,
): Pick<Call, "before" | "refusal" | "isAnswered"> {
  const { key, index, batch } = call;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the question wrote it
  const answer = find?.(`turn/${batch.turn}/approval/${index}`) as KeptAnswer | undefined;
  const isAnswered = answer !== undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call wrote it
  const record = find?.(key) as CallRecord | undefined;
  if (record?.decision !== undefined) {
    const { decision } = record;
    const hasRun = decision.verdict !== "deny";
    return { before: { decision, hasRun }, isAnswered, ...(hasRun ? {} : { refusal: record }) };
  }
  if (hasBegun?.(key) === true) return { before: { hasRun: true }, isAnswered };
  const refusal = find === undefined ? undefined : refusalOf(call, answer, find);
  return refusal === undefined ? { isAnswered } : { refusal, isAnswered };
}

/** Tells whether the author's code is asked about a call: as today's code says, but for a call with a record, only if the journal has the answer's record. */
export function isHeard({ before, refusal, batch }: Call, key: () => string, today: boolean): boolean {
  const stands = before?.hasRun === true || refusal !== undefined;
  return stands ? batch.run.journal.find?.(key()) !== undefined : today;
}

/** The refusal of a call without a record of its own. A skipped call stays skipped once its turn is over; a person's no holds from when it was given. */
function refusalOf(
  { key, batch, proposed }: Call,
  answer: KeptAnswer | undefined,
  find: NonNullable<Journal["find"]>,
): Call["refusal"] {
  const kept = refusalIn(key, find);
  if (answer?.approved === false) return kept ?? { result: deniedByPerson(proposed, answer) };
  const isHanded = find(`turn/${batch.turn}/executor`) !== undefined; // the executor has one record for all calls
  const isOver = !isHanded && find(`turn/${batch.turn + 1}/model`) !== undefined;
  return isOver ? (kept ?? {}) : kept?.result.status === "skipped" ? undefined : kept;
}

/** The fate of such a call after a person was asked. It waits if the run had ended before anyone took the answer. */
export function asAnswered(fate: Fate, refusal: NonNullable<Call["refusal"]>): Fate {
  return fate.type === "ready" && fate.waits !== undefined ? fate : asRefused(fate, refusal);
}

/** The fate of a call that did not run: it keeps the result that the model was told, whatever today's code says. */
function asRefused(today: Fate, refusal: NonNullable<Call["refusal"]>): Fate {
  const { result, decision } = refusal;
  const isRefused = today.type === "refused";
  const call = isRefused ? today.call : today.at.proposed;
  if (result === undefined) return isRefused ? today : skipped(call, "the run went on without it");
  if (isRefused && keptResult(today.result).text === keptResult(result).text) return today; // a long text is kept only in part
  const { answers, inside } = today;
  const said = isRefused ? today.decision : undefined; // today's decision: a replay shows where it differs
  return { type: "refused", call, result, decision: said ?? decision, answers, inside };
}

/** The same fate, except if a person was asked and today's policy asks too: then the answer is told first. */
export function stillRefused(today: Fate, at: Call, refusal: NonNullable<Call["refusal"]>): Fate {
  const isAsked = at.isAnswered === true && today.type === "ready" && today.decision.verdict === "ask";
  return isAsked ? today : asRefused(today, refusal);
}

/** A stand-in for the tool of a call that has run, if the agent no longer has it. */
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
