import { type AgentEvent, isFact } from "../../src/event/event.ts";
import type { RunResult } from "../../src/agent/runnable.ts";
import { labelOf, callsOf, type Message } from "../../src/message/message.ts";
import type { Label, Secrecy } from "../../src/message/label.ts";
import { resourceText } from "../../src/tool/capability.ts";
import { providerComplaints } from "../provider-rules.ts";
import type { Book, Judged, Ran } from "./record.ts";
import { coveredBy, secretName, secretValue } from "./world.ts";

/** What was wrong with a run: a line each, none when all invariants held. */
export type Faults = string[];

/** What a run left. */
export interface Played {
  readonly book: Book;
  readonly events: readonly AgentEvent[];
  readonly result?: RunResult<unknown>;
  /** What was thrown in the place of a result. */
  readonly thrown?: unknown;
  /** What else was handed out: checkpoints, messages of requests. */
  readonly others?: readonly unknown[];
}

/** The transcript is one that every provider takes, and each call has its one result. */
export function transcriptFaults(messages: readonly Message[]): Faults {
  const faults = providerComplaints(messages).map((complaint) => `transcript: ${complaint}`);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? callsOf(message) : []));
  for (const { id } of calls) {
    const results = messages.filter((message) => message.role === "tool" && message.callId === id).length;
    if (results !== 1) faults.push(`transcript: the call ${id} has ${results} results`);
  }
  return faults;
}

/** Whose calls are looked at, and what they may be of. */
export interface Expected {
  readonly agent: string;
  readonly listed: readonly string[];
  readonly policy: string;
}

/** What ran may have run: listed, judged, agreed to, with arguments that fit. */
export function executionFaults(book: Book, { agent, listed, policy }: Expected): Faults {
  const faults: Faults = [];
  for (const ran of book.ran) {
    const what = `${ran.agent} ran ${ran.tool} ${ran.callId} ${ran.args}`;
    if (!ran.fits) faults.push(`${what}: its schema does not take these arguments`);
    // A policy around a run inside holds there too.
    const judged = lastBefore(book.judged, ran);
    if (judged?.verdict === "deny") faults.push(`${what}: the policy (${policy}) said no`);
    if (judged?.verdict === "ask" && !isAgreed(book, ran)) faults.push(`${what}: nobody agreed (${policy})`);
    if (judged === undefined && (ran.agent === agent || ran.agent === "inner"))
      faults.push(`${what}: the policy (${policy}) was not asked`);
    if (ran.agent === agent && !listed.includes(ran.tool)) faults.push(`${what}: the skill does not list it`);
  }
  return faults;
}

function lastBefore(judged: readonly Judged[], ran: Ran): Judged | undefined {
  return judged.findLast(
    ({ at, tool, callId, args, agent }) =>
      at < ran.at && tool === ran.tool && callId === ran.callId && args === ran.args && agent === ran.agent,
  );
}

function isAgreed({ answered }: Book, ran: Ran): boolean {
  return answered.some(
    ({ at, tool, callId, args, isYes, forRun, edited }) =>
      at < ran.at &&
      isYes &&
      tool === ran.tool &&
      ((callId === ran.callId && (edited || args === ran.args)) || (forRun && args === ran.args)),
  );
}

/** What was reached is what every list around it has; nothing was used after its end. */
export function powerFaults({ powers, faults, chains }: Book): Faults {
  const beyond = powers.reached.filter(({ tool, resource }) => {
    const chain = chains.get(tool);
    return chain === undefined || !chain.every((list) => coveredBy(list, resource));
  });
  return [
    ...faults,
    ...powers.faults,
    ...beyond.map(({ tool, resource }) => `${tool} reached ${resourceText(resource)}`),
  ];
}

