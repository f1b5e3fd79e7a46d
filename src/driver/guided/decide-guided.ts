import { textOf } from "../../message/message.ts";
import type { Tool } from "../../tool/tool.ts";
import { sameJson } from "../../util/same-json.ts";
import type { AskModel, Driver, DriverDecision, TurnInput } from "../driver.ts";
import { linesDriver } from "../lines.ts";
import { answerFormat, shapeOf } from "../reply-shape.ts";
import type { Asking } from "./ask-model.ts";
import { callsOf, type DecidedCall } from "./make-calls.ts";
import { mentionsIn } from "./mentions.ts";
import { propose } from "./propose.ts";
import { quoted } from "./quote.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { type Slot, slotsOf } from "./slots.ts";
import { withPatterns } from "./takes-value.ts";
import { withoutCircle } from "./without-circle.ts";

/** The guided driver whose turn it is, and whether it covers the whole request. */
export interface Guiding {
  readonly driver: Driver;
  readonly cover: boolean;
}

/** Decides a turn of the guided driver. */
export function decideGuided(turn: TurnInput, ask: AskModel, guiding: Guiding): Promise<DriverDecision> {
  return turn.examples.length > 0
    ? decideByLines(turn, ask, guiding.driver)
    : decideByWords({ turn, ask, scene: sceneOf(turn) }, guiding);
}

async function decideByWords(asking: Asking, { driver, cover }: Guiding): Promise<DriverDecision> {
  const { turn, ask, scene } = asking;
  const { made } = scene;
  await withPatterns([...turn.allowed.tools.values()]);
  const hasFailed = made.some(({ result }) => result.status !== "ok");
  const proposal = hasFailed ? undefined : await propose(asking, cover);
  if (proposal !== undefined) {
    const calls = (await callsOf(asking, proposal.filling, cover)).filter((call) => !isMade(call, scene));
    if (calls.length > 0) return { type: "calls", calls };
  }
  return made.length > 0 && turn.output === undefined ? quoted(made) : answerInWords(turn, ask, driver);
}

function isMade({ name, arguments: args }: DecidedCall, { made }: Scene): boolean {
  return made.some(({ call }) => call.name === name && sameJson(call.arguments, args));
}

/** An answer of a small model goes round in circles when it is long. */
const mostTokens = 160;

/** The model answers as in any conversation, and is told of no tools. */
async function answerInWords(turn: TurnInput, ask: AskModel, driver: Driver): Promise<DriverDecision> {
  const { messages } = driver.request(turn);
  const { maxOutputTokens = mostTokens } = turn.settings;
  const settings = {
    temperature: 0,
    ...turn.settings,
    maxOutputTokens: Math.min(mostTokens, maxOutputTokens),
  };
  const format = answerFormat(turn);
  const { message } = await ask({
    messages,
    tools: [],
    toolChoice: "none",
    settings,
    ...(format === undefined ? {} : { format }),
  });
  const content = withoutCircle(textOf(message).trim());
  if (content !== "")
    return { type: "final", message: { ...message, parts: [{ type: "text", text: content }] }, content };
  return {
    type: "violation",
    message: { ...message, parts: [{ type: "text", text: "(empty)" }] },
    reason: "it is empty",
    feedback: "Answer in words.",
  };
}

/** With worked examples of its author the model speaks in lines; the grammar has only tools whose values were said. */
async function decideByLines(turn: TurnInput, ask: AskModel, driver: Driver): Promise<DriverDecision> {
  const scene = sceneOf(turn);
  const { tools } = shapeOf(turn);
  const lacking = tools.filter((tool) => lacks(tool, scene));
  if (lacking.length > 0 && lacking.length === tools.length && scene.made.length === 0)
    return answerInWords(turn, ask, driver);
  const names = new Set(lacking.map(({ name }) => name));
  const left = new Map([...turn.allowed.tools].filter(([name]) => !names.has(name)));
  const request = linesDriver.request(turn);
  const { format } =
    names.size === 0 ? request : linesDriver.request({ ...turn, allowed: { ...turn.allowed, tools: left } });
  return linesDriver.read(await ask(format === undefined ? request : { ...request, format }), turn);
}

/** The gate where the author showed examples: a tool that needs numbers, when none was said. */
function lacks(tool: Tool, { said, made }: Scene): boolean {
  const needs = slotsOf(tool, said.language).some((slot) => slot.isRequired && isNumber(slot));
  return (
    needs &&
    made.length === 0 &&
    !mentionsIn(said.text, 0, said.language).some(({ kind }) => kind === "number")
  );
}

const isNumber = ({ type }: Slot): boolean => type === "number" || type === "integer";
