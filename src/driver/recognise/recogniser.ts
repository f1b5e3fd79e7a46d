import type { Tool } from "../../tool/tool.ts";
import { cursorOf } from "./cursor.ts";
import { doubtOf } from "./doubts.ts";
import { judgeCall, type Judging } from "./judge-call.ts";
import { type KnownTools, knownTools } from "./known-tools.ts";
import { type Group, layers } from "./layers.ts";
import { saidIn } from "./origin.ts";
import type {
  KnownTool,
  LayerName,
  ReadOptions,
  Recogniser,
  RecogniserMode,
  Recognition,
} from "./recognise.ts";
import { type CallWords, callWords, visibleText } from "./visible-text.ts";

/**
 * Makes what finds calls of these tools in text that a model wrote. Formats are looked for in layers, the strictest first; a looser one only
 * when the stricter ones found nothing. Names that no tool has are refused, as are calls that lack what the tool must have. An empty list of
 * calls before anything else says that there is none. What a model makes up that others would say after it is not read. Nothing is run: a call
 * that was found is a proposal like any other.
 *
 * @example
 * ```ts
 * import { recogniser, tool } from "writ";
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
  const known = knownTools(tools.map(asKnown));
  let words: CallWords | undefined;
  const read: Recogniser["read"] = (text, options = {}) => recognise(text, { known, mode, options });
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

function asKnown(tool: KnownTool | Tool): KnownTool {
  return "inputSchema" in tool ? tool : { name: tool.name, inputSchema: tool.input.jsonSchema };
}

interface Reading {
  readonly known: KnownTools;
  readonly mode: RecogniserMode;
  readonly options: ReadOptions;
}

const nothing: Recognition = { calls: [], refused: [], repairs: [] };

const noCalls = /^\s*(?:```\w*\s*)?["'`]*\[\s*(?:\(\s*\)\s*)?\]/;

function recognise(given: string, reading: Reading): Recognition {
  const text = withoutMarkdownEscapes(given);
  if (noCalls.test(text)) return nothing;
  const end = endOfTurn(text);
  const found =
    end === undefined
      ? find(text, reading)
      : (find(text.slice(0, end), reading) ?? findAround(text, end, reading));
  return found === undefined ? nothing : settle(found, reading);
}

function find(text: string, { known }: Reading): Found | undefined {
  const cursor = cursorOf(text);
  for (const [layer, read] of layers) {
    cursor.at = 0;
    cursor.repairs.clear();
    const groups = read(cursor, known);
    if (groups.length > 0) return { text, layer, groups, repairs: cursor.repairs };
  }
  return undefined;
}

/** What looks like the end of the turn may stand inside of an argument. */
function findAround(text: string, end: number, reading: Reading): Found | undefined {
  const found = find(text, reading);
  const isExplicit = found?.layer === "whole" || found?.layer === "tagged";
  const groups = found?.groups.filter(({ start }) => start < end) ?? [];
  return found !== undefined && isExplicit && (groups.at(-1)?.end ?? 0) > end
    ? { ...found, groups }
    : undefined;
}

/** Where a model goes on to write what others say. */
const nextTurn =
  /\n[ \t]*#{2,}[ \t]*(?:Instruction|Response|User|Human|Question|Input|Output|Task)s?\b|<\|(?:im_start|im_end|eot_id|end)\|>|\[\/?INST\]|<\/s>|<end_of_turn>|<tool_response>|\n[ \t]*(?:User|Human|Question|Q|Observation|Result|Function result):/;

function endOfTurn(text: string): number | undefined {
  const end = text.search(nextTurn);
  return end > 0 && text.slice(0, end).trim() !== "" ? end : undefined;
}

/** Some models escape names as Markdown would have them: `get\_weather`. */
function withoutMarkdownEscapes(text: string): string {
  return text.includes("\\") ? text.replaceAll(/(?<!\\)\\(?=[_[\]*])/g, "") : text;
}

interface Found {
  readonly text: string;
  readonly layer: LayerName;
  readonly groups: readonly Group[];
  readonly repairs: ReadonlySet<string>;
}

function settle(
  { text, layer, groups: all, repairs }: Found,
  { known, mode, options }: Reading,
): Recognition {
  const groups = together(all);
  const written = groups.flatMap(({ calls }) => calls);
  const doubt = whyNot({ text, layer, groups }, { mode, options });
  if (doubt !== undefined)
    return { ...nothing, layer, refused: written.map(({ name }) => ({ name, reason: doubt })) };
  const judging: Judging = {
    known,
    mode,
    repairs: new Set(repairs),
    said: mode !== "safe" || options.said === undefined ? undefined : saidIn(options.said),
  };
  const judged = written.flatMap((call) => judgeCall(call, judging));
  const refused = judged.filter((each) => "reason" in each);
  const calls = judged.filter((each) => "arguments" in each);
  const isExact = judging.repairs.size === 0 && refused.length === 0;
  if (mode !== "strict" || isExact) return { calls, refused, layer, repairs: [...judging.repairs] };
  const mended = calls.map(({ name }) => ({ name, reason: "it would have to be mended" }));
  return { ...nothing, layer, refused: [...refused, ...mended] };
}

/** Why none of the calls is taken, by the text that they stand in. */
function whyNot(
  { text, layer, groups }: Pick<Found, "text" | "layer" | "groups">,
  { mode, options }: Pick<Reading, "mode" | "options">,
): string | undefined {
  const first = groups[0]?.start ?? 0;
  const last = groups.at(-1);
  if (options.cut === true || last?.isOpen === true) return "the text was cut off";
  if (mode === "strict")
    return isExactly({ text, layer, groups }) ? undefined : "there is more in the text than calls";
  return mode === "safe"
    ? doubtOf({ layer, before: text.slice(0, first), after: text.slice(last?.end) })
    : undefined;
}

/** Whether nothing stands around the calls but marks. */
function isExactly({ text, layer, groups }: Pick<Found, "text" | "layer" | "groups">): boolean {
  if (layer !== "whole" && layer !== "tagged") return false;
  const between = [...groups, { start: text.length }].map(({ start }, index) =>
    text.slice(groups[index - 1]?.end ?? 0, start),
  );
  return between.join("").replaceAll(/<[^<>\s]{1,40}>|\s/g, "") === "";
}

/** What stands further away was written after the model had said its calls. */
const farApart = 250;

/** The groups that belong together. One that says again what those before it said is a repetition. */
function together(groups: readonly Group[]): readonly Group[] {
  const far = groups.findIndex(
    ({ start }, index) => index > 0 && start - (groups[index - 1]?.end ?? 0) > farApart,
  );
  const seen = new Set<string>();
  return groups.slice(0, far === -1 ? undefined : far).filter(({ calls }) => {
    const keys = calls.map((call) => JSON.stringify(call));
    const isNew = keys.some((key) => !seen.has(key));
    for (const key of keys) seen.add(key);
    return isNew;
  });
}
