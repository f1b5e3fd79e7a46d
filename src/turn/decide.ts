import { grammarOf } from "../driver/grammar/grammar.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { type Message, userMessage } from "../message/message.ts";
import type { ChatReply } from "../model/chat.ts";
import type { Model, ReplyFormat } from "../model/model.ts";
import { checkedPatience, chatPatiently, type Patience, type PatientQuestion } from "../model/patience.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { isJsonObject, parseJson } from "../util/json.ts";
import { type Decider, noProvider } from "./llm-step.ts";

/** A choice that the model makes for the program. */
export interface DecideRequest<Option extends string = string> extends Patience {
  readonly question: string;
  /** At least two, each different. */
  readonly options: readonly Option[];
  /** The facts to choose by, as text. */
  readonly context?: string;
  readonly signal?: AbortSignal;
}

/** The option, exactly as it was offered; or none, with the reason. */
export type Chosen<Option extends string = string> =
  | { readonly option: Option; readonly tokens: number }
  | { readonly option: undefined; readonly tokens: number; readonly notice: string };

const maxAttempts = 2;

/** Has the model choose one of the options. The public function documents it. */
export async function decideWith<Option extends string>(
  { model, host }: Decider,
  request: DecideRequest<Option>,
): Promise<Chosen<Option>> {
  const { options, signal } = request;
  checkOptions(options);
  const patience = checkedPatience(request, "`decide`");
  if (model === undefined) return { option: undefined, tokens: 0, notice: noProvider };
  const messages: Message[] = [userMessage(questionText(request))];
  let tokens = 0;
  let why = "";
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const reply = await askForOption({ messages, options, signal }, { model, patience, host });
    tokens += reply.usage.inputTokens + reply.usage.outputTokens;
    const answer = answerIn(reply);
    const option = matching(answer, options);
    if (option !== undefined) return { option, tokens };
    why = `${JSON.stringify(answer.slice(0, 80))} is none of the options.`;
    messages.push(...corrected(reply, `${why} Give exactly one of: ${listed(options)}`));
  }
  return { option: undefined, tokens, notice: `the model chose nothing: ${why}` };
}

function checkOptions(options: readonly string[]): void {
  const wrong =
    options.length < 2
      ? "there must be at least two options."
      : new Set(options).size < options.length
        ? "two options are the same."
        : options.some((option) => option.trim() === "")
          ? "an option is empty."
          : undefined;
  if (wrong !== undefined) throw new WritError("definition-invalid", { where: "`decide`", reason: wrong });
}

function questionText({ question, options, context = "" }: DecideRequest): string {
  const known = context.trim() === "" ? "" : `\n\n${context.trim()}`;
  return `${question}${known}\n\nReply with exactly one of these options and nothing else: ${listed(options)}`;
}

function listed(options: readonly string[]): string {
  return options.map((option) => JSON.stringify(option)).join(", ");
}

interface OptionQuestion {
  readonly messages: readonly Message[];
  readonly options: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** Forces a call that names the option; a model without calls is held to the options while it writes, if it can be. */
async function askForOption(
  { messages, options, signal }: OptionQuestion,
  asked: PatientQuestion,
): Promise<ChatReply> {
  const { model } = asked;
  const around = signal === undefined ? {} : { signal };
  const inputSchema = {
    type: "object",
    properties: { option: { type: "string", enum: options } },
    required: ["option"],
    additionalProperties: false,
  };
  const choose = { name: "choose", description: "Chooses one of the options", inputSchema };
  if (model.features.tools !== false) {
    try {
      const toolChoice = { tool: "choose" };
      return await chatPatiently({ messages, tools: [choose], toolChoice, ...around }, asked);
    } catch (error) {
      if (!isWritError(error, "model-without-tools")) throw error;
    }
  }
  return chatPatiently({ messages, ...formatFor(model, inputSchema), ...around }, asked);
}

function formatFor({ features }: Model, schema: JsonSchema): { readonly format?: ReplyFormat } {
  if (features.format === "schema") return { format: { type: "schema", schema } };
  return features.format === "grammar" ? { format: { type: "grammar", grammar: grammarOf(schema) } } : {};
}

/** The answer in a reply: in its call, in a JSON object, or in words. */
function answerIn({ calls: [call], text }: ChatReply): string {
  const parsed = call === undefined ? parseJson(text) : { ok: true as const, value: call.arguments };
  if (!parsed.ok || !isJsonObject(parsed.value)) return text;
  const { option } = parsed.value;
  return typeof option === "string" ? option : text;
}

/** The option that an answer means: an exact match, else one but for case and punctuation, else the only option that occurs in the answer. */
function matching<Option extends string>(answer: string, options: readonly Option[]): Option | undefined {
  const exact = options.find((option) => option === answer.trim());
  if (exact !== undefined) return exact;
  const said = words(answer);
  const same = options.filter((option) => words(option) === said && said !== "");
  if (same.length > 0) return only(same);
  return only(options.filter((option) => words(option) !== "" && ` ${said} `.includes(` ${words(option)} `)));
}

function words(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function only<Option>(found: readonly Option[]): Option | undefined {
  return found.length === 1 ? found[0] : undefined;
}

/** The reply and its fault; providers want a result for a call, and refuse an empty reply. */
function corrected({ message, calls }: ChatReply, why: string): readonly Message[] {
  if (calls.length > 0) {
    const results = calls.map(({ id, name }) => ({
      role: "tool" as const,
      callId: id,
      name,
      status: "invalid" as const,
      text: why,
    }));
    return [message, ...results];
  }
  const said =
    message.parts.length > 0 ? message : { ...message, parts: [{ type: "text" as const, text: "(empty)" }] };
  return [said, userMessage(why)];
}
