import { WritError } from "../../error/writ-error.ts";
import { callsOf, textOf, type Message } from "../../message/message.ts";
import { textInWords } from "../../message/place-files.ts";
import { withTextsRead } from "../../message/text-files.ts";

/** A message in one of the three roles that every chat template knows. */
export interface PlainTurn {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

/**
 * A piece of a prompt. In `template` pieces the names of control tokens (`<|im_start|>`) mean those tokens. A `text` piece was written by people,
 * tools or models, and in it these names are plain letters, so that no content can begin a message of its own. `builtin` names one token.
 */
export type Segment =
  | { readonly type: "template" | "text"; readonly text: string }
  | { readonly type: "builtin"; readonly text: "BOS" | "EOS" | "NL" | "EOT" | "SEP" };

/**
 * Messages in plain roles: results of tools become messages of the user, because small models' templates have no role for them; consecutive messages of one
 * role become one, because many templates refuse two of them. More messages at the end change nothing before the last turn.
 *
 * @throws WritError `model-without-files` for a file of a user that is not text. The files of results are described in words.
 */
export function plainTurns(messages: readonly Message[], model: string): readonly PlainTurn[] {
  const turns: PlainTurn[] = [];
  for (const message of withTextsRead(messages)) {
    const turn = plainTurn(message, model);
    const last = turns.at(-1);
    if (last?.role === turn.role)
      turns[turns.length - 1] = { role: turn.role, text: `${last.text}\n\n${turn.text}` };
    else turns.push(turn);
  }
  return turns;
}

function plainTurn(message: Message, model: string): PlainTurn {
  if (message.role === "system") return { role: "system", text: message.text };
  if (message.role === "tool") return { role: "user", text: textInWords(message) };
  if (message.role === "assistant") {
    const calls = callsOf(message).map((call) =>
      JSON.stringify({ name: call.name, arguments: call.arguments }),
    );
    return {
      role: "assistant",
      text: message.raw ?? [textOf(message), ...calls].filter((text) => text !== "").join("\n"),
    };
  }
  const file = message.parts.find((part) => part.type === "file");
  if (file === undefined) return { role: "user", text: textOf(message) };
  const takes = "a model inside the process reads text only";
  throw new WritError("model-without-files", { model, mediaType: file.mediaType, takes });
}

/**
 * The prompt in ChatML, up to the place where the model writes: the result of `apply_chat_template` of such models, but without the system message that
 * some of them add if there is none.
 */
export function chatMlPrompt(turns: readonly PlainTurn[], beginning: string): readonly Segment[] {
  const segments: Segment[] = [];
  let template = beginning;
  for (const turn of turns) {
    template += `<|im_start|>${turn.role}\n`;
    if (turn.text !== "") {
      segments.push({ type: "template", text: template }, { type: "text", text: turn.text });
      template = "";
    }
    template += "<|im_end|>\n";
  }
  segments.push({ type: "template", text: `${template}<|im_start|>assistant\n` });
  return segments;
}

/**
 * True for a plain ChatML template without blocks of reasoning: {@link chatMlPrompt} writes the same prompt.
 */
export function isChatMl(template: string): boolean {
  return template.includes("<|im_start|>") && template.includes("<|im_end|>") && !template.includes("think");
}

/** True if a prompt begins with all of these segments. */
export function startsWith(segments: readonly Segment[], beginning: readonly Segment[]): boolean {
  if (beginning.length > segments.length) return false;
  return beginning.every((segment, index) => {
    const other = segments[index];
    return other?.type === segment.type && other.text === segment.text;
  });
}
