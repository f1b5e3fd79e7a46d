import { withinTokens } from "./paid-model.ts";
import { addUsage, priceOf } from "../message/usage.ts";
import type { ToolChoice, UnreadableCall } from "../model/model.ts";
import { driverNamed } from "../driver/choose.ts";
import type { Driver, Reading, TurnInput } from "../driver/driver.ts";
import { heldToShape } from "../driver/reply-shape.ts";
import { isPlain, joinLabels, untrustedFrom } from "../message/label.ts";
import { callsOf, type ReplyMessage, textOf } from "../message/message.ts";
import { spend } from "../policy/account/budget.ts";
import { offeredTools } from "../policy/allow-list.ts";
import type { Learned } from "../policy/knowledge/learned.ts";
import { acceptableId } from "../message/transcript.ts";
import { driverNames } from "../model/driver-names.ts";
import { fingerprint } from "../util/hash.ts";
import type { ModelRecord } from "./ask-model.ts";
import type { Run, State } from "./state.ts";

/** The input of which the driver makes this turn's request. */
export function turnInput(state: State, run: Run): TurnInput {
  const { transcript, ledger, gate, limits } = state;
  const { model, settings, examples, marks, toolChoice, lastTurn, output } = run.options;
  const mustAnswer = lastTurn === "answer" && ledger.turns >= limits.turns;
  const left = limits.tokens - ledger.tokens;
  const input: TurnInput = {
    transcript,
    allowed: gate.allowed,
    model,
    settings: left === Infinity ? settings : withinTokens(settings, left),
    examples,
    marks,
    toolChoice: mustAnswer ? "none" : choiceOf(state, toolChoice),
  };
  return output === undefined ? input : { ...input, output };
}

/** A call is forced until it was made: a run in which every turn has to call would never answer. */
function choiceOf({ called, gate }: State, choice: ToolChoice): ToolChoice {
  if (choice === "none" || choice === "auto") return choice;
  const isThere = typeof choice === "string" || gate.allowed.tools.has(choice.tool);
  return called || !isThere ? "auto" : choice;
}

/**
 * The fingerprint of a request: of the model, the tools, and the part that this turn adds to the transcript.
 */
export function requestFingerprint({ transcript, sent, gate }: State, { options }: Run): string {
  const tools = offeredTools(gate.allowed).map(({ name, description, input }) => [
    name,
    description,
    input.jsonSchema,
  ]);
  return fingerprint(JSON.stringify([options.model.id, tools, transcript.since(sent)]));
}

/** The driver that speaks. */
export function driverOf(state: State, run: Run): Driver {
  return state.speaker ?? run.options.drivers[state.driver] ?? run.options.drivers[0];
}

/**
 * The driver that a record names. A recorded reply is read by the driver that asked for it, also where `auto` would take another one today:
 * a card was written since, or the run was recorded elsewhere.
 */
export function speakerOf(name: string, { options: { drivers } }: Run): Driver {
  const own = drivers.find((driver) => driver.name === name);
  return own ?? knownDriver(name) ?? drivers[0];
}

function knownDriver(name: string): Driver | undefined {
  const known = driverNames.find((driver) => driver === name);
  return known === undefined ? undefined : driverNamed(known);
}

/** The driver's reading, held to what the turn's choice of tools allows whatever the driver; the calls that it found in text get their ids here, as native calls got theirs while they came. */
export function readingOf(
  { message, finishReason, answer, reading: decided, unreadable }: ModelRecord,
  from: { driver: Driver; input: TurnInput; turn: number },
): Reading {
  if (unreadable !== undefined) return unreadableCall(message, unreadable);
  if (answer !== undefined) return { type: "final", message, content: answer.content };
  const read = decided ?? from.driver.read({ message, finishReason }, from.input);
  const reading = from.input.toolChoice === "auto" ? read : heldToShape(read, from.input);
  if (reading.type !== "calls" || !callsOf(reading.message).some(({ id }) => id === "")) return reading;
  const taken = new Set<string>();
  const parts = reading.message.parts.map((part) => {
    if (part.type !== "tool-call") return part;
    const id = acceptableId(from.input.transcript, part.id, {
      taken,
      fallback: `call_${from.turn}_${taken.size}`,
    });
    taken.add(id);
    return { ...part, id };
  });
  return { ...reading, message: { ...reading.message, parts } };
}

/** A reply whose call the provider could not read. Nothing of it runs: what the provider left out is not known. */
function unreadableCall(message: ReplyMessage, { reason, written = "" }: UnreadableCall): Reading {
  const text = [textOf(message), written].filter((said) => said.trim() !== "").join("\n");
  const parts = [{ type: "text" as const, text: text === "" ? "(empty)" : text }];
  const feedback = `Your last reply could not be read as a call: ${reason} Write it again: call one of the tools, by its name and with arguments that are JSON and match its schema, or answer in words.`;
  return { type: "violation", message: { ...message, parts }, reason, feedback };
}

/** The mending that reading a reply took, where it took some. */
export function repairsOf(reading: Reading): { readonly repairs?: readonly string[] } {
  const repairs = "repairs" in reading ? (reading.repairs ?? []) : [];
  return repairs.length === 0 ? {} : { repairs };
}

/** A reply is no better than what the model had seen, also while it wrote: what the provider carried out itself brings strangers' words. */
export function seenBy(message: ReplyMessage, { label: before }: Pick<Learned, "label">): ReplyMessage {
  const isHelped = message.parts.some(
    (part) => part.type === "provider" || (part.type === "tool-call" && part.providerExecuted === true),
  );
  const label = isHelped ? joinLabels(before, untrustedFrom("provider")) : before;
  return isPlain(label) ? message : { ...message, label };
}

/** Books what a reply used, here and in the runs around this one. */
export function booked(state: State, { usage }: ModelRecord, run: Run): Pick<State, "ledger" | "usage"> {
  const { turns: turn } = state.ledger;
  const costUsd = priceOf(usage, run.options);
  const total = addUsage(state.usage, usage);
  run.tell?.({ type: "usage-add", turn, usage, total, ...(costUsd === undefined ? {} : { costUsd }) });
  run.options.parent?.purse.spend({ usage, costUsd: costUsd ?? Infinity, toolCalls: 0 });
  return { ledger: spend(state.ledger, { usage, costUsd }), usage: total };
}
