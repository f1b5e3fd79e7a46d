import { WritError } from "../../error/writ-error.ts";
import { contentText, isAsked, type Message } from "../../message/message.ts";
import type { Delta, Model, ModelRequest } from "../../model/model.ts";
import type { Json } from "../../util/json.ts";
import type { Machine } from "./machine.ts";
import { type KnownTool, mutated, proposal } from "./propose.ts";
import { pick, type DeviationName, type ProposedCall, type Random, type Drawn } from "./schedule.ts";
import { never, type World } from "./world.ts";

/** A reply of the script: calls, or an answer. */
export type ScriptReply = string | { readonly calls: readonly ProposedCall[] };

/** The settings of the model of an agent. */
export interface ModelPart {
  readonly agent: string;
  /** Every tool of the agent, and of those inside it. */
  readonly tools: readonly KnownTool[];
  readonly script: readonly ScriptReply[];
  /** The answer after the script is over. */
  readonly answer: Json;
  /** Called with each request before it is answered. */
  readonly onRequest: (request: ModelRequest, agent: string) => void;
}

/** The price of a token, so that simulations meet bounds in dollars too. */
const dollarsPerToken = 0.000_01;

/** The time that the model takes for a reply, and from its last call to the end of the reply. */
const replyMs = 100;
const endMs = 5;

/** The model of an agent in a simulation: it says its script, or what the schedule decides. */
export function standInModel(part: ModelPart, machine: Machine): Model {
  return {
    id: `simulated/${part.agent}`,
    features: { tools: true },
    price: ({ inputTokens, outputTokens }) => (inputTokens + outputTokens) * dollarsPerToken,
    stream: (request) => reply(request, part, machine),
  };
}

/** Yields a reply. Its provider does not hear when a request is given up, and goes on writing. */
async function* reply(request: ModelRequest, part: ModelPart, machine: Machine): AsyncGenerator<Delta> {
  if (!machine.process.isAlive) await never();
  const { world } = machine;
  const number = world.count("model");
  const at = `model ${number}`;
  world.note(
    `${at} is asked by ${part.agent}, process ${machine.number}: ${request.messages.length} messages`,
  );
  part.onRequest(request, part.agent);
  const deviation = world.choose({ kind: "model", at }, (random) => drawReply(random, request, part));
  await machine.sleep(replyMs + (deviation?.ms ?? 0));
  if (deviation?.does === "is-silent") await never();
  if (deviation?.does === "is-overloaded")
    throw new WritError("model-rate-limited", {
      provider: "simulated",
      model: part.agent,
      reason: "too many requests",
    });
  const { does, calls } = deviation ?? {};
  const said = calls === undefined ? quiet(request.messages, part) : { calls };
  for (const delta of written(said, { number, world, does })) yield delta; // `yield*` would make three promises more of each
  if (typeof said !== "string") await machine.sleep(endMs);
  if (does === "breaks-off") throw broken();
  world.note(`model ${number} ${shownReply(said)}`);
  yield { type: "end", finishReason: finishOf(said, does), usage: { inputTokens: 10, outputTokens: 5 } };
}

interface Saying {
  readonly number: number;
  readonly world: World;
  readonly does: DeviationName | undefined;
}

/** The deltas of a reply before its end. */
function* written(said: ScriptReply, { number, world, does }: Saying): Generator<Delta, void> {
  if (typeof said === "string") {
    yield { type: "text-delta", text: said };
    return;
  }
  const { calls } = said;
  const last = calls.length - 1;
  for (const [index, { name, arguments: args }] of calls.entries()) {
    const text = JSON.stringify(args);
    const isCut = does === "is-cut" && index === last;
    if (isCut) world.cut.add(`c${number}_${index}`);
    if (does === "breaks-off") world.brokenOff.add(`c${number}_${index}`);
    for (const id of does === "doubles" && index === last ? [index, index] : [index]) {
      yield { type: "call-start", id: `c${number}_${id}`, name };
      yield { type: "call-delta", id: `c${number}_${id}`, text: isCut ? half(text) : text };
      if (!isCut) yield { type: "call-end", id: `c${number}_${id}` };
    }
  }
}

function finishOf(said: ScriptReply, does: DeviationName | undefined): "length" | "stop" | "tool-calls" {
  if (typeof said === "string") return "stop";
  if (does === "is-cut") return "length";
  return said.calls.length === 0 ? "stop" : "tool-calls";
}

function shownReply(said: ScriptReply): string {
  if (typeof said === "string") return `answers ${said}`;
  return `calls ${said.calls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`).join(", ")}`;
}

/** The part of arguments that is there when a reply ends in the middle of them: never JSON, because an object ends with its bracket. */
function half(written: string): string {
  return written.slice(0, Math.ceil(written.length / 2));
}

function broken(): WritError {
  return new WritError("provider-failed", {
    provider: "simulated",
    model: "simulated",
    reason: "the connection broke in the middle of the reply",
  });
}

/** The number of replies to the last question, and the number of questions. */
function placeIn(messages: readonly Message[]): { readonly replies: number; readonly asked: number } {
  let replies = 0;
  let asked = 0;
  for (const message of messages)
    if (isAsked(message)) {
      replies = 0;
      asked += 1;
    } else if (message.role === "assistant") replies += 1;
  return { replies, asked };
}

/** The reply of the script at this place of the conversation, by the number of replies that are there already. */
function quiet(messages: readonly Message[], { script, answer }: ModelPart): ScriptReply {
  const { replies, asked } = placeIn(messages);
  return (
    script[replies] ?? (typeof answer === "string" && asked > 1 ? `${answer} ${asked}` : contentText(answer))
  );
}

/** The share of replies replacing recorded ones that are a recorded one with one change; the others may be anything. */
const mutatedShare = 0.5;

function drawReply(random: Random, { tools, messages }: ModelRequest, part: ModelPart): Drawn | undefined {
  const chance = random();
  if (chance < 0.06) return { does: "is-overloaded" };
  if (chance < 0.12) return { does: "breaks-off" };
  if (chance < 0.14) return { does: "is-silent" };
  if (chance < 0.17) return { does: "is-late", ms: pick(random, [2000, 90_000]) };
  if (part.tools.length === 0) return undefined;
  const script = part.script.map((each) => (typeof each === "string" ? [] : each.calls));
  const { replies } = placeIn(messages);
  const [recorded = [], after = []] = script.slice(replies);
  const offered = new Set(tools.map(({ name }) => name));
  const sight = { tools: part.tools, offered, messages, script };
  const calls =
    recorded.length > 0 && random() < mutatedShare
      ? mutated(random, [recorded, after], sight)
      : proposal(random, sight);
  if (calls.length === 0) return undefined;
  const kind = random();
  return { does: kind < 0.04 ? "is-cut" : kind < 0.08 ? "doubles" : "proposes", calls };
}
