import type { ChatHistoryItem, JinjaTemplateChatWrapper, LlamaModel, LlamaText, Token } from "node-llama-cpp";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { chatMlPrompt, isChatMl, type PlainTurn, type Segment } from "./llama-cpp-prompt.ts";
import type { LlamaLibrary } from "./llama-cpp-runtime.ts";

/** Writes conversations in the form that a model was trained on. */
export interface PromptWriter {
  /**
   * The prompt up to the place where the model writes. The prompt of more turns begins with that of fewer, up to its last turn.
   *
   * @throws WritError `model-file-invalid` if the model has no template, and so knows no conversations
   */
  write(turns: readonly PlainTurn[]): readonly Segment[];
  /** The tokens that end a reply, in addition to those that the model declares. */
  readonly stopTokens: ReadonlySet<Token>;
  /** Texts that end a reply, for models without tokens for it. */
  readonly stopTexts: readonly string[];
}

interface PromptSource {
  readonly library: LlamaLibrary;
  readonly model: LlamaModel;
  readonly path: string;
  /** Jinja, or the word `chatml`. */
  readonly template: string | undefined;
}

/**
 * Makes the writer for a model: ChatML directly, any other template with the Jinja interpreter of node-llama-cpp.
 * Without a template the model can still complete plain text.
 *
 * @throws WritError `model-file-invalid` if the template cannot be used
 */
export function promptWriter(source: PromptSource): PromptWriter {
  const { template, path } = source;
  if (template === undefined) return completionWriter(path);
  if (template === "chatml" || isChatMl(template)) return chatMlWriter(source);
  try {
    return jinjaWriter(source, template);
  } catch (error) {
    throw new WritError(
      "model-file-invalid",
      { path, reason: `its chat template cannot be used: ${messageOf(error)}` },
      { cause: error },
    );
  }
}

function completionWriter(path: string): PromptWriter {
  return {
    write() {
      const reason =
        "it has no chat template, so it only completes text; if it does know a conversation format, give `template`";
      throw new WritError("model-file-invalid", { path, reason });
    },
    stopTokens: new Set(),
    stopTexts: [],
  };
}

function chatMlWriter({ model }: PromptSource): PromptWriter {
  const opening = model.tokenize("<|im_start|>", true);
  const closing = model.tokenize("<|im_end|>", true);
  const { shouldPrependBosToken, bosString } = model.tokens;
  const beginning =
    shouldPrependBosToken && bosString !== null && bosString !== "<|im_start|>" ? bosString : "";
  return {
    write: (turns) => chatMlPrompt(turns, beginning),
    stopTokens: new Set([opening, closing].flatMap((tokens) => (tokens.length === 1 ? tokens : []))),
    stopTexts: closing.length === 1 ? [] : ["<|im_end|>"],
  };
}

function jinjaWriter({ library, model }: PromptSource, template: string): PromptWriter {
  const { tokenizer } = model;
  const wrapper = new library.JinjaTemplateChatWrapper({
    template,
    tokenizer,
    reasoning: false,
    trimLeadingWhitespaceInResponses: false,
  });
  const { stopGenerationTriggers } = contextState(wrapper, [{ role: "user", text: "Hello" }]);
  const stopTokens = new Set<Token>();
  const stopTexts: string[] = [];
  for (const trigger of stopGenerationTriggers) {
    const [first, ...more] = trigger.tokenize(tokenizer);
    if (first !== undefined && more.length === 0 && model.isSpecialToken(first)) stopTokens.add(first);
    else if (trigger.values.every((value) => typeof value === "string")) stopTexts.push(trigger.toString());
  }
  return { write: (turns) => segmentsOf(contextState(wrapper, turns).contextText), stopTokens, stopTexts };
}

function contextState(
  wrapper: JinjaTemplateChatWrapper,
  turns: readonly PlainTurn[],
): ReturnType<JinjaTemplateChatWrapper["generateContextState"]> {
  const history = turns.map(({ role, text }): ChatHistoryItem => {
    return role === "assistant" ? { type: "model", response: [text] } : { type: role, text };
  });
  return wrapper.generateContextState({ chatHistory: [...history, { type: "model", response: [] }] });
}

function segmentsOf(text: LlamaText): readonly Segment[] {
  return text.values.map((value): Segment => {
    if (typeof value === "string") return { type: "text", text: value };
    const name = value.value;
    return name === "BOS" || name === "EOS" || name === "NL" || name === "EOT" || name === "SEP"
      ? { type: "builtin", text: name }
      : { type: "template", text: name };
  });
}
