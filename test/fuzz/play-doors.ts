import fc from "fast-check";
import { executeWith } from "../../src/agent/execute-calls.ts";
import { isWritError } from "../../src/error/writ-error.ts";
import { callAmongWith } from "../../src/call/call-tool.ts";
import { safeLoopWith } from "../../src/turn/safe-loop.ts";
import { type ResultMessage, type ToolCall, labelOf } from "../../src/message/message.ts";
import type { Tool } from "../../src/tool/tool.ts";
import type { Json } from "../../src/util/json.ts";
import { sayingOf, modelOf } from "./build-model.ts";
import { approveOf, policyOf } from "./build-run.ts";
import { powersOf, toolsOf } from "./build-tools.ts";
import { executionFaults, type Faults, powerFaults, secretFaults } from "./checks.ts";
import { anyJson, hostileNames, userWords } from "./hostile.ts";
import { shown } from "./play-agent.ts";
import { type Book, openBook } from "./record.ts";
import { callSpec, scene, type CallSpec, type Scene } from "./scene.ts";

/** Calls that a program carries out itself. */
export interface DoorScene {
  readonly scene: Scene;
  readonly calls: readonly CallSpec[];
  readonly door: "execute" | "callTool" | "safeLoop";
  readonly maxSteps: number;
  readonly budget: number;
  readonly odd: { readonly name: string; readonly json: Json };
}

const bounds = [0, 1, 3, 50, -1, Number.NaN, Infinity, 2 ** 53, 0.5] as const;

export const doorScene: fc.Arbitrary<DoorScene> = fc.record({
  scene,
  calls: fc.array(callSpec, { maxLength: 5 }),
  door: fc.constantFrom("execute", "callTool", "safeLoop"),
  maxSteps: fc.constantFrom(0, 1, 3, 3, 5, 5, -1, Number.NaN),
  budget: fc.constantFrom(...bounds, 4000, 4000, 4000),
  odd: fc.record({ name: fc.constantFrom(...hostileNames), json: anyJson }),
});

/** Calls tools without an agent around, and says what was wrong. */
export async function playDoor(door: DoorScene): Promise<Faults> {
  const book = openBook(door.scene.abort);
  const around = [powersOf(door.scene.grants)];
  const tools = toolsOf(door.scene, { book, agent: door.door, around });
  let faults: Faults = [];
  const work = (async () => {
    try {
      faults = await plays[door.door](door, { book, tools });
    } catch (error) {
      const isOwn = isWritError(error) || (book.signal.aborted && error === book.signal.reason);
      faults = isOwn ? [] : [`${door.door} threw ${shown(error)}`];
    }
  })();
  if (!(await book.clock.drive(work))) return mayHang(door) ? [] : [`${door.door} hangs`];
  await book.clock.drain();
  return [...faults, ...powerFaults(book), ...book.clock.faults];
}

/** Where nothing bounds the time of a call, a tool may take for ever; so may a person, and a model. */
function mayHang({ scene: { tools, approve, replies }, door }: DoorScene): boolean {
  const isSlow = tools.some(
    ({ behaviour, timeoutMs = Infinity }) =>
      (behaviour.do === "never" || behaviour.do === "delegate" || behaviour.do === "escape") &&
      timeoutMs > 2 ** 30,
  );
  return (
    isSlow || (door === "execute" && approve === "never") || replies.some(({ fault }) => fault === "hang")
  );
}

interface Standing {
  readonly book: Book;
  readonly tools: readonly Tool[];
}

const plays: Readonly<Record<DoorScene["door"], (door: DoorScene, standing: Standing) => Promise<Faults>>> = {
  execute: playExecute,
  callTool: playCallTool,
  safeLoop: playSafeLoop,
};

