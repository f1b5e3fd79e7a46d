import { textOf } from "../../message/message.ts";
import type { Tool } from "../../tool/tool.ts";
import { type Json, type JsonObject, parseJson } from "../../util/json.ts";
import { oneLine } from "../../util/one-line.ts";
import { sameJson } from "../../util/same-json.ts";
import type { AskModel, TurnInput } from "../driver.ts";
import { grammarFor, terminal } from "../grammar/grammar.ts";
import { callBeginning, callLine, headLine } from "../notation.ts";
import type { MadeCall, Scene } from "./scene.ts";

/** The questions to the model while a turn is decided. */
export interface Asking {
  readonly turn: TurnInput;
  readonly ask: AskModel;
  readonly scene: Scene;
}

/** A value that the model writes is cut after so many tokens. */
const mostTokens = 120;

/** True if the model goes on from a text under a grammar: else only the program chooses. */
function canChoose({ turn: { model } }: Pick<Asking, "turn">): boolean {
  return model.features.format === "grammar" && model.features.completion === true;
}

/** The one of these values that the model writes behind what is known of the call; the first when it cannot be asked. */
export async function chooseValue(
  asking: Asking,
  about: { readonly tool: Tool; readonly known: JsonObject; readonly field: string },
  options: readonly Json[],
): Promise<number> {
  if (options.length < 2 || !canChoose(asking)) return 0;
  const grammar = `root ::= ${options.map((option) => terminal(JSON.stringify(option))).join(" | ")}`;
  const written = await complete(asking, {
    tools: [about.tool],
    step: callBeginning(about.tool, about.known, about.field),
    grammar,
  });
  const parsed = parseJson(written);
  const at = parsed.ok ? options.findIndex((option) => sameJson(option, parsed.value)) : -1;
  return Math.max(0, at);
}

/** A value that the model writes itself, held to its schema; undefined when it cannot be asked or came to no end. */
export async function writeValue(
  asking: Asking,
  about: { readonly tool: Tool; readonly known: JsonObject; readonly field: string },
  schema: JsonObject,
): Promise<Json | undefined> {
  if (!canChoose(asking)) return undefined;
  const grammar = grammarFor([schema], ([value = "value"]) => value);
  const step = callBeginning(about.tool, about.known, about.field);
  const parsed = parseJson(await complete(asking, { tools: [about.tool], step, grammar }));
  return parsed.ok ? parsed.value : undefined;
}

/** The one of these tools that the model writes, or undefined for none of them. */
export async function chooseTool(
  asking: Asking,
  tools: readonly Tool[],
  mayAnswer: boolean,
): Promise<Tool | undefined> {
  if (!canChoose(asking)) return undefined;
  const none = "Answer:";
  const names = tools.map(({ name }) => terminal(`${name} `));
  const grammar = `root ::= ${[...names, ...(mayAnswer ? [terminal(none)] : [])].join(" | ")}`;
  const written = (await complete(asking, { tools, step: "", grammar })).trim();
  return tools.find(({ name }) => name === written);
}

interface Completion {
  readonly tools: readonly Tool[];
  /** The beginning of the step that is asked for. */
  readonly step: string;
  readonly grammar: string;
}

/** The text that the model writes behind the request, the calls made for it, and the beginning of the next step. */
async function complete({ turn, ask, scene }: Asking, { tools, step, grammar }: Completion): Promise<string> {
  const done = scene.made.map((made) => doneLine(made, turn));
  const lines = [
    tools.map(headLine).join("\n"),
    "",
    `Q: ${oneLine(scene.said.text)}`,
    ...done,
    `Step: ${step}`,
  ];
  const { settings } = turn;
  const maxOutputTokens = Math.min(mostTokens, settings.maxOutputTokens ?? mostTokens);
  const prompt = lines.join("\n");
  const { message } = await ask({
    messages: [{ role: "user", parts: [{ type: "text", text: prompt }] }],
    prompt,
    tools: [],
    toolChoice: "none",
    format: { type: "grammar", grammar },
    settings: { temperature: 0, ...settings, maxOutputTokens },
  });
  return textOf(message);
}

const longestResult = 200;

function doneLine({ call, result }: MadeCall, { allowed }: TurnInput): string {
  return `Step: ${callLine(call.name, call.arguments, allowed)} = ${oneLine(result.text).slice(0, longestResult)}`;
}
