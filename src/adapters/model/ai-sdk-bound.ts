import { markedText, toldResult } from "../../driver/mark-results.ts";
import type { ResultMessage } from "../../message/message.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { AiSdkProviderTool } from "./ai-sdk-tools.ts";

/** A result in the form of the provider's own tool: the provider refuses a text. */
export type ResultForm = (result: ResultMessage) => JsonObject;

/** The forms of the results of tools that are bound to the provider's, by name; most providers take a text. */
export function resultForms(
  bound: Readonly<Record<string, AiSdkProviderTool>> = {},
): ReadonlyMap<string, ResultForm> {
  return new Map(
    Object.entries(bound).flatMap(([name, { id }]) => {
      const form = forms.get(id);
      return form === undefined ? [] : [[name, form] as const];
    }),
  );
}

/** The forms of results of OpenAI's own tools that a program runs, as its package takes them. A result that already has the form is sent as it is. */
const forms: ReadonlyMap<string, ResultForm> = new Map<string, ResultForm>([
  ["openai.shell", (result) => given(result, printedIn) ?? { output: [printed(result)] }],
  ["openai.local_shell", (result) => given(result, saidIn) ?? { output: result.text }],
  ["openai.apply_patch", (result) => given(result, appliedIn) ?? applied(result)],
  ["openai.computer", (result) => given(result, screenIn) ?? { output: screen(result) }],
]);

/** Returns a text of a result as a model is shown it: marked if a stranger wrote it. */
type Shown = (text: string) => string;

/** The text for the model, if the tool returned only that and it has the form. */
function given(
  result: ResultMessage,
  inForm: (value: JsonObject, shown: Shown) => JsonObject | undefined,
): JsonObject | undefined {
  const { mark, value } = toldResult(result);
  if (result.status !== "ok" || !isJsonObject(value)) return undefined;
  const isMarked = mark.trusted === false;
  return inForm(value, (text) => (isMarked && text !== "" ? markedText(result.name, text) : text));
}

function printed({ status, text }: ResultMessage): JsonObject {
  if (status === "ok") return { stdout: text, stderr: "", outcome: { type: "exit", exitCode: 0 } };
  const outcome: JsonObject = status === "timeout" ? { type: "timeout" } : { type: "exit", exitCode: 1 };
  return { stdout: "", stderr: text, outcome };
}

function applied({ status, text: output }: ResultMessage): JsonObject {
  return { status: status === "ok" ? "completed" : "failed", output };
}

/** A result with a picture but no words: a result without a picture shows a screen of one transparent point. */
function screen({ files = [] }: ResultMessage): JsonObject {
  const { mediaType, data } = files.find((file) => file.mediaType.startsWith("image/")) ?? blank;
  const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(data);
  return { type: "computer_screenshot", imageUrl: isAddress ? data : `data:${mediaType};base64,${data}` };
}

const blank = {
  mediaType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
};

function screenIn(value: JsonObject): JsonObject | undefined {
  const { output } = value;
  const isScreen = isJsonObject(output) && output["type"] === "computer_screenshot";
  return isScreen && (output["imageUrl"] ?? output["fileId"]) !== undefined ? value : undefined;
}

function printedIn(value: JsonObject, shown: Shown): JsonObject | undefined {
  const { output } = value;
  if (!isJsonList(output)) return undefined;
  const ends = output.flatMap((end) => endIn(end, shown) ?? []);
  return ends.length === output.length ? { ...value, output: ends } : undefined;
}

function endIn(end: Json, shown: Shown): JsonObject | undefined {
  if (!isJsonObject(end)) return undefined;
  const { stdout, stderr, outcome } = end;
  if (typeof stdout !== "string" || typeof stderr !== "string" || !isJsonObject(outcome)) return undefined;
  const isKnown =
    outcome["type"] === "timeout" || (outcome["type"] === "exit" && typeof outcome["exitCode"] === "number");
  return isKnown ? { stdout: shown(stdout), stderr: shown(stderr), outcome } : undefined;
}

function saidIn({ output }: JsonObject, shown: Shown): JsonObject | undefined {
  return typeof output === "string" ? { output: shown(output) } : undefined;
}

function appliedIn({ status, output = "" }: JsonObject, shown: Shown): JsonObject | undefined {
  const isKnown = status === "completed" || status === "failed";
  return isKnown && typeof output === "string" ? { status, output: shown(output) } : undefined;
}
