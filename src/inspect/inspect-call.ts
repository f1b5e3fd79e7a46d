import type { CallRecord, KeptPowers } from "../call/call.ts";
import type { RefusalRecord } from "../call/standing-call.ts";
import type { WaitingQuestion } from "../durable/run-store.ts";
import type { ToolManifest } from "../agent/describe/manifest-data.ts";
import { contentText, type ToolCall, type ToolResult } from "../message/message.ts";
import type { Decision } from "../policy/decision.ts";
import { explain } from "../policy/study/explain.ts";
import { sameJson } from "../util/same-json.ts";
import type { Json } from "../util/json.ts";
import { bounded, boundedJson } from "./bounded.ts";
import { decidedAtOf, spansOf } from "./call-spans.ts";
import { neverRan } from "./never-ran.ts";
import type { CallFacts } from "./read-facts.ts";
import type { ReadRecords } from "./read-records.ts";
import type { CallState, InspectedCall, InspectedQuestion, InspectedResult } from "./view.ts";

/** Everything known of one call. */
export interface KnownCall {
  /** The place of the run inside that made it, followed by a slash; empty for the run itself. */
  readonly prefix: string;
  readonly turn: number;
  readonly index: number;
  readonly call: ToolCall;
  readonly records: ReadRecords;
  readonly facts?: CallFacts | undefined;
  readonly question?: WaitingQuestion | undefined;
  readonly tool?: ToolManifest | undefined;
  /** The time at which the model's reply ended. */
  readonly proposedAt: number;
  /** True if the run went past this turn, or ended: a call without a record did not run. */
  readonly isPast: boolean;
  /** The current time, for calls that go on. */
  readonly now: number;
}

/** Makes the view of one call. */
export function inspectCall(known: KnownCall): InspectedCall {
  const { prefix, turn, index, call, records, facts } = known;
  const key = `turn/${turn}/call/${index}`;
  const record = records.calls.get(key);
  const refusal = record === undefined ? records.refusals.get(key) : undefined;
  const answer = records.answers.get(`turn/${turn}/approval/${index}`);
  const question = questionOf(known);
  const ended = endOf(record, facts, refusal);
  const state = stateOf({ ...known, record, ended, hasBegun: records.calls.has(key), question });
  const { result, looks, delegations, hooked } = ended;
  return {
    key: `${prefix}${key}`,
    ...(prefix === "" ? {} : { within: prefix.slice(0, -1) }),
    callId: call.id,
    turn,
    index,
    tool: call.name,
    state,
    proposed: boundedJson(call.arguments),
    coerced: facts?.decided.flatMap(({ coerced = [] }) => coerced) ?? [],
    proposedAt: known.proposedAt,
    spans: spansOf({
      ...known,
      record,
      refusal,
      question,
      answer,
      state,
      hasWaited: records.waited.has(key),
    }),
    looks,
    delegations,
    ...present({
      status: result?.status,
      decidedAt: decidedAtOf({ record, refusal }),
      malformed: call.malformed,
      faults: refusal?.faults,
      judged: otherThan(call.arguments, judgedArguments(facts, question)),
      ...decisionOf(record ?? refusal, facts, question),
      question,
      ...declared(known, question),
      ...capabilitiesOf(known, record ?? refusal),
      label: result?.label,
      result: result && shownResult(result, record),
      hooked,
    }),
  };
}

/** The end of a call, from its record or from the facts of the run. */
interface EndOfCall extends Pick<InspectedCall, "looks" | "delegations" | "hooked"> {
  readonly result?: ToolResult;
}

function endOf(
  record: CallRecord | undefined,
  facts: CallFacts | undefined,
  refusal: RefusalRecord | undefined,
): EndOfCall {
  if (record !== undefined) return endKept(record, facts);
  const told = endTold(facts);
  return refusal === undefined || told.result !== undefined ? told : { ...told, result: refusal.result };
}

function endTold(facts: CallFacts | undefined): EndOfCall {
  if (facts === undefined) return { looks: [], delegations: [] };
  const { ended, looks, delegations, hooked } = facts;
  return {
    looks,
    delegations: delegations.map(({ delegation }) => delegation),
    ...present({ result: ended?.result, hooked: hooked?.by }),
  };
}

function endKept({ result, access = [], inside, by }: CallRecord, facts: CallFacts | undefined): EndOfCall {
  const text = facts?.ended?.result.text ?? result.text; // the fact has the text that the model was given
  return {
    looks: access,
    delegations: inside?.delegations ?? [],
    result: { ...result, text },
    ...present({ hooked: by }),
  };
}

