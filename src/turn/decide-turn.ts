import type { Driver, DriverDecision, Reading, TurnInput } from "../driver/driver.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import { joinLabels, type Label, labelledAs, trustedLabel } from "../message/label.ts";
import type { FinishReason, ReplyMessage, ReplyPart } from "../message/message.ts";
import { labelOfReply, textOf } from "../message/message.ts";
import { addUsage, noUsage, type Usage, priceOf } from "../message/usage.ts";
import type { Reply } from "../model/assemble.ts";
import type { ModelRequest } from "../model/model.ts";
import { partsText } from "../journal/parts.ts";
import { toJson } from "../util/json.ts";
import { someReading } from "../driver/text-protocol.ts";
import { emptyLedger, reserveTurn, spend } from "../policy/account/budget.ts";
import { fits, list, object, oneOf, record, string } from "../util/shape.ts";
import { type HookedCall, replyOf, withIds } from "./around-model.ts";
import { type FailureNotes, type ModelRecord, noFailures } from "./ask-model.ts";
import { questionKey } from "./asked-again.ts";
import { type State, tokensLeft } from "./state.ts";
import { withinTokens } from "./paid-model.ts";

/** A turn that the author's driver decides. */
export interface DecidingTurn {
  readonly driver: Driver;
  readonly decide: NonNullable<Driver["decide"]>;
  readonly state: State;
  readonly input: TurnInput;
  readonly hooked: HookedCall;
  /** Asks the model once, by a driver, with everything that surrounds a request. */
  readonly ask: (by: Driver, hooked: HookedCall, notes: FailureNotes) => Promise<ModelRecord>;
  /** Notes the usage if the turn fails. */
  readonly notes: FailureNotes;
}

/**
 * Has a driver decide its turn. Each question that the driver asks the model is a step of the journal inside that of the turn: it is retried, seen by
 * hooks, paid for, and not sent again after a crash. The record keeps the decision, so that a replay asks neither the driver nor a model.
 *
 * @throws WritError `driver-failed`, `budget-exhausted` if a bound forbids another question, and the errors of asking the model
 */
export async function decideTurn(deciding: DecidingTurn): Promise<ModelRecord> {
  const { driver, decide, input, hooked, notes } = deciding;
  const { run, turn, transcript } = hooked;
  const startedAt = run.host.now();
  const questions = new Questions(deciding);
  run.tell?.({ type: "message-start", turn, driver: driver.name });
  let reading: Reading;
  try {
    const decision = (async () => decide(input, (request) => questions.ask(request)))();
    await questions.endWith(decision);
    reading = readingOf(await decision, driver.name);
  } catch (error) {
    if (questions.instead !== undefined) return questions.instead;
    notes.usage = questions.usage;
    if (run.stop.reason !== undefined || isWritError(error)) throw error;
    throw new WritError("driver-failed", { driver: driver.name, reason: messageOf(error) }, { cause: error });
  }
  if (questions.instead !== undefined) return questions.instead;
  const own = withIds(reading.message, { turn, transcript });
  const message = labelledAs(own, joinLabels(labelOfReply(own), questions.label));
  const text = reading.type === "final" ? textOf(message) : "";
  if (text !== "") run.tell?.({ type: "text-delta", turn, text });
  const { usage, finishReason } = questions;
  const endedAt = run.host.now();
  const whole = { ...reading, message };
  return { driver: driver.name, message, finishReason, usage, startedAt, endedAt, reading: whole };
}

/** The questions that a driver asks the model in one turn. */
class Questions {
  usage: Usage = noUsage;
  /** The join of the labels of all answers. */
  label: Label = trustedLabel;
  finishReason: FinishReason = "stop";
  /** The answer of a hook in place of the model, which becomes the answer of the turn. */
  instead: ModelRecord | undefined;
  private readonly deciding: DecidingTurn;
  private asked = 0;
  private readonly sent: Promise<Reply>[] = [];
  private hasEnded = false;

  constructor(deciding: DecidingTurn) {
    this.deciding = deciding;
  }

  async ask(request: ModelRequest): Promise<Reply> {
    if (this.hasEnded)
      throw new WritError("driver-failed", {
        driver: this.deciding.driver.name,
        reason: "it asked the model after it had decided",
      });
    const reply = this.send(request);
    this.sent.push(reply);
    return reply;
  }

