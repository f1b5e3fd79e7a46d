import { isWritError, messageOf } from "../../error/writ-error.ts";
import type { AgentEvent } from "../../event/event.ts";
import { callsOf, isAsked, labelOf, labelOfAll, type Message, textOf } from "../../message/message.ts";
import { mayRunAgain } from "../../tool/after-crash.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import { isAnswered, isPlanned } from "./agreed-plans.ts";
import { type Evidence, type Told, toolOf } from "./evidence.ts";
import { budgetFaults } from "./budget-faults.ts";
import { heardMs } from "./durable-run.ts";
import { isNotHigher, risen } from "./labels.ts";
import { resultFaults, transcriptFaults } from "./transcript-faults.ts";
import { orderFaults } from "./order-faults.ts";
import type { Execution } from "./execution.ts";
import type { Answered, World } from "./world.ts";

/** The invariants of every schedule of every agent: by name, a function that returns what was wrong. */
export const runtimeInvariants: Readonly<Record<string, (evidence: Evidence) => readonly string[]>> = {
  "every run ends": endFaults,
  "the transcript is valid": ({ told }) =>
    told.flatMap(({ run }) => transcriptFaults(run.result?.transcript.messages ?? [])),
  "each call has one result": ({ told }) => told.flatMap(resultFaults),
  "what is told is in order": ({ told }) => told.flatMap(orderFaults),
  "a result tells what happened": (evidence) => evidence.told.flatMap((told) => truthFaults(told, evidence)),
  "a skill calls what it lists": listFaults,
  "the policy holds": policyFaults,
  "a tool runs with arguments that fit": ({ world }) =>
    world.executions.flatMap(({ fits, tool, callId, arguments: args }) =>
      fits ? [] : [`${tool} (${callId}) ran with ${JSON.stringify(args)}`],
    ),
  "a call that was cut does not run": ({ world, subject }) =>
    world.executions.flatMap(({ tool, callId }) =>
      world.cut.has(callId) && !subject.recovers
        ? [`${tool} (${callId}) ran, and its reply ended in its arguments`]
        : [],
    ),
  "a run that is stopped stays stopped": stopFaults,
  "budgets hold": (evidence) => evidence.told.flatMap((told) => budgetFaults(told, evidence)),
  "labels never rise": labelFaults,
  "an effect happens at most once for a call": effectFaults,
  "an approval is used once": approvalFaults,
  "a run waits for those that it asks": waitFaults,
  "a session keeps what was said": sessionFaults,
};

/** Codes of errors that no schedule may cause: they mean that the runtime, or a replay, broke. */
const broken: ReadonlySet<string> = new Set([
  "run-broken",
  "journal-mismatch",
  "journal-ended",
  "journal-longer",
  "journal-newer",
]);

function endFaults({ told, subject }: Evidence): readonly string[] {
  return told.flatMap(({ run, outcome }) => {
    if (!run.isDone) return [`${run.id} never ends`];
    const { thrown } = run;
    if (thrown !== undefined && !isWritError(thrown)) return [`${run.id} threw ${messageOf(thrown)}`];
    const code = isWritError(thrown) ? thrown.code : outcome?.type === "failed" ? outcome.code : "";
    const isMeant = subject.isRedeployed && code.startsWith("journal-");
    return broken.has(code) && !isMeant
      ? [`${run.id} broke: ${code} ${isWritError(thrown) ? thrown.message : ""}`]
      : [];
  });
}

/** Ends that say that a call did nothing. */
const nothingDone: ReadonlySet<string> = new Set(["denied", "invalid", "skipped"]);
/** Ends that may not be told of a call that changed something. */
const notKnown: ReadonlySet<string> = new Set(["timeout", "cancelled"]);

function truthFaults({ facts, outcome }: Told, evidence: Evidence): readonly string[] {
  const { subject } = evidence;
  const proposed = proposedIn(facts);
  return facts.flatMap((fact) => {
    if (fact.type !== "tool-end") return [];
    const { status } = fact.result;
    const isLost = status === "skipped" && outcome?.type === "answered" && !subject.skipsAfterBlocked;
    const said = isLost ? "nothing ended its turn" : untruthOf(fact, evidence, proposed);
    return said === undefined ? [] : [`${fact.name} ${fact.callId} is told to be ${status}, and ${said}`];
  });
}

