import { WritError } from "../../error/writ-error.ts";
import { isAsked, type Message } from "../../message/message.ts";
import type { Delta, Model, ModelRequest } from "../../model/model.ts";
import type { Json } from "../../util/json.ts";
import type { Machine } from "./machine.ts";
import { type KnownTool, proposal } from "./propose.ts";
import { pick, type ProposedCall, type Random, type Drawn } from "./schedule.ts";
import { never } from "./world.ts";

/** A reply of the script: calls, or an answer. */
export type ScriptReply = string | { readonly calls: readonly ProposedCall[] };

/** What stands behind the model of an agent. */
export interface ModelPart {
  readonly agent: string;
  /** Every tool of the agent, and of those inside it. */
  readonly tools: readonly KnownTool[];
  readonly script: readonly ScriptReply[];
  /** What it says when the script is over. */
  readonly answer: Json;
  /** Told each request before it is answered. */
  readonly onRequest: (request: ModelRequest, agent: string) => void;
}

/** The price of a token: bounds in dollars are met in a simulation too. */
const dollarsPerToken = 0.000_01;

/** The time that the model takes for a reply, and from its last call to the end of it. */
const replyMs = 100;
const endMs = 5;

/** The model of an agent in a simulation: it says its script, or what the schedule has it say. */
export function standInModel(part: ModelPart, machine: Machine): Model {
  return {
    id: `simulated/${part.agent}`,
    features: { tools: true },
    price: ({ inputTokens, outputTokens }) => (inputTokens + outputTokens) * dollarsPerToken,
    stream: (request) => reply(request, part, machine),
  };
}

/** A reply. Its provider is deaf: it does not hear when a request is given up, and goes on writing to nobody. */
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
  const said =
    deviation?.does === "proposes" ? { calls: deviation.calls ?? [] } : quiet(request.messages, part);
  yield* deltas(said, { number, machine, breaksOff: deviation?.does === "breaks-off" });
}

interface Saying {
  readonly number: number;
  readonly machine: Machine;
  readonly breaksOff: boolean;
}

async function* deltas(said: ScriptReply, { number, machine, breaksOff }: Saying): AsyncGenerator<Delta> {
  const { world } = machine;
  const usage = { inputTokens: 10, outputTokens: 5 };
  if (typeof said === "string") {
    yield { type: "text-delta", text: said };
    if (breaksOff) throw broken();
    world.note(`model ${number} answers ${said}`);
    yield { type: "end", finishReason: "stop", usage };
    return;
  }
  const { calls } = said;
  for (const [index, { name, arguments: args }] of calls.entries()) {
    const id = `c${number}_${index}`;
    yield { type: "call-start", id, name };
    yield { type: "call-end", id, arguments: JSON.stringify(args) };
  }
  await machine.sleep(endMs);
  if (breaksOff) throw broken();
  world.note(
    `model ${number} calls ${calls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`).join(", ")}`,
  );
  yield { type: "end", finishReason: calls.length === 0 ? "stop" : "tool-calls", usage };
}

function broken(): WritError {
  return new WritError("provider-failed", {
    provider: "simulated",
    model: "simulated",
    reason: "the connection broke in the middle of the reply",
  });
}

/** The reply of the script at this place of the conversation: as many replies are there already. */
function quiet(messages: readonly Message[], { script, answer }: ModelPart): ScriptReply {
  let replies = 0;
  let asked = 0;
  for (const message of messages)
    if (isAsked(message)) {
      replies = 0;
      asked += 1;
    } else if (message.role === "assistant") replies += 1;
  return script[replies] ?? (typeof answer === "string" && asked > 1 ? `${answer} ${asked}` : text(answer));
}

function text(answer: Json): string {
  return typeof answer === "string" ? answer : JSON.stringify(answer);
}

function drawReply(random: Random, { tools, messages }: ModelRequest, part: ModelPart): Drawn | undefined {
  const chance = random();
  if (chance < 0.06) return { does: "is-overloaded" };
  if (chance < 0.12) return { does: "breaks-off" };
  if (chance < 0.14) return { does: "is-silent" };
  if (chance < 0.17) return { does: "is-late", ms: pick(random, [2000, 90_000]) };
  if (part.tools.length === 0) return undefined;
  const offered = new Set(tools.map(({ name }) => name));
  const script = part.script.map((each) => (typeof each === "string" ? [] : each.calls));
  const calls = proposal(random, { tools: part.tools, offered, messages, script });
  return calls.length === 0 ? undefined : { does: "proposes", calls };
}
