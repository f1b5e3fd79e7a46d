import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import {
  modelContract,
  type ModelSubject,
  type WireAbilities,
  type WireAnswer,
  type WireFailure,
} from "./model.ts";
import { openaiError, openaiEvents, openaiParts } from "./openai-wire.ts";
import { type Answer, playedServer, sse } from "./played-server.ts";

/** The status and the body with which a server fails. */
type Failures = Readonly<Record<WireFailure, readonly [status: number, body: object]>>;

const openaiBody = (message: string, code: string | null = null): object => ({
  error: { message, type: "invalid_request_error", param: null, code },
});

const openai: Failures = {
  "model-not-found": [
    404,
    openaiBody("The model `m` does not exist or you do not have access to it.", "model_not_found"),
  ],
  "no-tools": [400, openaiBody("m does not support tools")],
  "refused-key": [401, openaiBody("Incorrect API key provided: x.", "invalid_api_key")],
  "rate-limited": [429, openaiBody("Rate limit reached for m", "rate_limit_exceeded")],
  "too-long": [
    400,
    openaiBody("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
  ],
  overloaded: [503, openaiBody("The engine is currently overloaded, please try again later")],
  "server-error": [500, openaiBody("The server had an error while processing your request.")],
  "bad-request": [400, openaiBody("Invalid 'messages': empty array.", "empty_array")],
};

const llamaCpp: Partial<Failures> = {
  "no-tools": [
    500,
    { error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" } },
  ],
  "refused-key": [401, { error: { code: 401, message: "Invalid API Key", type: "authentication_error" } }],
  overloaded: [503, { error: { code: 503, message: "Loading model", type: "unavailable_error" } }],
  "too-long": [
    400,
    {
      error: {
        code: 400,
        message: "request (9010 tokens) exceeds the available context size",
        type: "exceed_context_size_error",
      },
    },
  ],
};

const vllm: Partial<Failures> = {
  "model-not-found": [
    404,
    {
      object: "error",
      message: "The model `m` does not exist.",
      type: "NotFoundError",
      param: null,
      code: 404,
    },
  ],
  "no-tools": [
    400,
    {
      object: "error",
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      type: "BadRequestError",
      param: null,
      code: 400,
    },
  ],
  "bad-request": [400, { detail: "There was an error parsing the body" }],
};

const lmStudio: Partial<Failures> = {
  "model-not-found": [404, { error: { message: 'Model "m" not found. Please specify a valid model.' } }],
  "no-tools": [400, { error: "Model m does not support tool use" }],
  "bad-request": [
    400,
    { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" },
  ],
};

const ollama: Partial<Failures> = {
  "model-not-found": [
    404,
    { error: { message: 'model "m" not found, try pulling it first', type: "api_error" } },
  ],
  "no-tools": [
    400,
    { error: { message: "registry.ollama.ai/library/m:latest does not support tools", type: "api_error" } },
  ],
};

const openRouter: Partial<Failures> = {
  "model-not-found": [400, { error: { message: "m is not a valid model ID", code: 400 } }],
  "no-tools": [404, { error: { message: "No endpoints found that support tool use.", code: 404 } }],
};

const can: WireAbilities = {
  calls: true,
  reasoning: true,
  usage: true,
  missingUsage: true,
  callIds: true,
  missingCallIds: true,
  textArguments: true,
  failures: Object.keys(openai) as WireFailure[],
  midStreamErrors: true,
  cut: true,
  stall: true,
  unreachable: true,
};

function streamed(answer: WireAnswer, failures: Failures): Answer {
  switch (answer.type) {
    case "reply":
      return { sse: sse(openaiEvents(answer), true) };
    case "failure": {
      const [status, json] = failures[answer.failure];
      return { status, json };
    }
    case "mid-stream-error":
      return { sse: sse([...openaiParts(answer.parts), openaiError(answer.message)]) };
    case "stall":
    case "cut":
      return { sse: sse(openaiParts(answer.parts)), after: answer.type === "cut" ? "cut" : "hang" };
    case "unreachable":
      return {};
    default:
      throw new TypeError("no such answer");
  }
}

/** The same in one piece, from a server that cannot stream. */
function whole(answer: WireAnswer, failures: Failures): Answer {
  if (answer.type !== "reply") return streamed(answer, failures);
  const { parts, finishReason, usage } = answer;
  const text = (type: "text" | "reasoning"): string =>
    parts.flatMap((part) => (part.type === type ? part.pieces : [])).join("");
  const calls = parts.flatMap((part) => {
    if (part.type !== "call") return [];
    const { arguments: args, id, name } = part;
    const called = { name, arguments: "text" in args ? args.text : JSON.stringify(args.value) };
    return [{ id, type: "function", function: called }];
  });
  const message = {
    role: "assistant",
    content: text("text"),
    reasoning: text("reasoning"),
    tool_calls: calls,
  };
  const finish_reason = finishReason ?? (calls.length > 0 ? "tool_calls" : "stop");
  const counted =
    usage === undefined
      ? {}
      : { usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens } };
  return {
    json: { id: "chatcmpl-1", model: "m", choices: [{ index: 0, message, finish_reason }], ...counted },
  };
}

function subject(play: typeof streamed, failures: Partial<Failures> = {}, abilities = can): ModelSubject {
  return {
    scripted: true,
    can: abilities,
    async open(script) {
      const server = await playedServer();
      server.play(...script.map((answer) => play(answer, { ...openai, ...failures })));
      if (script[0]?.type === "unreachable") await server.close();
      return {
        model: openaiCompatible("m", { baseUrl: `${server.url}/v1` }),
        bodies: () => server.requests.map(({ body }) => body),
        dropped: server.dropped,
        close: server.close,
      };
    },
  };
}

modelContract("OpenAI-compatible", subject(streamed));
modelContract("OpenAI-compatible without streaming", subject(whole, {}, { ...can, stall: false }));

// The errors of each server, and nothing else of it.
const onlyFailures: WireAbilities = { ...can, calls: true, stall: false, cut: false, unreachable: false };
for (const [name, failures] of Object.entries({ llamaCpp, vllm, lmStudio, ollama, openRouter }))
  modelContract(
    `OpenAI-compatible: the errors of ${name}`,
    subject(streamed, failures, { ...onlyFailures, failures: Object.keys(failures) as WireFailure[] }),
  );