/** The arguments of the calls in a run's replies, by call id. */
function proposedIn(facts: readonly AgentEvent[]): ReadonlyMap<string, Json> {
  const replies = facts.flatMap((fact) => (fact.type === "message-end" ? (fact.message ?? []) : []));
  return new Map(replies.flatMap(callsOf).map((call) => [call.id, call.arguments]));
}

/** The reason why the result of a call does not agree with what its tool did; undefined if it does. */
function untruthOf(
  end: EndedCall,
  { world, subject }: Evidence,
  proposed: ReadonlyMap<string, Json>,
): string | undefined {
  const { callId, runId, name, result, durationMs } = end;
  if (!subject.standIns.has(name)) return undefined;
  const tool = subject.tools.get(name);
  const wanted = proposed.get(callId) ?? null;
  const ofTool = world.executions.filter((one) => one.runId === runId && one.tool === name);
  const made = ofTool.filter((one) => one.callId === callId);
  const timeoutMs = tool?.timeoutMs ?? subject.limits.toolMs;
  if (durationMs > timeoutMs) return `took ${durationMs} ms, and had ${timeoutMs}`;
  const takenOver = ofTool.filter(
    (one) => world.brokenOff.has(one.callId) && sameJson(one.arguments, wanted),
  );
  if (result.status === "ok") return subject.mends ? undefined : lieOf([...made, ...takenOver], end);
  // A process that was taken for dead may have a reply of its own, with a call of this id.
  const own = made.filter(({ arguments: args }) => sameJson(args, wanted));
  if (own.length > 0 && isUndone(result, tool, subject)) return "it ran";
  const changes = tool?.effect === "write" || tool?.effect === "irreversible";
  const took = made.some(({ tookEffect }) => tookEffect);
  return took && changes && notKnown.has(result.status) ? "it had its effect" : undefined;
}

/**
 * True of a result that says that its call did nothing. A call that may run again leaves no trace if its process dies: code that was deployed
 * since may refuse it.
 */
function isUndone(
  { status }: EndedCall["result"],
  tool: Tool | undefined,
  { isRedeployed }: Evidence["subject"],
): boolean {
  const mayBeForgotten = isRedeployed && tool !== undefined && mayRunAgain(tool);
  return nothingDone.has(status) && !mayBeForgotten;
}

/** The length of the part of a text that is compared: long texts are cut for the model. */
const compared = 200;

/** The reason why a result is not what the tool made. */
function lieOf(made: readonly Execution[], { result: { text, value } }: EndedCall): string | undefined {
  const done = made.filter((one) => one.made !== undefined);
  if (done.length === 0) return "the tool made nothing";
  const isSame = done.some(({ made: json }) =>
    typeof json === "string"
      ? text.includes(json.slice(0, compared))
      : value === undefined || sameJson(value, json ?? null),
  );
  return isSame ? undefined : `the tool made something else: ${text}`;
}

type EndedCall = Extract<AgentEvent, { readonly type: "tool-end" }>;

/** The executions that began after a run was stopped. A process that was taken for dead may not have heard of it. */
function stopFaults({ world, told, subject }: Evidence): readonly string[] {
  const isWhole = (world.counts.get("losses") ?? 0) === 0;
  return told.flatMap(({ run }) => {
    const stop = world.stops.get(run.id);
    if (stop === undefined) return [];
    if (run.end !== undefined && run.end.type !== "cancelled")
      return [`${run.id} was cancelled, and ended ${run.end.type}`];
    const late = world.executions.find(
      (one, place) =>
        one.runId === run.id &&
        (world.isDurable ? one.atMs > stop.atMs + heardMs : place >= stop.begun) &&
        (isWhole || !mayRunAgain(toolOf(subject, one) ?? { effect: "read" })),
    );
    return late === undefined ? [] : [`${late.tool} (${late.callId}) began after ${run.id} was stopped`];
  });
}

function listFaults({ world, subject }: Evidence): readonly string[] {
  return world.executions.flatMap(({ agent, skill, tool, callId }) => {
    const listed = subject.listed.get(`${agent}/${skill}`) ?? subject.listed.get(`${agent}/`);
    return listed === undefined || listed.has(tool)
      ? []
      : [`${agent} ran ${tool} (${callId}), and its skill ${skill} does not list it`];
  });
}

