import { WritError } from "../error/writ-error.ts";
import type { CallRequest } from "../policy/decision.ts";
import { explain } from "../policy/study/explain.ts";
import { caseRequest } from "../policy/study/test-policy.ts";
import { namesIn } from "../schema/property-names.ts";
import { parsedCall } from "../tool/default-values.ts";
import { checkToolName } from "../tool/tool.ts";
import { isJsonObject, type JsonObject, parseJson } from "../util/json.ts";
import { didYouMean } from "../util/nearest.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { type OutputFlags, wordOf } from "./options.ts";
import { jsonLine, oneLine, processOutput } from "./output.ts";
import { readPolicy } from "./read-policy.ts";
import { readTools } from "./read-tools.ts";

/** The options of `writ policy try`. */
export interface TryFlags extends OutputFlags {
  readonly intent: string;
  readonly trusted?: boolean;
  readonly private?: boolean;
  readonly tools?: string;
  readonly expect?: string;
}

const verdicts = ["allow", "ask", "deny"] as const;

/**
 * `writ policy try <policy> <call…>`: prints the policy's decision about the call, and the smallest change that would allow it.
 *
 * @throws WritError `file-unreadable`, `policy-invalid`, `option-invalid`, and the errors of reading tools
 */
export async function tryPolicy(path: string, call: readonly string[], flags: TryFlags): Promise<ExitCode> {
  const { expect, json = false } = flags;
  const policy = await readPolicy(path);
  const expected = expect === undefined ? undefined : wordOf("--expect", expect, verdicts);
  const { decision, text: change } = policy.advise(await requestOf(call, flags, policy.constants));
  const isExpected = expected === undefined || expected === decision.verdict;
  if (json) await processOutput.answer(jsonLine({ type: "policy-try", ...decision, change }));
  else await processOutput.answer(`${explain(decision, "people")}\n`);
  if (!isExpected) processOutput.progress(`${oneLine(expected)} was expected\n`);
  return isExpected ? exitCodes.answered : exitCodes.failed;
}

async function requestOf(
  [tool = "", words = "{}", ...others]: readonly string[],
  { intent, trusted = false, private: isPrivate = false, tools }: TryFlags,
  constants: readonly string[],
): Promise<CallRequest> {
  if (others.length > 0)
    throw noArguments(others.join(" "), "Quote them, so that they are one word of the shell.");
  checkToolName(tool);
  const call = {
    tool,
    arguments: argumentsOf(words),
    intent,
    untrusted: !trusted,
    secrecy: isPrivate ? ("private" as const) : ("public" as const),
  };
  if (tools === undefined) return caseRequest(call, constants);
  const { schema, said, made } = await describedTool(tools, tool);
  const { effect, parameters } = said ?? {};
  const request = { ...caseRequest({ ...call, effect, parameters }, constants), ...namesIn(schema) };
  return made === undefined ? request : { ...request, ...parsedCall(made, call.arguments) };
}

function argumentsOf(words: string): JsonObject {
  const parsed = parseJson(words);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  throw noArguments(words, `Give a JSON object, like '{"to":"ada@example.com"}'.`);
}

function noArguments(value: string, advice: string): WritError {
  return new WritError("option-invalid", { option: "<call>", value, advice });
}

async function describedTool(
  path: string,
  name: string,
): Promise<Awaited<ReturnType<typeof readTools>>["tools"][number]> {
  const { tools } = await readTools(path);
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const known = tools.map((tool) => tool.name);
  const advice = `${path} has no such tool${didYouMean(name, known) || `: it has ${known.join(", ")}`}.`;
  throw new WritError("option-invalid", { option: "<call>", value: name, advice });
}
