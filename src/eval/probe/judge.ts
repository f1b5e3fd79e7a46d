import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json, toJson } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import type { ExpectedCall, ProbeCase } from "./probe-case.ts";

/** Deeds of a run that are judged. */
export interface Deeds {
  /** The calls that the model made, whether they ran or not. */
  readonly proposed: number;
  /** The calls that ran, in their order. */
  readonly ran: readonly { readonly tool: string; readonly arguments: Json }[];
  /** The answer; undefined when the run ended without one. */
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

/** Without what people would not call a difference: the case of a text, and the blanks around it. */
function loose(value: Json): Json {
  if (typeof value === "string") return value.trim().toLowerCase();
  if (Array.isArray(value)) return value.map(loose);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, loose(field)]));
}

function alternatives(wanted: string | readonly string[]): readonly string[] {
  return typeof wanted === "string" ? [wanted] : wanted;
}

/** True if the answer contains a text; a number counts only whole: 7 is not in 17, nor in 7.5. */
function says(answer: string, part: string): boolean {
  if (!/^-?\d/.test(part)) return answer.toLowerCase().includes(part.toLowerCase());
  const numbers =
    answer
      .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
      .replaceAll("−", "-")
      .match(/-?\d+(?:\.\d+)?/g) ?? [];
  return numbers.some((number) => Number(number) === Number(part));
}
