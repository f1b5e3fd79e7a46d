import { checkRequest } from "../agent/check-request.ts";
import type { ModelSource } from "../agent/definition.ts";
import {
  callAmongWith,
  type CallInput,
  callOneWith,
  type CallToolOptions,
  callWith,
} from "../call/call-tool.ts";
import { requestWithoutSecrets } from "../run/secrets.ts";
import { type Chosen, type DecideRequest, decideWith } from "../turn/decide.ts";
import { type Decider, llmStepWith, type StepDecision, type StepRequest } from "../turn/llm-step.ts";
import { type SafeLoopOptions, safeLoopWith } from "../turn/safe-loop.ts";
import type { ResultMessage, ToolResult } from "../message/message.ts";
import type { ChatReply, ChatRequest } from "../model/chat.ts";
import type { Delta, Model } from "../model/model.ts";
import { chatPatiently, chatStreamPatiently, checkedPatience, type Patience } from "../model/patience.ts";
import { isTool, type Tools } from "../policy/allow-list.ts";
import type { Tool, TypedTool } from "../tool/tool.ts";
import type { Json } from "../util/json.ts";
import { checkShape, closed, checkArguments } from "../error/check-shape.ts";
import { anything, either, list, record } from "../util/shape.ts";
import { nodeHost } from "./clock.ts";
import { modelNamed, resolveModel } from "./model/resolve.ts";

/**
 * Asks a model once, without a loop: you carry out the calls of the reply and send their results with
 * the next request. A request that fails is repeated if that can help (`retry`).
 *
 * @throws WritError `definition-invalid` for a call of `chat` in another form, and the errors of the model's adapter
 * (`provider-unreachable`, `model-not-found`, …)
 * @example
 * ```ts
 * import { chat, userMessage } from "writ/doors";
 *
 * const reply = await chat({ model: "ollama/qwen2.5:7b", messages: [userMessage("Hello")] });
 * console.log(reply.text, reply.calls);
 * ```
 */
export async function chat(request: ChatRequest & Patience & Required<WithModel>): Promise<ChatReply> {
  checkRequest("chat", request);
  const patience = checkedPatience(request, "`chat`");
  const model = askedWithoutSecrets(resolveModel(request.model, "chat"));
  return chatPatiently(request, { model, patience, host: nodeHost });
}

/**
 * Asks a model once, like `chat`, and yields the pieces of its reply while the model writes. The generator returns the whole reply. Leaving
 * it early ends the request. A request that fails is repeated before the first piece, and not after it.
 *
 * @throws WritError the errors of `chat`
 * @example
 * ```ts
 * import { chatStream } from "writ/doors";
 *
 * for await (const delta of chatStream({ model: "ollama/qwen2.5:7b", messages: "Hello" })) {
 *   if (delta.type === "text-delta") process.stdout.write(delta.text);
 * }
 * ```
 */
export async function* chatStream(
  request: ChatRequest & Patience & Required<WithModel>,
): AsyncGenerator<Delta, ChatReply, undefined> {
  checkRequest("chatStream", request);
  const patience = checkedPatience(request, "`chatStream`");
  const model = askedWithoutSecrets(resolveModel(request.model, "chatStream"));
  return yield* chatStreamPatiently(request, { model, patience, host: nodeHost });
}

/** The model, asked without secrets: a tool that asks a model itself must not show it the secrets that it sent to others. */
function askedWithoutSecrets(model: Model): Model {
  const { id, retries } = model;
  return {
    id,
    ...(retries === undefined ? {} : { retries }),
    get features() {
      return model.features;
    },
    stream: (request, options) => model.stream(requestWithoutSecrets(request, nodeHost), options),
  };
}

/**
 * The model that decides. Default: the one that the environment variable `WRIT_MODEL` names; without a name,
 * none.
 */
export interface WithModel {
  readonly model?: ModelSource;
}

/**
 * The model for {@link llmStep}, {@link safeLoop} and {@link decide}, and where its name comes from; or that none is
 * named.
 */
export type LlmStatus =
  | { readonly available: true; readonly model: string; readonly source: "argument" | "WRIT_MODEL" }
  | { readonly available: false; readonly source: "none" };

