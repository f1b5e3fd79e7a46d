import { checkArguments } from "../../error/check-shape.ts";
import { keyTwice } from "../../util/call-json.ts";
import type { Tool } from "../../tool/tool.ts";
import { either, list, object, oneOf, record, string } from "../../util/shape.ts";
import { checkOptions } from "../text-options.ts";
import { tellApart } from "../thinking.ts";
import { cursorOf, turnHeading } from "./cursor.ts";
import { doubtOf } from "./doubts.ts";
import { judgeCall, type Judging } from "./judge-call.ts";
import { type KnownTools, knownTools } from "./known-tools.ts";
import { type Group, layers } from "./layers.ts";
import { saidIn } from "./origin.ts";
import {
  type KnownTool,
  type LayerName,
  type ReadOptions,
  type Recogniser,
  type RecogniserMode,
  recogniserModes,
  type Recognition,
  type RefusedCall,
} from "./recognise.ts";
import { type CallWords, callWords, visibleText } from "./visible-text.ts";

/**
 * Makes what finds calls of these tools in text that a model wrote. Formats are looked for in layers, the strictest first; a looser one only
 * when the stricter ones found nothing. Names that no tool has are refused, as are calls that lack what the tool must have. An empty list of
 * calls before anything else says that there is none. What a model makes up that others would say after it is not read. Nothing is run: a call
 * that was found is a proposal like any other.
 *
 * @throws WritError `definition-invalid` for a mode that there is not.
 * @example
 * ```ts
 * import { tool } from "writ";
 * import { recogniser } from "writ/drivers";
 * import { z } from "zod";
 *
 * const weather = tool({
 *   name: "get_weather",
 *   description: "Weather for a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: ({ city }) => city,
 * });
 *
 * const { calls, repairs } = recogniser([weather]).read("Let me look: get_weather(city='Lima')");
 * export const found = calls[0]?.arguments; // { city: "Lima" }
 * export const told: readonly string[] = repairs; // nothing had to be mended
 * ```
 */
export function recogniser(tools: readonly (KnownTool | Tool)[], mode: RecogniserMode = "safe"): Recogniser {
  checkArguments("recogniser()", { tools }, { tools: list(someTool, "a list of tools") });
  checkOptions("recogniser()", { mode }, { mode: oneOf(...recogniserModes) });
  const known = knownTools(tools);
  let words: CallWords | undefined;
  const read: Recogniser["read"] = (text, options = {}) => {
    checkArguments("read() of recogniser()", { text }, { text: string });
    return recognise(text, { known, mode, options });
  };
  return {
    read,
    stream() {
      const pieces: string[] = [];
      const visible = visibleText((words ??= callWords(tools.map(({ name }) => name))));
      return {
        push(piece) {
          pieces.push(piece);
          return visible(piece);
        },
        end: (options) => read(pieces.join(""), options),
      };
    },
  };
}

const someTool = either(
  object({ name: string, input: record }, "a tool"),
  object({ name: string, inputSchema: record }, "an object with `name` and `inputSchema`"),
);

interface Reading {
  readonly known: KnownTools;
  readonly mode: RecogniserMode;
  readonly options: ReadOptions;
}

const nothing: Recognition = { calls: [], refused: [], repairs: [] };

