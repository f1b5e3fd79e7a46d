import { isWritError, messageOf } from "../../error/writ-error.ts";
import type { AgentEvent, Fact } from "../../event/event.ts";
import { labelOf } from "../../message/message.ts";
import { mayRunAgain } from "../../tool/after-crash.ts";
import { sameJson } from "../../util/same-json.ts";
import type { Evidence, Told } from "./evidence.ts";
import { isNotHigher, joined, risen } from "./labels.ts";
import { transcriptFaults } from "./transcript-faults.ts";
import type { Answered, Execution, World } from "./world.ts";

/** What must hold in every schedule of every agent: by its name, a function that says what was wrong. */
export const runtimeInvariants: Readonly<Record<string, (evidence: Evidence) => readonly string[]>> = {
  "every run ends": endFaults,
  "the transcript is valid": ({ told }) =>
    told.flatMap(({ run }) => transcriptFaults(run.result?.transcript.messages ?? [])),
  "each call has one result": ({ told }) => told.flatMap(resultFaults),
  "a result tells what happened": (evidence) => evidence.told.flatMap((told) => truthFaults(told, evidence)),
  "a skill calls what it lists": listFaults,
  "the policy holds": policyFaults,
  "budgets hold": (evidence) => evidence.told.flatMap((told) => budgetFaults(told, evidence)),
  "labels never rise": labelFaults,
  "an effect happens at most once for a call": effectFaults,
  "an approval is used once": approvalFaults,
  "a session keeps what was said": sessionFaults,
};