/** Each run is told from its beginning to its end, under one intent; what it learned never got better. */
export function eventFaults(events: readonly AgentEvent[]): Faults {
  const faults: Faults = [];
  for (const [runId, own] of Map.groupBy(events, (event) => event.runId)) {
    if (own[0]?.type !== "run-start") faults.push(`${runId} begins with ${String(own[0]?.type)}`);
    const facts = own.filter(isFact);
    if (facts.some(({ seq }, index) => seq !== index + 1)) faults.push(`${runId}: facts are not counted`);
    const intents = new Set(own.flatMap(({ intent }) => intent ?? []));
    if (intents.size > 1) faults.push(`${runId} has ${intents.size} intents`);
    const first = own.findIndex(({ intent }) => intent !== undefined);
    if (first !== -1 && own.slice(first).some(({ intent }) => intent === undefined))
      faults.push(`${runId} lost its intent`);
    faults.push(
      ...risen(
        facts.flatMap((fact) =>
          fact.type === "message-end" && fact.message !== undefined ? [labelOf(fact.message)] : [],
        ),
        runId,
      ),
    );
  }
  return faults;
}

/** A run that was told to its end: all that began has ended. */
export function completeFaults(events: readonly AgentEvent[]): Faults {
  const faults: Faults = [];
  for (const [runId, own] of Map.groupBy(events, (event) => event.runId)) {
    const count = (type: AgentEvent["type"]): number => own.filter((event) => event.type === type).length;
    if (own.at(-1)?.type !== "run-end" || count("run-end") !== 1)
      faults.push(`${runId} ends with ${String(own.at(-1)?.type)}`);
    if (count("turn-start") !== count("turn-end")) faults.push(`${runId}: turns that do not end`);
    if (count("approval-request") !== count("approval-answer"))
      faults.push(`${runId}: questions without an answer`);
    if (count("tool-start") > count("tool-end")) faults.push(`${runId}: tools that do not end`);
  }
  return faults;
}

/** Labels in the order of their coming: none is better than one before it. */
export function risen(labels: readonly Label[], where: string): Faults {
  return labels.flatMap((label, index) => {
    const before = labels[index - 1];
    return before === undefined || isNotHigher(label, before)
      ? []
      : [`${where}: the label rose from ${JSON.stringify(before)} to ${JSON.stringify(label)}`];
  });
}

/**
 * Whether a label says no more good than another: said once more, in another way than the runtime does. Where something comes from that everybody may
 * learn and the user or the author said need not be kept.
 */
export function isNotHigher(label: Label, than: Label): boolean {
  if (than.integrity === "trusted" && than.secrecy === "public") return true;
  if (label.integrity === "trusted" && than.integrity === "untrusted") return false;
  return (
    readersOf(label.secrecy, than.secrecy) && than.sources.every((source) => label.sources.includes(source))
  );
}

/** Whether those who may learn the one may all learn the other. */
function readersOf(secrecy: Secrecy, than: Secrecy): boolean {
  if (than === "public" || secrecy === "private") return true;
  if (secrecy === "public" || than === "private")
    return typeof secrecy === "object" && than === "private" && secrecy.readers.length === 0;
  return secrecy.readers.every((reader) => than.readers.includes(reader));
}

/** The secret, in some spellings: after a tool used it, nothing that a run hands out has it. */
const spellings = [secretValue, Buffer.from(secretValue).toString("base64"), encodeURIComponent(secretValue)];

export function secretFaults({ book, events, result, thrown, others = [] }: Played): Faults {
  if (!book.usedSecret) return [];
  const places: Readonly<Record<string, unknown>> = {
    events,
    prompts: book.requests,
    result: result === undefined ? undefined : { ...result, error: undefined },
    error: result?.error,
    thrown,
    others,
  };
  return Object.entries(places).flatMap(([place, value]) => {
    const found = findSecret(value, place, new Set());
    return found === undefined ? [] : [`secret ${secretName} in ${found}`];
  });
}

function findSecret(value: unknown, path: string, seen: Set<unknown>): string | undefined {
  if (typeof value === "string")
    return spellings.some((spelling) => value.includes(spelling)) ? path : undefined;
  if (typeof value !== "object" || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const key of keysOf(value)) {
    if (spellings.includes(key)) return `${path} (a key)`;
    const found = findSecret(fieldOf(value, key), `${path}.${key}`, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

function keysOf(value: object): readonly string[] {
  try {
    return value instanceof Error ? ["message", "stack", "cause", ...Object.keys(value)] : Object.keys(value);
  } catch {
    return [];
  }
}

function fieldOf(value: object, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[key];
  } catch {
    return undefined;
  }
}
