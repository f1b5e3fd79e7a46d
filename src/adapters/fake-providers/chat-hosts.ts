import type { JsonObject } from "../../util/json.ts";
import type { ChatHost } from "./chat-host.ts";
import type { FakeOpenaiOptions } from "./fake-provider.ts";
import { type Fields, firstOf, objectOf, objectsOf, type Path, textOf } from "./fields.ts";
import { openaiError } from "./openai-errors.ts";
import { invalid, isSigned, type ProviderError } from "./wire.ts";

/** The name of a host that a fake can play. */
export type ChatHostName = NonNullable<FakeOpenaiOptions["host"]>;

const kimiThinks: NonNullable<ChatHost["thinks"]> = {
  models: /thinking|k2\.[5-9]/,
  missed: (index) =>
    `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
};

/** The hosts of chat completions, with their differences. */
export const chatHosts: Readonly<Record<ChatHostName, ChatHost>> = {
  cerebras: {
    reasoning: "reasoning",
    takes: { reasoning_format: "string", disable_reasoning: "boolean", clear_thinking: "boolean" },
    unknown(at, role) {
      const path = inMessage(at, role).join(".");
      return invalid(`${path}: property '${path}' is unsupported`, "validation_error", "wrong_api_format");
    },
    error: (error) => ({ ...objectOf(openaiError(error)["error"]) }),
  },
  deepseek: {
    thinks: {
      models: /reasoner|v4/,
      missed: () => "The `reasoning_content` in the thinking mode must be passed back to the API.",
    },
    takes: { thinking: "object" },
    unknown: () => undefined,
    parts: ["text"],
  },
  gemini: {
    signs: /^(?:models\/)?gemini-(?:[3-9]|\d{2})/,
    takes: { extra_body: "object" },
    error: (error) => [openaiError(error)],
  },
  groq: {
    reasoning: "reasoning",
    takes: {
      citation_options: "string",
      compound_custom: "object",
      disable_tool_validation: "boolean",
      documents: "array",
      include_reasoning: "boolean",
      reasoning_format: "string",
      search_settings: "object",
    },
    unknown(at, role) {
      const rule = `property '${String(at.at(-1))}' is unsupported`;
      if (at[0] !== "messages") return invalid(rule);
      const place = `'messages.${at[1]}'`;
      return invalid(`${place} : for 'role:${role}' the following must be satisfied[(${place} : ${rule})]`);
    },
    usageIn: "x_groq",
  },
  kimi: {
    thinks: kimiThinks,
    takes: { thinking: "object" },
    unknown: () => undefined,
    callId: ({ name, number, index }) => `functions.${name}:${(number - 1) * 10 + index}`,
    check: (body) =>
      body["tool_choice"] === "required" && isThinking({ thinks: kimiThinks }, body)
        ? invalid("tool_choice 'required' is incompatible with thinking enabled")
        : undefined,
  },
  mistral: {
    reasoning: "thinking",
    takes: { prompt_mode: "string", random_seed: "integer", safe_prompt: "boolean" },
    refuses: [
      ..."audio function_call functions logit_bias logprobs max_completion_tokens modalities seed".split(" "),
      ..."service_tier store top_logprobs user verbosity web_search_options".split(" "),
    ],
    messages: new Map<string, Fields>([
      ["assistant", { prefix: "boolean" }],
      ["tool", { name: "string" }],
    ]),
    unknown: (at, role) => extraForbidden(inMessage(at, role)),
    check({ stream_options: options }, messages) {
      if (objectOf(options)["include_usage"] !== undefined)
        return extraForbidden(["stream_options", "include_usage"]);
      return firstOf(messages, (message, index) => {
        const before = textOf(messages[index - 1]?.["role"]);
        if (before === "tool" && message["role"] === "user")
          return invalid("Unexpected role 'user' after role 'tool'", undefined, "3230");
        const ids = objectsOf(message["tool_calls"]).map(({ id }) => textOf(id));
        const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
        if (wrong === undefined) return undefined;
        const rule = "must be a-z, A-Z, 0-9, with a length of 9.";
        return invalid(`Tool call id was ${wrong} but ${rule}`, undefined, "3280");
      });
    },
    callId: ({ number, index }) => `F${String(number * 1000 + index).padStart(8, "0")}`,
    error({ status, message, param, code }) {
      const { message: usual, type } = objectOf(openaiError({ status: Math.min(status, 500) })["error"]);
      const loc = param?.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
      const said = message ?? usual ?? "";
      return {
        object: "error",
        message: loc === undefined ? said : { detail: [{ type: code ?? "", loc, msg: said }] },
        type: status < 429 ? "invalid_request_error" : (type ?? ""),
        code: code ?? null,
      };
    },
  },
  openrouter: {
    reasoning: "reasoning_details",
    takes: {
      models: "array",
      plugins: "array",
      provider: "object",
      reasoning: "object",
      transforms: "array",
      usage: "object",
    },
    unknown: () => undefined,
    check: (_body, messages) =>
      firstOf(messages, (message, index) => {
        const signed = objectsOf(message["reasoning_details"]).every(({ signature }) =>
          isSigned(textOf(signature)),
        );
        return signed
          ? undefined
          : invalid(`messages.${index}.content.0: Invalid \`signature\` in \`thinking\` block`);
      }),
    error({ status, message }) {
      const { message: usual } = objectOf(openaiError({ status })["error"]);
      return { error: { code: status, message: message ?? usual ?? "" } };
    },
  },
};

/** True for a model that thinks, unless the request turns thinking off. */
export function isThinking({ thinks }: ChatHost, { model, thinking }: JsonObject): boolean {
  return thinks?.models.test(textOf(model)) === true && objectOf(thinking)["type"] !== "disabled";
}

/** The path of a field, with the role of the message that it is in. */
function inMessage(at: Path, role: string): Path {
  return at[0] === "messages" && role !== "" ? [...at.slice(0, 2), role, ...at.slice(2)] : at;
}

function extraForbidden(at: Path): ProviderError {
  const param = ["body", ...at].join(".");
  return { status: 422, message: "Extra inputs are not permitted", param, code: "extra_forbidden" };
}
