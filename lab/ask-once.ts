import { nodeHost } from "../src/adapters/clock.ts";
import type { Drivers } from "../src/driver/choose.ts";
import type { Driver, DriverDecision, Reading, TurnInput } from "../src/driver/driver.ts";
import { askModel, type ModelQuestion, type ModelRecord, noFailures } from "../src/turn/ask-model.ts";
import { readingOf } from "../src/turn/reply.ts";
import { callsOf, type Message, textOf, type ToolCall } from "../src/message/message.ts";
import { readTranscript } from "../src/message/read-transcript.ts";
import { addReply, type ReadyTranscript, type Transcript } from "../src/message/transcript.ts";
import { addUsage, noUsage, type Usage } from "../src/message/usage.ts";
import type { Model, ModelSettings } from "../src/model/model.ts";
import type { AllowList } from "../src/policy/allow-list.ts";
import type { Maybe } from "../src/util/maybe.ts";
import { interruptBy, untilStopped } from "../src/util/interrupt.ts";

/** One turn without an agent. */
export interface Asked {
  readonly model: Model;
  /** The drivers to try: the next where the provider says that the model has no native tools. */
  readonly drivers: Drivers;
  readonly messages: readonly Message[];
  readonly allowed: AllowList;
  readonly settings: ModelSettings;
  readonly signal?: AbortSignal;
}

/** Kind of the reply. */
export interface Replied {
  /** The name of the driver that was used. */
  readonly driver: string;
  readonly type: "calls" | "final" | "violation";
  readonly calls: readonly ToolCall[];
  /** The text as the model wrote it. */
  readonly said: string;
  /** Reason of a violation. */
  readonly reason?: string;
  readonly usage: Usage;
  readonly durationMs: number;
}

/** The greatest number of pieces of one reply. */
const maxPieces = 8;

/**
 * Asks a model one question through a driver and reads its reply. A violation is not sent back, and no call is run. A driver that asks for a
 * reply in pieces gets all of them.
 *
 * @throws WritError what the model's adapter throws, `transcript-invalid`. An aborted request throws the signal's reason.
 */
export async function askOnce(asked: Asked): Promise<Replied> {
  const { model, drivers, allowed, settings, signal } = asked;
  const { stop, unlink } = interruptBy(signal);
  const host = nodeHost;
  const startedAt = performance.now();
  let transcript = ready(readTranscript({ messages: asked.messages }));
  let usage = noUsage;
  try {
    for (let turn = 1; ; turn += 1) {
      const input: TurnInput = { transcript, allowed, model, settings, examples: [], toolChoice: "auto" };
      const question = { turn, input, drivers, host, stop, notes: noFailures() };
      const record = await untilStopped(askOrDecide(question), stop);
      signal?.throwIfAborted();
      if (record === "stopped") throw new TypeError("only the signal stops a question");
      usage = addUsage(usage, record.usage);
      const driver = drivers.find(({ name }) => name === record.driver) ?? drivers[0];
      const reading = readingOf(record, { driver, input, turn });
      if (reading.type !== "pending" || turn === maxPieces) {
        const durationMs = performance.now() - startedAt;
        const said = reading.message.raw ?? textOf(reading.message);
        return { driver: driver.name, ...endOf(reading), said, usage, durationMs };
      }
      transcript = ready(addReply(transcript, reading.message));
    }
  } finally {
    unlink();
  }
}

/** The record of a question, or of the decision of a driver, which asks the model itself, as often as it likes. */
function askOrDecide(question: ModelQuestion): Maybe<ModelRecord> {
  const [driver] = question.drivers;
  const decide = driver?.decide?.bind(driver);
  return driver === undefined || decide === undefined
    ? askModel(question)
    : decided({ driver, decide }, question);
}

async function decided(
  { driver, decide }: { readonly driver: Driver; readonly decide: NonNullable<Driver["decide"]> },
  question: ModelQuestion,
): Promise<ModelRecord> {
  const { input, host } = question;
  const startedAt = host.now();
  let usage = noUsage;
  const decision = await decide(input, async (request) => {
    const record = await askModel({ ...question, drivers: [{ ...driver, request: () => request }] });
    usage = addUsage(usage, record.usage);
    return record;
  });
  const reading = wholeReading(decision);
  return {
    driver: driver.name,
    message: reading.message,
    finishReason: "stop",
    usage,
    startedAt,
    endedAt: host.now(),
    reading,
  };
}

function wholeReading(decision: DriverDecision): Reading {
  if ("message" in decision) return decision;
  if (decision.type === "final") throw new TypeError("a driver gives its answer with a message");
  const parts = decision.calls.map(({ name, arguments: args }) => ({
    type: "tool-call" as const,
    id: "",
    name,
    arguments: args,
  }));
  return { type: "calls", message: { role: "assistant", parts } };
}

function ready(transcript: Transcript): ReadyTranscript {
  if (transcript.state === "ready") return transcript;
  throw new TypeError("a question that is asked once leaves no call open");
}

function endOf(reading: Reading): Pick<Replied, "type" | "calls" | "reason"> {
  if (reading.type === "violation") return { type: "violation", calls: [], reason: reading.reason };
  if (reading.type === "pending") return { type: "violation", calls: [], reason: "the reply came to no end" };
  if (reading.type === "final") return { type: "final", calls: [] };
  return { type: "calls", calls: callsOf(reading.message) };
}
