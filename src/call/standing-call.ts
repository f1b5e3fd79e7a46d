import type { Journal } from "../journal/journal.ts";
import type { ToolResult } from "../message/message.ts";
import type { Decision } from "../policy/decision.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import { pointerText } from "../schema/schema.ts";
import type { Tool } from "../tool/tool.ts";
import type { Maybe } from "../util/maybe.ts";
import type { KeptAnswer } from "./ask.ts";
import type { JudgedTimes } from "./call-time.ts";
import type { Batch, Call, CallRecord, Fate, KeptPowers } from "./call.ts";
import { deniedByPerson, skipped } from "./refused.ts";
import type { RunningBatch } from "./running.ts";
import { powersOf } from "./step.ts";

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

/** The decision about a call that did not run, and the result that the model read. It stands, even if today's code would run the call. */
export interface RefusalRecord extends KeptPowers {
  readonly result: ToolResult;
  /** Left out if nobody decided: something before it ended the calls of its turn. */
  readonly decision?: Decision;
  readonly judged?: JudgedTimes;
  /** The places at which its arguments do not fit the schema of its tool. Left out if they fit or are not JSON. */
  readonly faults?: readonly ArgumentFault[];
}

/** One fault in arguments. */
export interface ArgumentFault {
  /** The place, as a JSON Pointer: `/items/3/qty`; empty for the arguments as a whole. */
  readonly at: string;
  readonly message: string;
}

/** The longest text that such a record keeps: a reason may name every tool, or repeat a schema. */
const longest = 300;

/** The key of the record of a call that did not run, in place of the call's own key. */
function refusalKey(call: string): string {
  return `${call}/refused`;
}

/** The record of a call that did not run and has no record of its own. */
export function refusalIn(key: string, find: NonNullable<Journal["find"]>): RefusalRecord | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its batch wrote it
  return find(refusalKey(key)) as RefusalRecord | undefined;
}

/** Keeps why calls did not run, all at once. A call that a policy denied has a record of its own. */
export function keepRefusals(_done: unknown, running: RunningBatch): Maybe<unknown> {
  const { batch, fates, records } = running;
  const { run, turn } = batch;
  const steps = StepsOfRun.of(run.journal);
  if (steps === undefined || run.stop.reason !== undefined || running.brokenBy !== undefined)
    return undefined;
  const kept = fates.flatMap((fate, index) => {
    const result = records[index]?.result;
    const isKept = fate.type === "refused" ? fate.isDenied === true : result?.status !== "skipped";
    if (isKept || result === undefined) return [];
    return [{ key: refusalKey(`turn/${turn}/call/${index}`), value: recordOf(fate, result, batch) }];
  });
  return kept.length === 0 ? undefined : steps.keepBeside(kept).catch((error) => running.breakOff(error));
}

function recordOf(fate: Fate, result: ToolResult, { gate }: Batch): RefusalRecord {
  const decision = fate.type === "refused" ? (fate.decision ?? fate.askedBy) : undefined;
  const judged = fate.type === "refused" ? fate.judged : fate.at.times?.kept;
  const tool = gate.allowed.tools.get(fate.call.name);
  return {
    result: keptResult(result),
    ...(decision === undefined ? {} : { decision: { ...decision, reason: cut(decision.reason) } }),
    ...(judged === undefined ? {} : { judged }),
    ...(tool === undefined ? {} : powersOf(tool, gate)),
    ...faultsOf(fate),
  };
}

/** A result as such a record keeps it: whole if it is short. */
function keptResult(result: ToolResult): ToolResult {
  const { status, text } = result;
  return JSON.stringify(result).length <= 2 * longest ? result : { status, text: cut(text) };
}

function faultsOf(fate: Fate): Pick<RefusalRecord, "faults"> {
  const issues = fate.type === "refused" ? (fate.wrong?.issues ?? []) : [];
  if (issues.length === 0) return {};
  return {
    faults: issues.map(({ path, message }) => ({ at: cut(pointerText(path)), message: cut(message) })),
  };
}

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);
