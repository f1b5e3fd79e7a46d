import { messageOf } from "../error/writ-error.ts";
import type { Fact } from "../event/event.ts";
import type { Warning } from "../journal/host.ts";
import type { Step } from "../journal/journal.ts";
import { mismatch } from "../journal/recorded-journal.ts";
import type { Label } from "../message/label.ts";
import type { ToolCall } from "../message/message.ts";
import type { CallRequest, Decision } from "../policy/decision.ts";
import { type ApprovalRequest, approvalRequest } from "../policy/rules/approval-request.ts";
import { fitsOpen } from "../policy/rules/judge-plan.ts";
import { type AnswerHere, type Approval, boundsOf } from "../run/approval.ts";
import { handedOver, RunWaits } from "../run/waits.ts";
import { describeIssues } from "../schema/schema.ts";
import { toSchema } from "../schema/to-schema.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { untilAborted, untilStopped } from "../util/interrupt.ts";
import { fieldMeant } from "../error/other-words.ts";
import { isJsonObject, type Json, type JsonObject, parseJson, wholeJson } from "../util/json.ts";
import {
  type Call,
  type Fate,
  type QuestionBehind,
  type Ready,
  type SetAnswer,
  withArguments,
} from "./call.ts";
import { cancelled, deniedByPerson } from "./refused.ts";
import { fingerprintOf } from "./step.ts";

export type PersonsAnswer = Pick<Approval, "approved" | "reason" | "for" | "free"> & {
  readonly edited?: JsonObject;
  readonly by?: string;
  /** True if nobody answered in time. */
  readonly expired?: true;
  /** The later calls, by their places in the reply, that get the same answer once. */
  readonly also?: readonly Pick<SetAnswer, "index" | "hash">[];
};

/** The call as a person changed it: it is still to be judged like any other. */
export interface Edited {
  readonly type: "edited";
  readonly call: ToolCall;
  readonly answers?: readonly SetAnswer[];
}

/**
 * The answer as the journal keeps it: with the hash of its call, and the times of the question and the answer, in milliseconds since 1970. `over`: it was
 * given in the run that this one is a fork of.
 */
export type KeptAnswer = PersonsAnswer & {
  readonly hash?: string;
  readonly since?: number;
  readonly at?: number;
  readonly over?: true;
};

/**
 * Asks a person about a call that the policy does not decide. With nobody to ask the answer is no; if the run is stopped meanwhile, the call is
 * cancelled.
 */
export async function askPerson(fate: Ready, at: Call): Promise<Fate | Edited> {
  const { run, turn } = at.batch;
  const { call, request } = fate;
  if (run.stop.reason !== undefined) return cancelled(call);
  const { id: callId, name } = call;
  const args = request.arguments;
  const question = approvalAbout(fate);
  const { hash } = question;
  if (isAgreed(fate, hash)) return fate;
  const place = { key: `turn/${turn}/approval/${at.index}`, fingerprint: () => fingerprintOf(call) };
  if (at.before !== undefined && run.journal.find?.(place.key) === undefined)
    return { ...fate, isOver: true }; // nobody was asked when the call began
  run.tell?.({ type: "approval-request", turn, callId, name, arguments: args, request: question });
  const refusedBecause = (reason: string): void =>
    run.tell?.({ type: "approval-answer", turn, callId, approved: false, reason });
  const answering = untilAborted(answerAt(place, question, fate), run.leaving, handedOver);
  const asking = answering.catch((error: unknown) => {
    if (error instanceof RunWaits) throw error;
    if (run.stop.reason !== undefined) return "stopped" as const;
    refusedBecause("the answer could not be recorded");
    throw error;
  });
  const asked = await untilStopped(asking, run.stop);
  if (asked === "stopped") {
    refusedBecause("the run was stopped");
    return cancelled(call);
  }
  if ("waitsAt" in asked) return { ...fate, waits: { key: asked.waitsAt, request: question } };
  const { hash: meant = hash, since: _since, at: _at, over, also = [], ...answer } = asked; // facts carry no time of day
  if (meant !== hash) throw mismatch(place.key, run.runId, ["arguments"]); // whatever differences the caller accepts
  run.tell?.({ type: "approval-answer", turn, callId, ...answer });
  const answered = fateAfter(answer, over === true ? { ...fate, isOver: true } : fate, question);
  return also.length === 0
    ? answered
    : { ...answered, answers: also.map((one) => ({ ...one, ...onceAs(answer) })) };
}