/**
 * Tells which model a step would ask, and why. It sends no request: you learn at the first step whether the provider answers.
 *
 * @throws WritError `model-invalid`, `model-name-invalid`
 * @example
 * ```ts
 * import { llmStatus } from "writ/doors";
 *
 * const status = llmStatus();
 * console.log(status.available ? `${status.model}, named by ${status.source}` : "offline: set WRIT_MODEL");
 * ```
 */
export function llmStatus(given: WithModel = {}): LlmStatus {
  checkShape("llmStatus()", given, closed({ model: anything }));
  const { model } = given;
  const found = modelFor("llmStatus", model);
  if (found === undefined) return { available: false, source: "none" };
  return { available: true, model: found.id, source: model === undefined ? "WRIT_MODEL" : "argument" };
}

/**
 * Asks a model for one decision: the final answer, or one tool of the catalogue with its arguments. It runs nothing: the model returns a name,
 * and the program decides what it means. The catalogue is plain data; an empty one makes the step final. `tokens` are those of this step,
 * estimated if the provider does not count them. Without a model the answer is `[no llm provider]` at 0 tokens, so that a program stays runnable
 * offline.
 *
 * Works with native calls and, if the model has none, in the JSON protocol. If a reply decides nothing, the model is asked again, at most
 * twice. The name and the arguments are what the model wrote: look the name up in a `Map`, and let `callTool` check the arguments.
 *
 * @throws WritError `protocol-violated` if the model decides nothing three times, `run-refused` if its provider holds the reply back,
 * `definition-invalid` for another form of the call, `name-invalid` and `name-taken` for the catalogue,
 * `model-invalid` and `model-name-invalid`, and the errors of the model's adapter
 * (`provider-unreachable`, …). An aborted step throws the signal's reason.
 * @example
 * ```ts
 * import { llmStep } from "writ/doors";
 *
 * const step = await llmStep({
 *   model: "ollama/qwen2.5:7b",
 *   prompt: "What is the weather in Lima?",
 *   catalog: [{ name: "get_weather", describe: "Weather for a city", params: ["city"] }],
 *   context: "",
 * });
 * console.log(step.kind === "final" ? step.text : `${step.name} ${JSON.stringify(step.args)}`);
 * ```
 */
export async function llmStep(request: StepRequest & WithModel): Promise<StepDecision> {
  checkRequest("llmStep", request);
  return llmStepWith(deciderFor("llmStep", request), request);
}

/**
 * The bounded loop over {@link llmStep} and {@link callTool}, to the letter of the page it comes from: one call a step, and a context of text
 * that grows by ` [name => result]`. Only names in `tools` are called; any other becomes ` [name => not allowed]`, and the loop goes on.
 * Steps and tokens are checked before each step and never after, so a step that was paid for is carried out. Returns the model's answer, or
 * `out of steps` for both bounds.
 *
 * It is for programs that want to see a whole loop at a glance. For anything that must last (several calls a turn, typed arguments in the
 * prompt, approvals, events, sessions, replay) use `agent()`.
 *
 * @throws WritError `definition-invalid` for a bound that is not a number from 0 on, and the errors of {@link llmStep}. An error of a tool is a
 * result that the model sees.
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { safeLoop } from "writ/doors";
 * import { z } from "zod";
 *
 * const getWeather = tool({
 *   name: "get_weather",
 *   description: "Weather for a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }) => `weather in ${city}: sunny`,
 * });
 *
 * const answer = await safeLoop({
 *   model: "ollama/qwen2.5:7b",
 *   intent: "Tell people the weather.",
 *   question: "Do I need an umbrella in Lima?",
 *   tools: { get_weather: getWeather },
 *   maxSteps: 5,
 *   budget: 4000,
 * });
 * console.log(answer);
 * ```
 */
export async function safeLoop(options: SafeLoopOptions & WithModel): Promise<string> {
  checkRequest("safeLoop", options);
  return safeLoopWith(deciderFor("safeLoop", options), options);
}

/**
 * Has a model choose one of some options. A model that can be constrained writes an option to the letter. From any other model writ accepts case,
 * punctuation and words around the option, and asks once more, with the mistake, if the answer fits no option or several. The result is the option byte
 * for byte, or no option and a notice that says why, also when there is no model. It is never anything else, and TypeScript knows the options.
 *
 * @throws WritError `definition-invalid` for fewer than two options, empty ones or two that are the same; the errors of the model's adapter
 * @example
 * ```ts
 * import { decide } from "writ/doors";
 *
 * const { option = "wait" } = await decide({
 *   model: "ollama/qwen2.5:7b",
 *   question: "All tests pass. Deploy?",
 *   options: ["deploy", "wait"],
 * });
 * console.log(option);
 * ```
 */