/** An empty list; not a box to tick, nor a link without a text. */
const noCalls = /^\s*(?:```\w*\s*)?["'`]*\[(?! \][ \t]+(?!\/\/|#)\S)\s*(?:\(\s*\)\s*)?\](?!\(\S)/;

function recognise(given: string, reading: Reading): Recognition {
  const text = withoutThoughts(given);
  if (noCalls.test(text)) return nothing;
  const found = find(ownTurn(text, reading), reading);
  return found === undefined ? nothing : settle(found, reading);
}

function find(text: string, { known }: Reading): Found | undefined {
  const cursor = cursorOf(text);
  for (const [layer, read] of layers) {
    cursor.at = 0;
    cursor.repairs.clear();
    cursor.twice.clear();
    const groups = read(cursor, known);
    if (groups.length > 0)
      return { text, layer, groups, repairs: cursor.repairs, twice: [...cursor.twice][0] };
  }
  return undefined;
}

/** Harmony's channel for what a model thinks. */
const analysis = /<\|channel\|>analysis<\|message\|>[^]*?(?:<\|end\|>|$)/g;

/** Takes out the thoughts of the model, which are not said. */
function withoutThoughts(text: string): string {
  return tellApart(text.includes("analysis") ? text.replaceAll(analysis, "") : text).text;
}

/** Signs of the turn of another, which a model goes on to write itself. */
const nextTurn = new RegExp(
  String.raw`\n[ \t]*${turnHeading}|<\|(?:im_start|im_end|eot_id|end)\|>|\[\/?INST\]|<\/s>|<end_of_turn>|<tool_response>|\n[ \t]*(?:User|Human|Question|Q|Observation|Result|Function result):`,
  "g",
);

/** The text up to the turn of another. What only looks like one may stand inside of an argument. */
function ownTurn(text: string, reading: Reading): string {
  const signs = [...text.matchAll(nextTurn)].map(({ 0: sign, index }) => ({
    start: index,
    end: index + sign.length,
  }));
  if (signs.length === 0) return text;
  const groups = find(text, reading)?.groups ?? [];
  const isSaid = ({ start, end }: Pick<Group, "start" | "end">): boolean =>
    groups.some((group) => group.start < start && end < group.end);
  const next = signs.find((sign) => text.slice(0, sign.start).trim() !== "" && !isSaid(sign));
  return text.slice(0, next?.start);
}

interface Found {
  readonly text: string;
  readonly layer: LayerName;
  readonly groups: readonly Group[];
  readonly repairs: ReadonlySet<string>;
  /** A key that stands twice in one object. */
  readonly twice: string | undefined;
}

function settle(found: Found, { known, mode, options }: Reading): Recognition {
  const { layer } = found;
  const repairs = new Set(found.repairs);
  const groups = layer === "tagged" ? found.groups : together(found.groups, repairs);
  const written = groups.flatMap(({ calls }) => calls);
  const doubt = whyNot({ ...found, groups }, mode, options);
  if (doubt !== undefined)
    return { ...nothing, layer, refused: written.map(({ name }) => ({ name, ...doubt })) };
  const judging: Judging = {
    known,
    mode,
    repairs,
    said: mode !== "safe" || options.said === undefined ? undefined : saidIn(options.said),
  };
  const judged = written.flatMap((call) => judgeCall(call, judging));
  const refused = judged.filter((each) => "reason" in each);
  const calls = judged.filter((each) => "arguments" in each);
  const isExact = repairs.size === 0 && refused.length === 0;
  if (mode !== "strict" || isExact) return { calls, refused, layer, repairs: [...repairs] };
  const mended = calls.map(({ name }) => ({ name, reason: "it would have to be mended" }));
  return { ...nothing, layer, refused: [...refused, ...mended] };
}

/** The reason for which none of the calls is taken, by the text that they stand in. */
function whyNot(
  found: Found,
  mode: RecogniserMode,
  { cut }: ReadOptions,
): Omit<RefusedCall, "name"> | undefined {
  const { text, layer, groups, twice } = found;
  const first = groups[0]?.start ?? 0;
  const last = groups.at(-1);
  if (cut === true || last?.isOpen === true) return { reason: "the text was cut off" };
  if (mode === "strict" && !isExactly(found)) return { reason: "there is more in the text than calls" };
  if (twice !== undefined) return { reason: keyTwice(twice), twice };
  if (mode !== "safe") return undefined;
  const reason = doubtOf({ layer, before: text.slice(0, first), after: text.slice(last?.end) });
  return reason === undefined ? undefined : { reason };
}

/** Signs that belong to the marks of calls, before, between and behind them. */
const marksAround =
  /\s|<\/?\|?tool_calls?\|?>|<\/?function_?calls?>|<\|tool_call_(?:start|end)\|>|<\/tool_code>|<end_function_call>|(?:```)?<｜tool▁calls?▁(?:begin|end)｜>|<\|tool_calls?(?:_section)?_(?:begin|end)\|>|<\|(?:channel|call|eom_id|eot_id)\|>|(?<=<\|channel\|>)commentary\b/g;

/** True if nothing stands around the calls but their marks. */
function isExactly({ text, layer, groups }: Found): boolean {
  if (layer !== "whole" && layer !== "tagged") return false;
  const between = [...groups, { start: text.length }].map(({ start }, index) =>
    text.slice(groups[index - 1]?.end ?? 0, start),
  );
  return between.join("").replaceAll(marksAround, "") === "";
}

/** Most characters between calls that belong together. Later ones were written after the model was done. */
const farApart = 250;

/** The groups that belong together. One that says again what those before it said is a repetition. */
function together(groups: readonly Group[], repairs: Set<string>): readonly Group[] {
  const far = groups.findIndex(
    ({ start }, index) => index > 0 && start - (groups[index - 1]?.end ?? 0) > farApart,
  );
  if (far !== -1) repairs.add("calls that stand far behind the first ones were left out");
  const seen = new Set<string>();
  return groups.slice(0, far === -1 ? undefined : far).filter(({ calls }) => {
    const keys = calls.map((call) => JSON.stringify(call));
    const isNew = keys.some((key) => !seen.has(key));
    if (!isNew) repairs.add("a call that was said twice was taken once");
    for (const key of keys) seen.add(key);
    return isNew;
  });
}