/** An answer for another call than the one it was given for: yes or no, once. */
function onceAs({ approved, reason }: PersonsAnswer): Pick<SetAnswer, "approved" | "reason"> {
  return reason === undefined ? { approved } : { approved, reason };
}

/** The fate of a call after a person was asked about it. */
function fateAfter(answer: PersonsAnswer, fate: Ready, { hash }: ApprovalRequest): Fate | Edited {
  const { call } = fate;
  if (!answer.approved) {
    return { type: "refused", call, result: deniedByPerson(call, answer), askedBy: fate.decision };
  }
  if (answer.edited !== undefined) return { type: "edited", call: withArguments(call, answer.edited) };
  if (fate.isOver === true) return fate;
  return answer.for === "run" ? { ...fate, approvedAs: approvedAs(fate, hash, answer.free) } : fate;
}

/** True if a person already said yes to exactly this call: for the rest of the run, or in a plan. */
function isAgreed(fate: Ready, hash: string): boolean {
  const { approved = [], batch } = fate.at;
  if (isApproved(approved, fate, hash)) return true;
  return batch.gate.plan !== undefined && fate.request.knows.plan?.act?.by === "person";
}

/** Asks a person of this process, or, if nobody here answers and the run can wait in its journal, a person anywhere. */
async function answerAt(
  place: Pick<Step<KeptAnswer>, "key" | "fingerprint">,
  request: ApprovalRequest,
  fate: Ready,
): Promise<KeptAnswer | { readonly waitsAt: string }> {
  const { run } = fate.at.batch;
  const { journal, approve } = run;
  if (approve !== undefined || journal.ask === undefined || answerAhead(fate.at, request.hash) !== undefined)
    return journal.step({ ...place, run: () => answerInTime(request, fate), mustLast: true });
  const asked = await journal.ask<KeptAnswer>({
    ...place,
    ...boundsOf(request, run.approvals),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request is plain data
    request: request as unknown as Json,
  });
  return "answer" in asked ? asked.answer : asked;
}

/** @throws if the run was stopped or handed over before the answer came: the journal may not keep one then */
async function answerInTime(request: ApprovalRequest, fate: Ready): Promise<KeptAnswer> {
  const { run } = fate.at.batch;
  const since = run.host.now();
  const ahead = answerAhead(fate.at, request.hash);
  const answer = ahead === undefined ? await answerOf(request, fate) : onceAs(ahead);
  if (run.stop.reason !== undefined) throw new Error("the run was stopped before the answer came");
  if (run.leaving?.aborted === true) throw handedOver();
  return run.approve === undefined ? answer : { ...answer, since, at: run.host.now() };
}

async function answerOf(request: ApprovalRequest, fate: Ready): Promise<PersonsAnswer> {
  const { approve, host } = fate.at.batch.run;
  if (approve === undefined) {
    host.warn?.(nobodyToAsk(request));
    const why = request.reason === "" ? "" : ` (${request.reason})`;
    return { approved: false, reason: `it needs an approval${why}, and there is nobody to ask` };
  }
  try {
    const behind = fate.at.behind?.(fate) ?? [];
    const others = behind.map((one) => one.request);
    const answer = (await approve(request, others)) as boolean | AnswerHere | undefined | null; // plain JavaScript can return nothing
    if (typeof answer === "boolean") return { approved: answer };
    if (answer === undefined || answer === null)
      return { approved: false, reason: "the answer was nothing at all" };
    if (typeof (answer.approved as unknown) !== "boolean")
      return {
        approved: false,
        reason: "the answer was neither true nor false, nor an object whose `approved` is",
      };
    const other = Object.keys(answer).find((field) => !answerFields.includes(field)); // may be an edit under a wrong name
    if (other !== undefined) {
      const near =
        fieldMeant(other, { known: answerFields, given: answer }) || `; known are ${answerFields.join(", ")}`;
      return { approved: false, reason: `the answer has the unknown field ${JSON.stringify(other)}${near}` };
    }
    const also = answeredAlong(answer, behind);
    if (typeof also === "string") return { approved: false, reason: also };
    const read = readAnswer(answer, request);
    return also.length === 0 ? read : { ...read, also };
  } catch (error) {
    return { approved: false, reason: `asking failed: ${messageOf(error)}` };
  }
}