export async function decide<const Option extends string>(
  request: DecideRequest<Option> & WithModel,
): Promise<Chosen<Option>> {
  checkRequest("decide", request);
  const { model, host } = deciderFor("decide", request);
  return decideWith({ model: model && askedWithoutSecrets(model), host }, request);
}

/**
 * Calls a tool directly, like an ordinary function, with arguments by name: for tests, and for programs that choose the call themselves. `call` checks the
 * arguments against the tool's input schema and the result against its output schema. It applies neither a time-out nor a recovery, and it throws what the
 * tool throws.
 *
 * @throws WritError `input-invalid` for arguments that do not match (the tool did not run), `tool-failed` for a result that does not match.
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { call } from "writ/doors";
 * import { z } from "zod";
 *
 * const getWeather = tool({
 *   name: "get_weather",
 *   description: "Weather for a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }) => `weather in ${city}: sunny`,
 * });
 * const weather: string = await call(getWeather, { city: "Lima" });
 * console.log(weather); // weather in Lima: sunny
 * ```
 */
export function call<Given, Sent = Readonly<Record<string, unknown>>>(
  tool: TypedTool<never, unknown, Sent, Given>,
  args: NoInfer<Sent>,
  options: Pick<CallToolOptions, "signal" | "grants"> = {},
): Promise<Given> {
  return callWith(tool, args, { ...options, host: nodeHost });
}

/**
 * Carries out one call that a model chose. Give it a tool with its arguments, or several tools (nested collections too) with the call. The second form
 * returns the message that goes into the follow-up request of {@link chat}. `callTool` checks the arguments, runs the tool within its time, checks the
 * result and puts it into words for the model. It never throws for a mistake of a model or a tool. A name that no tool has (`denied`, with the names of
 * the tools), wrong arguments (`invalid`), a tool that throws (`error`) or takes too long (`timeout`) are results.
 *
 * @throws WritError `name-taken` if two of the tools have one name, `budget-invalid` for a `timeoutMs` that is not positive
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { callTool, chat, userMessage } from "writ/doors";
 * import { z } from "zod";
 *
 * const getWeather = tool({
 *   name: "get_weather",
 *   description: "Weather for a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }) => `weather in ${city}: sunny`,
 * });
 *
 * const direct = await callTool(getWeather, { city: "Lima" });
 * console.log(direct.status, direct.text); // ok weather in Lima: sunny
 *
 * const tools = [getWeather];
 * const question = userMessage("What's the weather like in London?");
 * const reply = await chat({ model: "ollama/qwen2.5:7b", messages: [question], tools });
 * const results = await Promise.all(reply.calls.map((each) => callTool(tools, each)));
 * await chat({ model: "ollama/qwen2.5:7b", messages: [question, reply.message, ...results], tools });
 * ```
 */
export function callTool<Target extends Tool | Tools>(
  target: Target,
  given: Target extends Tools ? CallInput : Json,
  options?: CallToolOptions,
): Promise<Target extends Tools ? ResultMessage : ToolResult>;
export function callTool(
  target: Tool | Tools,
  given: Json | CallInput,
  options: CallToolOptions = {},
): Promise<ToolResult> {
  checkArguments("callTool()", { target }, { target: either(record, list(anything, "a list of tools")) });
  checkShape("callTool()", options, callOptions);
  const wired = { ...options, host: nodeHost };
  if (isTool(target)) return callOneWith(target, given, wired);
  checkArguments("callTool()", { call: given }, { call: record });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the signature with tools takes a call
  return callAmongWith(target, given as CallInput, wired);
}

const callOptions = closed({ signal: anything, timeoutMs: anything, grants: anything });

function deciderFor(door: string, { model }: WithModel): Decider {
  return { model: modelFor(door, model), host: nodeHost };
}

/** The model that the program or its environment names, or none. It searches for no other, so a program without a model stays offline. */
function modelFor(door: string, given: ModelSource | undefined): Model | undefined {
  if (given !== undefined) return resolveModel(given, door);
  const named = process.env["WRIT_MODEL"]?.trim() ?? "";
  return named === "" ? undefined : modelNamed(named);
}