  /** Takes no question after the decision, and waits for the replies to those before it: they are paid for and recorded in this turn. */
  async endWith(decision: Promise<unknown>): Promise<void> {
    await Promise.allSettled([decision]);
    this.hasEnded = true;
    await Promise.allSettled(this.sent);
  }

  private async send(wanted: ModelRequest): Promise<Reply> {
    const { hooked, ask, driver, state } = this.deciding;
    const { run, turn } = hooked;
    this.checkBounds();
    const settings = withinTokens(wanted.settings, tokensLeft(state, run, this.usage));
    const request = { ...wanted, settings };
    this.asked += 1;
    const notes = noFailures();
    const key = questionKey(`turn/${turn}/model`, this.asked);
    const asked = run.journal.step({
      key,
      fingerprint: () => questionParts(run.options.model.id, request),
      run: () => {
        const inside = { ...hooked, run: { ...run, tell: undefined } };
        return ask(asking(driver, request), hooked.key === undefined ? inside : { ...inside, key }, notes);
      },
    });
    const record = await asked.catch((error: unknown) => {
      this.usage = addUsage(this.usage, notes.usage);
      throw error;
    });
    const { message, finishReason, usage, answer, unreadable } = record;
    this.usage = addUsage(this.usage, usage);
    this.finishReason = finishReason;
    this.label = joinLabels(this.label, labelOfReply(message));
    if (answer === undefined) return { message, finishReason, usage, unreadable };
    this.instead = { ...record, usage: this.usage };
    throw new Error("a hook answered in place of the model");
  }

  /** Checks the questions so far against the bounds of the run and of those around it. @throws WritError `budget-exhausted` */
  private checkBounds(): void {
    const { state, hooked } = this.deciding;
    const { run } = hooked;
    const { usage } = this;
    const spent = { usage, costUsd: this.asked === 0 ? 0 : priceOf(usage, run.options) };
    const ledger = spend(state.ledger, spent);
    const begun = { ...ledger, turns: ledger.turns - 1 }; // the turn itself was reserved already
    const reserved = reserveTurn(begun, state.limits, state.elapsedMs);
    const around = run.scope.outer?.turnExcess(spend(emptyLedger, spent));
    const excess = around ?? (reserved.ok ? undefined : reserved.excess);
    if (excess === undefined) return;
    const { field, message: reason } = excess;
    throw new WritError("budget-exhausted", { name: run.gate.agent, reason, field }, { cause: excess });
  }
}

/** The driver for one question: nothing of the reply is shown or started before the author's driver has decided. */
function asking(driver: Driver, request: ModelRequest): Driver {
  return {
    name: driver.name,
    passthrough: false,
    plainResults: true,
    toolName: (name, allowed) => driver.toolName(name, allowed),
    request: () => request,
    read: (reply, turn) => driver.read(reply, turn),
  };
}

const types = ["calls", "final", "pending", "violation"] as const;
const someDecision = object({ type: oneOf(...types) });
const callList = list(object({ name: string }));

/** The reading of a driver's decision, with the message that stands for it in the transcript. */
function readingOf(decision: DriverDecision, name: string): Reading {
  const reading = fits(someDecision, decision) ? whole(decision) : undefined;
  if (reading !== undefined) return reading;
  const reason =
    'it decided nothing: a decision is a reading, `{ type: "calls", calls }` or `{ type: "final", content }`';
  throw new WritError("driver-failed", { driver: name, reason });
}

function whole(decision: DriverDecision): Reading | undefined {
  if ("message" in decision) return fits(record, decision.message) ? decision : undefined;
  if (!fits(someReading, decision)) return undefined;
  if (decision.type === "final") return { ...decision, message: replyOf(decision.content) };
  if (!fits(callList, decision.calls) || decision.calls.length === 0) return undefined;
  const parts = decision.calls.map(({ name, arguments: args }): ReplyPart => ({
    type: "tool-call",
    id: "",
    name,
    arguments: args ?? {},
  }));
  const message: ReplyMessage = { role: "assistant", parts };
  return { type: "calls", message };
}

function questionParts(model: string, { messages, prompt = "" }: ModelRequest): string {
  const asked = toJson([messages, prompt]);
  return partsText({ model, messages: asked.ok ? asked.value : null });
}