const answerFields: readonly string[] = Object.keys({
  approved: true,
  for: true,
  free: true,
  arguments: true,
  reason: true,
  also: true,
} satisfies Record<keyof AnswerHere, true>);

/** The warning that a call was denied for want of a person: the run may answer as if the call had been made, so its author must hear of it. */
function nobodyToAsk({ agent, tool, reason }: ApprovalRequest): Warning {
  const text = `Agent "${agent}" was denied the call of "${tool}": ${reason}, which needs an approval, and the run has no \`approve\`. Give it one, \`run(input, { approve })\`, or a policy that allows the call; \`result.calls\` says what was denied.`;
  return { code: "WRIT_NO_APPROVER", text, isDeprecation: false };
}

/**
 * Reads the answer of a plain JavaScript function, which can be anything: only `true` is a yes, only an object replaces arguments, and only arguments that
 * the question lists can be left open.
 */
export function readAnswer(answer: Approval, { open }: Pick<ApprovalRequest, "open"> = {}): PersonsAnswer {
  const { approved, reason, arguments: given, free } = answer;
  const why = typeof reason === "string" ? { reason } : {};
  if ((approved as unknown) !== true) return { approved: false, ...why };
  const wrong = free === undefined ? undefined : wrongFree(answer, open);
  if (wrong !== undefined) return { approved: false, reason: wrong };
  const left = free === undefined || free.length === 0 ? {} : { free: [...free] };
  if (given === undefined)
    return { approved: true, ...why, ...(answer.for === "run" ? { for: "run", ...left } : {}) };
  const json = wholeJson(given);
  if (!json.ok || !isJsonObject(json.value))
    return { approved: false, reason: "the edited arguments are not a JSON object" };
  return { approved: true, ...why, edited: json.value };
}

/**
 * The places at which a person's arguments do not match the input schema in the question, in words; undefined if they match, or without a schema that can be
 * read. The form of texts is left to the tool: JSON Schema has neither the flags of a pattern nor what a library does before it judges, as `.trim()`.
 */