async function playExecute({ scene, calls }: DoorScene, { book, tools }: Standing): Promise<Faults> {
  const policy = policyOf(scene, book);
  const asked = calls.map((call, index): ToolCall => {
    const { name, text } = sayingOf(call, scene);
    return { type: "tool-call", id: `call_${index}`, name, arguments: argumentsOf(text) };
  });
  const execute = (): Promise<ResultMessage[]> =>
    executeWith(
      {
        calls: asked,
        tools,
        ...(policy === undefined ? {} : { policy }),
        approve: approveOf(scene, book),
        grants: powersOf(scene.grants),
        intent: userWords,
        signal: book.signal,
        budget: { toolMs: 5000 },
      },
      book.host,
    );
  const results = await execute();
  const faults = executionFaults(book, { agent: "execute", listed: scene.names, policy: scene.policy });
  const places = results.map(({ callId, role }) => `${role} ${callId}`).join();
  if (places !== asked.map(({ id }) => `tool ${id}`).join()) faults.push(`the results are of ${places}`);
  faults.push(...secretFaults({ book, events: [], others: results }));
  if (scene.policy !== "deny-all" || faults.length > 0) return faults;
  const ran = book.ran.length;
  const again = await execute();
  if (JSON.stringify(again) !== JSON.stringify(results))
    faults.push("saying no twice is not saying the same");
  if (ran > 0 || book.ran.length > 0) faults.push("saying no ran a tool");
  return faults;
}

function argumentsOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Every end is a result, whatever the model wrote and the tool does. */
async function playCallTool({ scene, calls, odd }: DoorScene, { book, tools }: Standing): Promise<Faults> {
  const faults: Faults = [];
  const options = { host: book.host, grants: powersOf(scene.grants), timeoutMs: 5000, signal: book.signal };
  const said = calls.map((call) => sayingOf(call, scene));
  for (const { name, text } of [...said, { name: odd.name, text: JSON.stringify(odd.json) }]) {
    const before = book.ran.length;
    const result = await callAmongWith(tools, { name, arguments: argumentsOf(text) }, options);
    const isKnown = tools.some((tool) => tool.name === name);
    if (!isKnown && (result.status !== "denied" || book.ran.length > before))
      faults.push(`"${name}" is no tool, and ran`);
    if (typeof result.text !== "string" || result.role !== "tool") faults.push(`${name} gave no result`);
    const spec = scene.tools[scene.names.indexOf(name)];
    const mayTrust =
      spec === undefined ||
      spec.trusted === true ||
      spec.effect === "none" ||
      spec.behaviour.do === "trusted-label";
    if (!mayTrust && result.status === "ok" && labelOf(result).integrity === "trusted")
      faults.push(`${name} is trusted`);
    faults.push(...secretFaults({ book, events: [], others: [result] }));
  }
  return [
    ...faults,
    ...book.ran.filter(({ fits }) => !fits).map(({ tool, args }) => `${tool} ran with ${args}`),
  ];
}

async function playSafeLoop(
  { scene, maxSteps, budget }: DoorScene,
  { book, tools }: Standing,
): Promise<Faults> {
  const faults: Faults = [];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  let steps = 0;
  const timeless = tools.map((tool) => [tool.name, { ...tool, timeoutMs: 5000 }] as const);
  const answer = await safeLoopWith(
    { model: modelOf(scene, book), host: book.host },
    {
      question: "What now?",
      tools: new Map(timeless),
      maxSteps,
      budget,
      intent: userWords,
      grants: powersOf(scene.grants),
      signal: book.signal,
      onStep: () => void (steps += 1),
    },
  );
  if (typeof answer !== "string") faults.push("the answer is no text");
  if (!(maxSteps >= 0) || !(budget >= 0)) faults.push(`bounds of ${maxSteps} and ${budget} were taken`);
  if (steps > maxSteps) faults.push(`${steps} steps of ${maxSteps}`);
  if (book.ran.filter(({ agent }) => agent === "safeLoop").length > steps)
    faults.push("more tools than steps");
  for (const { tool, fits, args, agent } of book.ran)
    if (!fits || (agent === "safeLoop" && !byName.has(tool))) faults.push(`${tool} ran with ${args}`);
  return [...faults, ...secretFaults({ book, events: [], others: [answer] })];
}