function policyFaults(evidence: Evidence): readonly string[] {
  const { world, subject } = evidence;
  const watched = new Set(world.judgements.map(({ agent }) => agent));
  return world.executions.flatMap((execution, place) => {
    const { agent, tool, callId } = execution;
    const judged = world.judgements.findLast(
      (one) => one.callId === callId && one.tool === tool && one.agent === agent && one.place <= place,
    );
    // An agent that was deployed later has another policy, which may not be watched.
    const isWatched = watched.has(agent) && (judged !== undefined || !subject.isRedeployed);
    const verdict = isWatched ? judged?.verdict : world.decisionOn(execution);
    const what = `${agent} ran ${tool} (${callId})`;
    if (verdict === undefined) return isWatched ? [`${what}, and the policy was not asked`] : [];
    if (verdict === "deny") return subject.isRedeployed ? [] : [`${what}, and the policy said no`]; // another process may have said it
    const isAgreed = isAnswered(execution, world.answers) || isPlanned(execution, evidence);
    return verdict === "ask" && !isAgreed ? [`${what}, and nobody agreed`] : [];
  });
}

function labelFaults({ world, subject, told }: Evidence): readonly string[] {
  const faults = told.flatMap(({ run, facts }) => {
    const own = facts.flatMap((fact) =>
      fact.type === "message-end" && fact.message !== undefined ? [labelOf(fact.message)] : [],
    );
    const rise = risen(own);
    const result = run.result;
    if (rise !== undefined) return [`${run.id}: the label of its replies rose ${rise}`];
    if (result === undefined) return [];
    const { messages } = result.transcript;
    if (!isNotHigher(result.label, labelOfAll(messages)))
      return [`${run.id}: its label ${JSON.stringify(result.label)} is better than what it saw`];
    const isSummed = subject.summarises && facts.some(({ type }) => type === "compaction-end");
    const lost = isSummed ? unexplained(messages) : undefined;
    return lost === undefined
      ? []
      : [`${run.id}: what its reply saw (${lost}) stands in no message before it`];
  });
  if (told.length > 1) return [...faults, ...forgottenLabels(told, world)];
  if (world.isDurable) return faults;
  const judged = world.judgements
    .filter(({ agent }) => agent === subject.name)
    .flatMap(({ label }) => label ?? []);
  const rise = risen(judged);
  return rise === undefined ? faults : [...faults, `what the policy was told rose ${rise}`];
}

/** The label of the first reply that saw more than the messages before it have, if a summary replaces earlier messages. */
function unexplained(messages: readonly Message[]): string | undefined {
  const reply = messages.findIndex(
    (message, place) =>
      message.role === "assistant" && !isNotHigher(labelOfAll(messages.slice(0, place)), labelOf(message)),
  );
  const message = messages[reply];
  return message === undefined ? undefined : JSON.stringify(labelOf(message));
}

/** Checks the labels of runs of one session: a later run has seen what an earlier one saw, even if that was summarised. */
function forgottenLabels(told: Evidence["told"], world: World): readonly string[] {
  return told.flatMap(({ run: { id, result } }, place) => {
    const before = told[place - 1]?.run.result;
    if (result === undefined || before === undefined || world.early.has(id)) return [];
    if (before.outcome.type !== "answered" || isNotHigher(result.label, before.label)) return [];
    if (result.transcript.messages.length === 0) return []; // it was stopped while its session was read
    return [`${id}: its label ${JSON.stringify(result.label)} is better than that of the run before it`];
  });
}

function effectFaults({ world, subject }: Evidence): readonly string[] {
  const times = new Map<string, Execution[]>();
  for (const execution of world.executions) {
    const tool = toolOf(subject, execution);
    if (!execution.tookEffect || tool === undefined || mayRunAgain(tool) || subject.mends) continue;
    times.set(execution.key, [...(times.get(execution.key) ?? []), execution]);
  }
  return [...times.values()].flatMap((all) => {
    const [{ tool, callId } = { tool: "", callId: "" }] = all;
    return all.length > 1
      ? [`${tool} (${callId}) had its effect ${all.length} times, and may not run again`]
      : [];
  });
}

