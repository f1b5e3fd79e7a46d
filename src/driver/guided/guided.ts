import { checkOptions, type TextDriverOptions } from "../text-options.ts";
import { textOf } from "../../message/message.ts";
import type { Tool } from "../../tool/tool.ts";
import { boolean } from "../../util/shape.ts";
import { sameJson } from "../../util/same-json.ts";
import { decidingDriver } from "../deciding.ts";
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

/** Options of {@link guidedDriver}. */
export interface GuidedDriverOptions extends Pick<TextDriverOptions, "maxRetries"> {
  /**
   * After a call another one is due as long as a tool has words and values of the request that no call used, and a call is made for each
   * member of a list. Costs no question to the model; its price is a call too many where words of the request fit a tool that was not meant
   * (1 of 100 cases, docs/small-models.md). False: one call for a request. Default true.
   */
  readonly cover?: boolean;
}

/**
 * Makes the driver for very small models: the program chooses what can be chosen by words, and the model writes the rest, one value at a time,
 * held to a grammar.
 *
 * @throws WritError `definition-invalid` for options that are none.
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { guidedDriver } from "writ/drivers";
 *
 * export const small = agent({ name: "small", model: "llama-cpp/smollm2-135m", driver: guidedDriver({ cover: false }) });
 * ```
 */
export function guidedDriver(options: GuidedDriverOptions = {}): Driver {
  checkOptions("guidedDriver()", options, { cover: boolean });
  const { cover = true, maxRetries = 1 } = options;
  const driver = decidingDriver({
    name: "guided",
    plainResults: true,
    maxViolations: maxRetries + 1,
    decide: (turn, ask) =>
      turn.examples.length > 0
        ? decideByLines(turn, ask, driver)
        : decideByWords({ turn, ask, scene: sceneOf(turn) }, { driver, cover }),
  });
  return driver;
}

async function decideByWords(
  asking: Asking,
  { driver, cover }: { readonly driver: Driver; readonly cover: boolean },
): Promise<DriverDecision> {
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
