import type { Tool } from "../../tool/tool.ts";
import { mapAt } from "../../schema/keywords.ts";
import { isJsonObject, type JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import type { Language } from "./language.ts";
import { fitOf, stemsOf, type Word, weightIn, wordsIn, type Wording } from "./words.ts";

/** The fit of a tool to the words of the request. */
export interface Rated {
  readonly tool: Tool;
  /** Rare words that it shares with the request, each by its weight, and the share of its name that is said. */
  readonly score: number;
  /** Words of the request that it knows. */
  readonly words: readonly Word[];
}

/** Rates the tools by the words of a request that they know. */
export function rated(
  tools: readonly Tool[],
  said: Wording,
  open: readonly Word[] = said.words,
): readonly Rated[] {
  const { language } = said;
  const known = tools.map((tool) => weightsOf(tool, language));
  const wanted = open.filter((word) => says(word) && !isNameOf(word, tools));
  const weights = wanted.map((word) => known.map((own) => weightOf(word, own)));
  return tools.map((tool, index): Rated => {
    const words = wanted.filter((_word, at) => (weights[at]?.[index] ?? 0) > 0);
    const seen = new Set<string>();
    const score = wanted.reduce((sum, word, at) => {
      const own = weights[at] ?? [];
      if (seen.has(word.stem) || (own[index] ?? 0) === 0) return sum;
      seen.add(word.stem);
      const knowing = own.filter((weight) => weight > 0).length;
      return sum + (own[index] ?? 0) * Math.log(1 + tools.length / knowing);
    }, 0);
    const name = stemsOf(shortName(tool), language);
    const said = name.filter((stem) => words.some((word) => fitOf(word.stem, stem) > 0)).length;
    return { tool, score: score + nameWeight * (said / Math.max(1, name.length)), words };
  });
}

/** The weight of the name of a tool where all of it is said; chosen on the first half of the BFCL cases (lab/bfcl/sample.ts). */
const nameWeight = 0.45;

/** A name without the places before its dots. */
function shortName({ name }: Tool): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

const says = ({ isStop, isDenied, plain }: Word): boolean => !isStop && !isDenied && !/^\d/.test(plain);

/** A word that is the name of a tool is no word of the others. */
function isNameOf({ text }: Word, tools: readonly Tool[]): boolean {
  return /[_.]/.test(text) && tools.some(({ name }) => name === text);
}

function weightOf({ stem, text }: Word, known: ReadonlyMap<string, number>): number {
  return Math.max(weightIn(stem, known), known.get(text) ?? 0);
}

// Depends on: the tool; inside, the language.
const byLanguage = remembered((_tool: Tool) => new Map<string, ReadonlyMap<string, number>>());

/** The stems that speak of a tool, with their weights: its name and description, and its arguments. */
function weightsOf(tool: Tool, language: Language | undefined): ReadonlyMap<string, number> {
  const made = byLanguage(tool);
  const key = language?.name ?? "";
  let weights = made.get(key);
  if (weights === undefined) made.set(key, (weights = makeWeights(tool, language)));
  return weights;
}

/** A sign of its notation says more than a word of its description. */
const signWeight = 1.5;

function makeWeights(
  { name, description, notation = "", input }: Tool,
  language: Language | undefined,
): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const weigh = (text: string, weight: number): void => {
    for (const stem of stemsOf(text, language)) weights.set(stem, Math.max(weights.get(stem) ?? 0, weight));
  };
  weighSchema(input.jsonSchema, weigh, 0);
  weigh(`${name} ${description}`, 1);
  for (const sign of signsIn(description)) weights.set(sign, 1);
  for (const sign of signsIn(notation.replaceAll(/\{\w+\}/g, " "))) weights.set(sign, signWeight);
  return weights;
}

function signsIn(text: string): readonly string[] {
  return wordsIn(text).words.flatMap(({ text: word }) => (/^[-+*/×÷^=−]$/.test(word) ? [word] : []));
}

function weighSchema(schema: JsonObject, weigh: (text: string, weight: number) => void, depth: number): void {
  for (const [name, given] of Object.entries(mapAt(schema, "properties"))) {
    weigh(name, 0.6);
    if (!isJsonObject(given)) continue;
    const { description, enum: choices } = given;
    if (typeof description === "string") weigh(description, 0.4);
    if (Array.isArray(choices)) weigh(choices.join(" "), 0.4);
    if (depth < 4) weighSchema(given, weigh, depth + 1);
  }
}
