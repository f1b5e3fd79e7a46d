import type { Driver, Reading, TurnInput } from "../driver/driver.ts";
import { acceptableId } from "../message/transcript.ts";
import type { ModelSettings } from "../model/model.ts";
import { fingerprint } from "../util/hash.ts";
import type { ModelRecord } from "./ask-model.ts";
import type { Run, State } from "./run.ts";

/** What the driver makes this turn's request of. */
export function turnInput({ transcript, ledger, gate, limits }: State, { model, ...run }: Run): TurnInput {
  const mustAnswer = run.lastTurn === "answer" && ledger.turns >= limits.turns;
  const settings =
    limits.tokens === Infinity ? run.settings : withinTokens(run.settings, limits.tokens - ledger.tokens);
  return {
    transcript,
    allowed: gate.allowed,
    model,
    settings,
    examples: run.examples,
    toolChoice: mustAnswer ? "none" : run.toolChoice,
  };
}

/** What is left of the token budget bounds what the model may write. */
function withinTokens(settings: ModelSettings, left: number): ModelSettings {
  return {
    ...settings,
    maxOutputTokens: Math.max(1, Math.min(settings.maxOutputTokens ?? Infinity, Math.floor(left))),
  };
}

/** What a request is known by: the model, the tools, and what this turn adds to the transcript. */
export function requestFingerprint({ transcript, sent, gate }: State, { model }: Run): string {
  const tools = [...gate.allowed.tools.values()].map(({ name, description, input }) => [
    name,
    description,
    input.jsonSchema,
  ]);
  return fingerprint(JSON.stringify([model.id, tools, transcript.since(sent)]));
}

/** The driver that speaks. */
export function driverOf(state: State, run: Run): Driver {
  return run.drivers[state.driver] ?? run.drivers[0];
}

/** The driver's reading; the calls that it found in text get their ids here, as native calls got theirs while they came. */
export function readingOf(
  { message, finishReason, answer }: ModelRecord,
  from: { driver: Driver; input: TurnInput; turn: number },
): Reading {
  if (answer !== undefined) return { type: "final", message, content: answer };
  const reading = from.driver.read({ message, finishReason }, from.input);
  if (from.driver.passthrough || reading.type !== "calls") return reading;
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
  return { type: "calls", message: { ...reading.message, parts } };
}