export async function misfitOf(
  edited: JsonObject,
  { tool: name, inputSchema }: Pick<ApprovalRequest, "tool" | "inputSchema">,
): Promise<string | undefined> {
  if (inputSchema === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object without some fields is one
  const loose = JSON.parse(JSON.stringify(inputSchema), withoutTexts) as JsonObject;
  const parse = (schema: JsonObject) => toSchema(schema, { name, role: "input" }).parse(edited);
  try {
    if ((await parse(inputSchema)).ok) return undefined; // `not` and `oneOf` forbid more once the form of texts is left out
    const parsed = await parse(loose);
    return parsed.ok ? undefined : describeIssues(parsed.issues);
  } catch {
    return undefined; // the schema of a server's question may be one that nobody can read
  }
}

const withoutTexts = (key: string, value: unknown): unknown =>
  /^(pattern|minLength|maxLength)$/.test(key) && typeof value !== "object" ? undefined : value;

/** The fault in an answer that leaves arguments open; undefined if it has none. */
export function wrongFree(
  { free, for: covers, arguments: edited }: Approval,
  open: readonly string[] = [],
): string | undefined {
  if (free === undefined) return undefined;
  if (!Array.isArray(free)) return "`free` of the answer is not a list of arguments";
  const wrong = free.find((name) => !open.includes(name));
  if (wrong !== undefined)
    return `the answer leaves ${JSON.stringify(String(wrong).slice(0, 100))} open, which the question does not list in \`open\``;
  if (free.length > 0 && (covers !== "run" || edited !== undefined))
    return '`free` of the answer wants `for: "run"`, and the arguments as they were shown';
  return undefined;
}

/** The fact of a decision. It also says if the tool runs code of strangers without isolation, and why the author lets it. */
export function decidedFact(fate: Fate, decision: Decision, turn: number): Fact {
  const { id: callId, name, arguments: args } = fate.call;
  const fact = { type: "call-decided", turn, callId, name, arguments: args, decision } as const;
  if (fate.type === "refused") return fact;
  const { coerced, tool } = fate;
  return {
    ...fact,
    ...(coerced === undefined ? {} : { coerced }),
    ...(tool.unenforced === undefined ? {} : { unenforced: tool.unenforced }),
  };
}

/** The decision about a call that cannot be shown: nobody can agree to it. */
export function unseenIn(request: CallRequest): Decision | undefined {
  try {
    void request.arguments;
    return undefined;
  } catch (error) {
    const reason = `a person must agree to it, and ${messageOf(error)}`;
    return { verdict: "deny", rule: "policy-error", reason };
  }
}

/** The question about a call. Its hash covers the tool and exactly these arguments. */
export function questionAbout({ at, call, request }: Ready, decision: Decision): ApprovalRequest {
  const { gate, run } = at.batch;
  const hash = run.host.digest(`${call.name} ${canonicalJson(request.arguments)}`);
  const path = [...(run.scope.agents ?? []), gate.agent];
  return approvalRequest(request, decision, { hash, path, policy: gate.intent.policy });
}

/** The question whether a call may run, as it stands or with arguments that the person writes. */
export function approvalAbout(fate: Ready): ApprovalRequest {
  return { ...questionAbout(fate, fate.decision), inputSchema: fate.tool.input.jsonSchema };
}

/** An approval for the rest of a run, as the ledger keeps it: the hash of a call, or the hash of a set with the names of its open arguments. */
export function approvedAs(fate: Ready, hash: string, free: readonly string[] = []): string {
  if (free.length === 0) return hash;
  const names = [...new Set(free)].toSorted();
  return `${setHash(fate, names)} ${JSON.stringify(names)}`;
}

/** True if a person approved exactly this call for the rest of the run, or a set that it is in. */
export function isApproved(approved: readonly string[], fate: Ready, hash: string): boolean {
  return approved.some((entry) => entry === hash || isIn(entry, fate));
}

function isIn(entry: string, fate: Ready): boolean {
  const [, digest, list = ""] = /^(\S+) (.+)$/s.exec(entry) ?? [];
  const names = parseJson(list);
  if (digest === undefined || !names.ok || !Array.isArray(names.value)) return false;
  const free = names.value.map(String);
  return free.every((name) => fitsOpen(fate.request, name)) && setHash(fate, free) === digest;
}

/**
 * The hash of all calls that differ from one in open arguments only. It changes once the run has read more that is not for everybody: a model may put
 * that into the open arguments.
 */
function setHash({ at, call, request }: Ready, free: readonly string[]): string {
  const { arguments: args, knows } = request;
  const bound = isJsonObject(args)
    ? Object.fromEntries(Object.entries(args).filter(([name]) => !free.includes(name)))
    : args;
  const { digest } = at.batch.run.host;
  return digest(`${call.name} ${canonicalJson({ bound, free, secrecy: readersOf(knows.label) })}`);
}

function readersOf({ secrecy }: Label): Json {
  return typeof secrecy === "string" ? secrecy : [...secrecy.readers];
}

/** The later calls that an answer covers too, one for each shown hash; or the fault in its `also`. */
function answeredAlong(
  { also }: Pick<AnswerHere, "also">,
  behind: readonly QuestionBehind[],
): readonly Pick<SetAnswer, "index" | "hash">[] | string {
  if (also === undefined) return [];
  if (!Array.isArray(also)) return "`also` of the answer is not a list of hashes";
  const left = [...behind];
  const along: Pick<SetAnswer, "index" | "hash">[] = [];
  for (const hash of also as readonly unknown[]) {
    const place = left.findIndex(({ request }) => request.hash === hash);
    const [shown] = place < 0 ? [] : left.splice(place, 1);
    if (shown === undefined)
      return `\`also\` of the answer has ${JSON.stringify(String(hash).slice(0, 100))}, which is the hash of none of the later calls that were shown with the question`;
    along.push({ index: shown.index, hash: shown.request.hash });
  }
  return along;
}

/** The answer that a person gave together with that of an earlier call of the reply. Undefined without one, and for a call that differs from the one shown. */
function answerAhead({ index, answered = [] }: Call, hash: string): SetAnswer | undefined {
  return answered.find((one) => one.index === index && one.hash === hash);
}