function decisionOf(
  record: Pick<CallRecord, "decision"> | undefined,
  facts: CallFacts | undefined,
  question: InspectedQuestion | undefined,
): Pick<InspectedCall, "decision" | "explanation"> {
  const decision = record?.decision ?? facts?.decided.at(-1)?.decision ?? askedBy(question);
  return decision === undefined ? {} : { decision, explanation: explain(decision, "people") };
}

function declared(
  { tool }: KnownCall,
  question: InspectedQuestion | undefined,
): Pick<InspectedCall, "effect"> {
  if (tool !== undefined) return { effect: tool.effect };
  return question?.request === undefined ? {} : { effect: question.request.effect };
}

/** The needs of the tool, from the program or otherwise from the records, and the grants of the run, from the records. */
function capabilitiesOf(
  { tool }: KnownCall,
  kept: KeptPowers | undefined,
): Pick<InspectedCall, "needs" | "granted"> {
  return present({ needs: tool === undefined ? kept?.needs : tool.needs, granted: kept?.granted });
}

const otherThan = (proposed: Json, judged: Json | undefined): Json | undefined =>
  judged === undefined || sameJson(judged, proposed) ? undefined : boundedJson(judged);

/** The fields that are not undefined. */
function present<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: NonNullable<Fields[Key]> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same fields, without those that are undefined
  return Object.fromEntries(known) as { [Key in keyof Fields]?: NonNullable<Fields[Key]> };
}

interface StateParts extends Pick<KnownCall, "facts" | "isPast"> {
  readonly record: CallRecord | undefined;
  readonly ended: EndOfCall;
  readonly hasBegun: boolean;
  readonly question: InspectedQuestion | undefined;
}

function stateOf({ record, ended, hasBegun, question, facts, isPast }: StateParts): CallState {
  const { result } = ended;
  if (result !== undefined) return stateOfStatus(result.status, record !== undefined);
  if (question !== undefined && question.answer === undefined) return "waiting";
  if (hasBegun) return "open";
  const verdict = facts?.decided.at(-1)?.decision.verdict;
  return isPast || verdict === "deny" || question?.answer?.approved === false ? "refused" : "pending";
}

function stateOfStatus(status: string, hasRecord: boolean): CallState {
  if (status === "ok") return "done";
  if (status === "unknown") return "unknown";
  return neverRan.has(status) || (status === "cancelled" && !hasRecord) ? "refused" : "failed";
}

/** The arguments as they were last judged: corrected, or changed by a hook or a person. */
function judgedArguments(
  facts: CallFacts | undefined,
  question: InspectedQuestion | undefined,
): Json | undefined {
  return (
    facts?.ended?.arguments ??
    facts?.decided.at(-1)?.arguments ??
    question?.answer?.edited ??
    question?.request?.arguments
  );
}

/** The decision in a question, if nothing else is known of it. */
function askedBy(question: InspectedQuestion | undefined): Decision | undefined {
  if (question?.request === undefined) return undefined;
  const { rule, reason, label, intent } = question.request;
  return { verdict: "ask", rule, reason, evidence: { label, intent: intent.hash } };
}

function questionOf(known: KnownCall): InspectedQuestion | undefined {
  const { prefix, turn, index, records, facts, question } = known;
  const key = question?.key ?? `${prefix}turn/${turn}/approval/${index}`;
  const kept = records.answers.get(key.slice(prefix.length));
  const request = question?.request ?? facts?.asked?.request;
  if (request === undefined && kept === undefined) return undefined;
  return {
    key,
    ...present({
      request,
      since: question?.since,
      until: question?.until,
      by: question?.by,
      answer: kept && {
        approved: kept.approved,
        ...present({
          reason: kept.reason,
          by: kept.by,
          at: kept.at,
          edited: kept.edited,
          for: kept.for,
          expired: kept.expired,
        }),
      },
    }),
  };
}

/** A result as a page gets it: a value that the text tells whole is left out, because large ones would be sent twice. */
function shownResult(result: ToolResult, record: CallRecord | undefined): InspectedResult {
  const { text, value, note } = result;
  const isTold = value === undefined || contentText(value) === text;
  return {
    text: bounded(text),
    ...present({ value: isTold ? undefined : boundedJson(value), note, cut: record?.cut }),
  };
}
