import { agent } from "../../adapters/node.ts";
import { isWritError, messageOf } from "../../error/writ-error.ts";
import type { AgentEvent } from "../../event/event.ts";
import { callsOf, type FinishReason } from "../../message/message.ts";
import { addUsage, noUsage, type Usage } from "../../message/usage.ts";
import type { DriverName } from "../../model/driver-names.ts";
import type { Model } from "../../model/model.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json, toJson } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import type { ExpectedCall, ProbeCase } from "./probe-case.ts";

interface CaseOptions {
  readonly model: Model;
  readonly driver: DriverName;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The result of one case. */
export interface CaseResult {
  readonly name: string;
  readonly right: boolean;
  /** The fault of a case that is not right. */
  readonly fault?: string;
  /** The number of replies of the model, and of those that the driver could not read. */
  readonly replies: number;
  readonly unreadable: number;
  /** The unreadable replies that were cut off at the token limit. */
  readonly cut: number;
  /** The usage of each reply, in order. */
  readonly usage: readonly Usage[];
  readonly durationMs: number;
}

/** The tokens of a case: more than any case needs, and few enough to stop a model that goes in circles soon. */
const tokens = 24_000;
const maxOutputTokens = 256;

const instructions =
  "Use the tools where they are needed, and only there. Then answer in one short sentence.";

/**
 * Runs one case and judges it. Any mistake of the model is a result.
 *
 * @throws WritError for a fault of the provider, not of the reply: it cannot be reached, it refuses the key, the model does not exist or has no
 * native tools. An aborted signal throws its reason.
 */
export async function runCase(probeCase: ProbeCase, options: CaseOptions): Promise<CaseResult> {
  const { model, driver, timeoutMs, signal } = options;
  const seen = watch();
  const probed = agent({
    name: "probe",
    instructions,
    model,
    driver,
    tools: probeCase.tools,
    settings: { temperature: 0, seed: 1, maxOutputTokens },
    budget: { turns: 5, toolCalls: 16, tokens, durationMs: timeoutMs },
  });
  const begun = performance.now();
  let fault: string | undefined;
  try {
    const { outcome, text } = await probed.run(probeCase.input, { signal, onEvent: seen.onEvent });
    signal.throwIfAborted();
    if (outcome.type === "answered") {
      fault = await faultOf(probeCase, { ...seen.deeds(), answer: text });
    } else {
      fault = `${await faultOf(probeCase, seen.deeds())}: ${endOf(outcome)}`;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isProvider(error)) throw error;
    fault = messageOf(error);
  }
  const durationMs = performance.now() - begun;
  return { name: probeCase.name, right: fault === undefined, fault, ...seen.counts(), durationMs };
}

function endOf(outcome: object & { readonly type: string }): string {
  if ("message" in outcome) return String(outcome.message);
  return "field" in outcome ? `${outcome.type} (${String(outcome.field)})` : outcome.type;
}

const codesOfProvider = [
  "provider-unreachable",
  "provider-refused-key",
  "model-quota-exceeded",
  "model-rate-limited",
  "model-not-found",
  "model-without-tools",
  "model-file-missing",
  "model-file-invalid",
  "peer-missing",
] as const;

/** True for faults of the provider, which every other case would meet too. */
function isProvider(error: unknown): boolean {
  return codesOfProvider.some((code) => isWritError(error, code));
}

interface Watch {
  readonly onEvent: (event: AgentEvent) => void;
  readonly deeds: () => {
    readonly proposed: number;
    readonly ran: readonly { readonly tool: string; readonly arguments: Json }[];
  };
  readonly counts: () => Pick<CaseResult, "replies" | "unreadable" | "cut" | "usage">;
}

/** Counts from the events of a run. */
function watch(): Watch {
  const ran: { readonly tool: string; readonly arguments: Json }[] = [];
  const usage: Usage[] = [];
  let proposed = 0;
  let replies = 0;
  let unreadable = 0;
  let cut = 0;
  let last: FinishReason = "stop";
  const unread = (): void => {
    unreadable += 1;
    if (last === "length") cut += 1;
  };
  return {
    deeds: () => ({ proposed, ran }),
    counts: () => ({ replies, unreadable, cut, usage }),
    onEvent(event) {
      if (event.type === "message-end" && event.message !== undefined) {
        const calls = callsOf(event.message);
        replies += 1;
        proposed += calls.length;
        last = event.finishReason;
        if (calls.some(({ malformed }) => malformed !== undefined)) unread();
      } else if (event.type === "retry-start" && event.attempt === undefined) unread();
      else if (event.type === "run-end") {
        const { outcome } = event;
        if (outcome.type === "failed" && outcome.code === "protocol-violated") unread();
      } else if (event.type === "tool-start") ran.push({ tool: event.name, arguments: event.arguments });
      else if (event.type === "usage-add") usage.push(event.usage);
    },
  };
}

/** The usage of several cases together. */
export function usageOf(results: readonly Pick<CaseResult, "usage">[]): Usage {
  return results.flatMap(({ usage }) => usage).reduce(addUsage, noUsage);
}

/** The parts of a run that are judged. */
export interface Deeds {
  /** The number of calls that the model made, whether they ran or not. */
  readonly proposed: number;
  /** The calls that ran, in order. */
  readonly ran: readonly { readonly tool: string; readonly arguments: Json }[];
  /** The answer; undefined if the run ended without one. */
  readonly answer?: string;
}

/** Says what is wrong with a run; undefined for a right one. */
export async function faultOf(probeCase: ProbeCase, deeds: Deeds): Promise<string | undefined> {
  const { answer = "", ran } = deeds;
  if (probeCase.calls.length === 0 && deeds.proposed > 0) return "it called a tool, and none was needed";
  const fault = await faultOfCalls(probeCase, ran);
  if (fault !== undefined) return fault;
  if (deeds.answer === undefined) return "there is no answer";
  if (answer.trim() === "") return "the answer is empty";
  const missing = (probeCase.answer ?? []).find(
    (wanted) => !alternatives(wanted).some((part) => says(answer, part)),
  );
  return missing === undefined ? undefined : `the answer does not say ${alternatives(missing).join(" or ")}`;
}

async function faultOfCalls(
  { calls, tools, order, mayRepeat }: ProbeCase,
  ran: Deeds["ran"],
): Promise<string | undefined> {
  const left = [...calls];
  const done: ExpectedCall[] = [];
  for (const { tool, arguments: args } of ran) {
    const found = await indexOfCall(order === "fixed" ? left.slice(0, 1) : left, { tool, args, tools });
    if (found >= 0) {
      done.push(...left.splice(found, 1));
      continue;
    }
    const repeated = mayRepeat === true && (await indexOfCall(done, { tool, args, tools })) >= 0;
    if (!repeated) return `it called ${tool} ${JSON.stringify(args)}`;
  }
  return left.length === 0 ? undefined : `it did not call ${left.map(({ tool }) => tool).join(", ")}`;
}

interface Made {
  readonly tool: string;
  readonly args: Json;
  readonly tools: readonly Tool[];
}

async function indexOfCall(expected: readonly ExpectedCall[], { tool, args, tools }: Made): Promise<number> {
  const schema = tools.find(({ name }) => name === tool)?.input;
  const parsed = await schema?.parse(args);
  const json = parsed?.ok === true ? toJson(parsed.value) : undefined;
  const made = loose(json?.ok === true ? json.value : args);
  return expected.findIndex(
    (call) => call.tool === tool && call.arguments.some((right) => sameJson(loose(right), made)),
  );
}

/** A value without differences that people ignore: the case of a text, and surrounding blanks. */
function loose(value: Json): Json {
  if (typeof value === "string") return value.trim().toLowerCase();
  if (Array.isArray(value)) return value.map(loose);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, loose(field)]));
}

function alternatives(wanted: string | readonly string[]): readonly string[] {
  return typeof wanted === "string" ? [wanted] : wanted;
}

/** True if the answer contains a text. A number must be whole: 7 is not in 17, nor in 7.5. */
function says(answer: string, part: string): boolean {
  if (!/^-?\d/.test(part)) return answer.toLowerCase().includes(part.toLowerCase());
  const numbers =
    answer
      .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
      .replaceAll("−", "-")
      .match(/-?\d+(?:\.\d+)?/g) ?? [];
  return numbers.some((number) => Number(number) === Number(part));
}