function approvalFaults(evidence: Evidence): readonly string[] {
  const { world } = evidence;
  return [
    ...[...Map.groupBy(world.answers, ({ question }) => question)].flatMap(([question, answers]) => {
      const taken = answers.filter(({ isTaken }) => isTaken);
      if (taken.some(({ isOther }) => isOther)) return [`${question} took the answer to another question`];
      return world.isDurable && taken.length > 1 ? [`${question} took ${taken.length} answers`] : [];
    }),
    ...world.answers.flatMap((answer) => (answer.isTaken ? answeredFaults(answer, evidence) : [])),
  ];
}

/** Runs that answered while a person still had to answer them. */
function waitFaults({ world, told, subject }: Evidence): readonly string[] {
  const answered = told.filter(({ outcome }) => outcome?.type === "answered");
  const ended = new Set(answered.map(({ run }) => run.id));
  return [...world.waiting.values()].flatMap(({ runId, tool }) =>
    ended.has(runId) && !subject.skipsAfterBlocked
      ? [`${runId} answered, and a person was still asked about ${tool}`]
      : [],
  );
}

/** The differences between a call and the answer of a person to it. */
function answeredFaults(
  { runId, callId, tool, isYes, asked, edited }: Answered,
  { world: { executions }, told, subject }: Evidence,
): readonly string[] {
  const facts = told.flatMap(({ run, facts: its }) => (run.id === runId ? its : []));
  const others = told.flatMap(({ run }) => (run.id === runId ? [] : [run.id]));
  const isAnswered = facts.some((fact) => fact.type === "run-end" && fact.outcome.type === "answered");
  const own = executions.filter(
    (one) =>
      one.callId === callId && one.tool === tool && !others.some((other) => isWithin(one.runId, other)),
  );
  const calls = new Set(own.map(({ key }) => key)).size;
  // A run inside may have a call of the same id: its arguments are other ones.
  const isOwn = hasNumbersOf(asked, proposedIn(facts).get(callId) ?? null);
  const end = isOwn && facts.find((fact) => fact.type === "tool-end" && fact.callId === callId);
  const status = end && end.type === "tool-end" ? end.result.status : undefined;
  const what = `${tool} (${callId})`;
  if (!isYes) return calls > 0 ? [`${what} ran, and a person said no`] : [];
  const other = own.find((one) => !hasNumbersOf(edited, one.arguments));
  if (other !== undefined)
    return [
      `${what} ran with ${JSON.stringify(other.arguments)}, and a person wrote ${JSON.stringify(edited)}`,
    ];
  if (calls > 1) return [`one yes to ${what} let ${calls} calls run`];
  if (subject.isRedeployed) return []; // the agent that was deployed may have a policy that says no
  const isLost = status === "denied" || (status === "skipped" && isAnswered && !subject.skipsAfterBlocked);
  return isLost && edited === undefined ? [`${what} is ${status}, and a person said yes`] : [];
}

/** True of a run that is this one, or inside it. */
function isWithin(runId: string, outer: string): boolean {
  return runId === outer || runId.startsWith(`${outer}/`);
}

/** True if arguments have the numbers that a person wrote. A schema may convert other values. */
function hasNumbersOf(edited: Json | undefined, args: Json): boolean {
  if (!isJsonObject(edited) || !isJsonObject(args)) return true;
  return Object.entries(edited).every(([name, value]) => typeof value !== "number" || args[name] === value);
}

/** Checks two runs of one session that both answered: the later is told the answer of the earlier. The session says which one is later. */
function sessionFaults({ told, world }: Evidence): readonly string[] {
  return told.flatMap((one, place) => {
    const next = told[place + 1];
    if (next === undefined || one.outcome?.type !== "answered" || next.outcome?.type !== "answered")
      return [];
    const mayPass = world.isDurable && world.early.has(next.run.id); // a run that waits for a person lets others use its session
    const isSummed = [one, next].some(({ facts }) => facts.some(({ type }) => type === "compaction-end"));
    if (mayPass || isSummed || isTold(next, one) || isTold(one, next)) return [];
    return [`${next.run.id} was not told what ${one.run.id} had answered`];
  });
}

/** True if a run began with the answer of another run before it. */
function isTold({ run: { result } }: Told, { run: { result: other } }: Told): boolean {
  if (result === undefined || other === undefined) return true; // nobody kept the messages it began with
  const { messages } = result.transcript;
  const before = messages.slice(0, messages.findLastIndex(isAsked));
  return before.some((message) => message.role === "assistant" && textOf(message).includes(other.text));
}