/** Codes of errors that no schedule may bring about: they say that the runtime, or a replay, broke. */
const broken: ReadonlySet<string> = new Set([
  "run-broken",
  "journal-mismatch",
  "journal-ended",
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

function resultFaults({ run, facts }: Told): readonly string[] {
  const counts = new Map<string, number>();
  for (const fact of facts)
    if (fact.type === "tool-end" || fact.type === "knowledge-used")
      counts.set(fact.callId, (counts.get(fact.callId) ?? 0) + 1);
  return [...counts].flatMap(([callId, count]) =>
    count === 1 ? [] : [`${run.id}: ${callId} was told to end ${count} times`],
  );
}

/** Ends that say that a call did nothing. */
const nothingDone: ReadonlySet<string> = new Set(["denied", "invalid", "skipped"]);
/** Ends that may not be told of a call that changed something. */
const notKnown: ReadonlySet<string> = new Set(["timeout", "cancelled"]);

function truthFaults({ facts }: Told, { world, subject }: Evidence): readonly string[] {
  return facts.flatMap((fact) => {
    if (fact.type !== "tool-end") return [];
    const { callId, name, result } = fact;
    const made = world.executions.filter((one) => one.callId === callId && one.tool === name);
    const what = `${name} ${callId} is told to be ${result.status}`;
    const tool = subject.tools.get(name);
    if (result.status === "ok") return lieOf(made, fact, tool?.timeoutMs ?? subject.limits.toolMs);
    const took = made.some(({ tookEffect }) => tookEffect);
    if (nothingDone.has(result.status) && made.length > 0) return [`${what}, and it ran`];
    const changes = tool?.effect === "write" || tool?.effect === "irreversible";
    return took && changes && notKnown.has(result.status) ? [`${what}, and it had its effect`] : [];
  });
}

/** A result that is not what the tool gave, that it gave to nobody, or too late. */
function lieOf(made: readonly Execution[], end: EndedCall, timeoutMs: number): readonly string[] {
  const what = `${end.name} ${end.callId} is told to be ok`;
  if (made.length === 0) return [];
  if (end.durationMs > timeoutMs)
    return [`${what} after ${end.durationMs} ms, and its time was over after ${timeoutMs}`];
  const done = made.filter((one) => one.made !== undefined);
  if (done.length === 0) return [`${what}, and the tool made nothing`];
  const { text, value } = end.result;
  const isSame = done.some(({ made: json }) =>
    typeof json === "string" ? text.includes(json) : value === undefined || sameJson(value, json ?? null),
  );
  return isSame ? [] : [`${what}, and the tool made something else: ${text}`];
}

type EndedCall = Extract<Fact, { readonly type: "tool-end" }>;

function listFaults({ world, subject }: Evidence): readonly string[] {
  return world.executions.flatMap(({ agent, skill, tool, callId }) => {
    const listed = subject.listed.get(`${agent}/${skill}`) ?? subject.listed.get(`${agent}/`);
    return listed === undefined || listed.has(tool)
      ? []
      : [`${agent} ran ${tool} (${callId}), and its skill ${skill} does not list it`];
  });
}

function policyFaults({ world }: Evidence): readonly string[] {
  return world.executions.flatMap(({ agent, tool, callId }, place) => {
    const judged = world.judgements.findLast(
      (one) => one.callId === callId && one.tool === tool && one.agent === agent && one.place <= place,
    );
    const what = `${agent} ran ${tool} (${callId})`;
    if (judged === undefined) return [`${what}, and the policy was not asked`];
    if (judged.verdict === "deny") return [`${what}, and the policy said no`];
    const isAgreed = world.answers.some((one) => one.callId === callId && one.isYes && one.isTaken);
    return judged.verdict === "ask" && !isAgreed ? [`${what}, and nobody agreed`] : [];
  });
}

function budgetFaults({ run, facts }: Told, { world, subject, told }: Evidence): readonly string[] {
  const { turns, toolCalls, tokens } = subject.limits;
  const faults: string[] = [];
  const began = facts.filter(({ type }) => type === "turn-start").length;
  if (began > turns) faults.push(`${run.id} took ${began} turns of ${turns}`);
  if (told.length > 1) return faults;
  const keys = new Set(world.executions.map(({ key }) => key));
  if (keys.size > toolCalls)
    faults.push(`${run.id} and the runs inside it made ${keys.size} calls of ${toolCalls}`);
  const used = run.result?.usage;
  const sum = used === undefined ? 0 : used.inputTokens + used.outputTokens;
  if (sum > tokens + mostOfOneReply)
    faults.push(`${run.id} used ${sum} tokens of ${tokens}, more than the last reply explains`);
  return faults;
}

/** The tokens of a simulated reply: a bound is checked before each. */
const mostOfOneReply = 15;

function labelFaults({ world, subject, told }: Evidence): readonly string[] {
  const faults = told.flatMap(({ run, facts }) => {
    const own = facts.flatMap((fact) =>
      fact.type === "message-end" && fact.message !== undefined ? [labelOf(fact.message)] : [],
    );
    const rise = risen(own);
    const result = run.result;
    if (rise !== undefined) return [`${run.id}: the label of its replies rose ${rise}`];
    if (result === undefined || isNotHigher(result.label, joined(result.transcript.messages))) return [];
    return [`${run.id}: its label ${JSON.stringify(result.label)} is better than what it saw`];
  });
  if (told.length > 1 || world.isDurable) return faults;
  const judged = world.judgements.filter(({ agent }) => agent === subject.name).map(({ label }) => label);
  const rise = risen(judged);
  return rise === undefined ? faults : [...faults, `what the policy was told rose ${rise}`];
}

function effectFaults({ world, subject }: Evidence): readonly string[] {
  const times = new Map<string, Execution[]>();
  for (const execution of world.executions) {
    const tool = subject.tools.get(execution.tool);
    if (!execution.tookEffect || tool === undefined || mayRunAgain(tool) || tool.recover !== undefined)
      continue;
    times.set(execution.key, [...(times.get(execution.key) ?? []), execution]);
  }
  return [...times.values()].flatMap((all) => {
    const [{ tool, callId } = { tool: "", callId: "" }] = all;
    return all.length > 1
      ? [`${tool} (${callId}) had its effect ${all.length} times, and may not run again`]
      : [];
  });
}

function approvalFaults({ world, told }: Evidence): readonly string[] {
  const facts = told.flatMap((one) => one.facts);
  return [
    ...[...Map.groupBy(world.answers, ({ question }) => question)].flatMap(([question, answers]) => {
      const taken = answers.filter(({ isTaken }) => isTaken);
      if (taken.some(({ isOther }) => isOther)) return [`${question} took the answer to another question`];
      return world.isDurable && taken.length > 1 ? [`${question} took ${taken.length} answers`] : [];
    }),
    ...world.answers.flatMap((answer) => (answer.isTaken ? answeredFaults(answer, world, facts) : [])),
  ];
}

/** What a call did that is not what a person answered. */
function answeredFaults(
  { callId, tool, isYes }: Answered,
  { executions }: World,
  facts: readonly AgentEvent[],
): readonly string[] {
  const own = executions.filter((one) => one.callId === callId && one.tool === tool);
  const calls = new Set(own.map(({ key }) => key)).size;
  const end = facts.find((fact) => fact.type === "tool-end" && fact.callId === callId);
  const status = end?.type === "tool-end" ? end.result.status : undefined;
  const what = `${tool} (${callId})`;
  if (!isYes) return calls > 0 ? [`${what} ran, and a person said no`] : [];
  if (calls > 1) return [`one yes to ${what} let ${calls} calls run`];
  return status === "denied" ? [`${what} is denied, and a person said yes`] : [];
}

/** What every answer of an earlier run is looked for in: the next run that began after it. */
function sessionFaults({ told }: Evidence): readonly string[] {
  return told.flatMap(({ run, outcome }, place) => {
    const next = told[place + 1];
    if (outcome?.type !== "answered" || run.result === undefined) return [];
    if (next?.outcome?.type !== "answered" || next.run.result === undefined) return [];
    const said = run.result.text;
    const messages = next.run.result.transcript.messages;
    const isThere =
      said === "" ||
      messages.some(
        (message) =>
          message.role === "assistant" &&
          message.parts.some((part) => part.type === "text" && part.text.includes(said)),
      );
    return isThere ? [] : [`${next.run.id} was not told what ${run.id} had answered`];
  });
}
