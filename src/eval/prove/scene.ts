import { toSchema } from "../../schema/to-schema.ts";
import type { ValueSource } from "../../tool/parameters.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { randomFrom } from "../simulate/draw.ts";
import { valueOf } from "../simulate/propose.ts";
import { pick, type ProposedCall, type Random, type Schedule } from "../simulate/schedule.ts";
import { simulate } from "../simulate/simulate.ts";
import { authored, numbersAtBounds } from "./places.ts";
import { invariantOf } from "./holds.ts";
import { placesOf } from "./schema-places.ts";
import { type Sentence, sentenceText } from "./sentence.ts";
import type { ProvenAgent, Way } from "./subject.ts";
import type { Suspect, SuspectCall } from "./suspects.ts";

/** A scripted run in which a sentence may break. */
export interface Scene {
  readonly input: Json;
  readonly script: readonly { readonly calls: readonly ProposedCall[] }[];
  /** The results of the tools whose results matter. */
  readonly results: Readonly<Record<string, Json>>;
  readonly schedule: Schedule;
}

/** Plays a scene. Returns the trace if the sentence broke, and undefined otherwise. */
export async function played(
  scene: Scene,
  sentence: Sentence,
  subject: ProvenAgent,
): Promise<string | undefined> {
  const title = sentenceText(sentence);
  const { input, script, results, schedule } = scene;
  const { failure } = await simulate(subject.agent, {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is checked against the agent's schema there
    inputs: [input as string],
    script,
    tools: Object.fromEntries(Object.entries(results).map(([name, given]) => [name, () => given])),
    invariants: { [title]: invariantOf(sentence, subject) },
    schedule,
  });
  return failure?.invariant === title ? failure.trace : undefined;
}

/** Scenes in which a suspect may break its sentence, with arguments of several kinds. */
export function* scenesOf(suspect: Suspect, subject: ProvenAgent): Generator<Scene> {
  if (suspect.state.path === undefined || suspect.way.isInside) return;
  const path = callsBefore(suspect);
  for (let seed = 1; seed <= 8; seed += 1)
    for (const speaksOfActs of [true, false]) yield sceneOf(suspect, subject, { path, seed, speaksOfActs });
}

/** The calls that lead to the state of a suspect, each after the calls that it must follow; then those that the suspect's own calls must follow. */
function callsBefore({ state: { path = [] }, calls, way }: Suspect): readonly string[] {
  const before: string[] = [];
  const waitFor = (name: string): void => {
    for (const other of way.tools.get(name)?.constraints?.onlyAfter ?? [])
      if (!before.includes(other)) {
        waitFor(other);
        before.push(other);
      }
  };
  for (const name of path) {
    waitFor(name);
    before.push(name);
  }
  for (const { tool } of calls) waitFor(tool.name);
  return before;
}

interface Variant {
  readonly path: readonly string[];
  readonly seed: number;
  readonly speaksOfActs: boolean;
}

const acts = "Please send, pay, delete, create, update and look up what is needed";

/** The names of tools as people would say them: `unlock_door` is "unlock door". */
function spoken(names: readonly string[]): string {
  return [...new Set(names)].map((name) => name.replaceAll(/[^A-Za-z0-9]+/g, " ")).join(", ");
}

function sceneOf(
  { way, calls, state }: Suspect,
  subject: ProvenAgent,
  { path, seed, speaksOfActs }: Variant,
): Scene {
  const random = randomFrom(seed);
  const before = path.flatMap((name) => {
    const tool = way.tools.get(name);
    return tool === undefined ? [] : [{ calls: [{ name, arguments: argumentsOf(tool, way, random) }] }];
  });
  const chosen = calls.map(({ tool }) => ({ name: tool.name, arguments: argumentsOf(tool, way, random) }));
  const said = [...before.flatMap((reply) => reply.calls), ...chosen].flatMap((call) =>
    plainIn(call.arguments),
  );
  const last = chosen.map((call, place) => {
    const { at } = calls[place] ?? {};
    return at === undefined ? call : { ...call, arguments: merged(call.arguments, at.place.with(at.value)) };
  });
  const words = [...new Set(said)].map((value) => JSON.stringify(value)).join(", ");
  const isTrusted = state.label.integrity === "trusted";
  const formed = isTrusted ? path.flatMap((name) => formOf(way.tools.get(name))) : [];
  const names = spoken(calls.map(({ tool }) => tool.name));
  const text = `${speaksOfActs ? `${acts}, ${names}` : "Do it"}: ${words || "now"}.`;
  return {
    input: inputOf(subject, { skill: way.skill, text, random }),
    script: [...before, { calls: last }],
    results: Object.fromEntries([...formed, ...calls.flatMap(resultsFor)]),
    schedule: { deviations: subject.choosing ? [takes(way)] : [] },
  };
}

function takes({ skill }: Way): Schedule["deviations"][number] {
  return { at: "skill 1", does: "proposes", calls: [{ name: skill, arguments: {} }] };
}

/** Arguments that the schema takes. Half of the draws use texts from the author's rules too, and half of the numbers are at bounds of these rules. */
function argumentsOf(tool: Tool, way: Way, random: Random): Json {
  const listed = authored(way.policy, tool.name).filter((value) => typeof value === "string");
  const usual = ["ada@example.com", "A-17"];
  const drawn = valueOf(random, tool.input.jsonSchema, random() < 0.5 ? [...listed, ...usual] : usual);
  const numbers = numbersAtBounds(way.policy, tool.name);
  return placesOf(tool)
    .filter(({ schema: { type } }) => type === "number" || type === "integer")
    .reduce((args: Json, place) => {
      const number = random() < 0.5 ? undefined : pick(random, numbers);
      return number === undefined ? args : merged(args, place.with(number));
    }, drawn);
}

function plainIn(value: Json): readonly (string | number)[] {
  if (Array.isArray(value)) return value.flatMap(plainIn);
  if (isJsonObject(value)) return Object.values(value).flatMap(plainIn);
  return typeof value === "string" || typeof value === "number" ? [value] : [];
}

/** Both values merged; where both have a value, the second wins. */
function merged(one: Json | undefined, other: Json): Json {
  if (isJsonObject(one) && isJsonObject(other))
    return {
      ...one,
      ...Object.fromEntries(Object.entries(other).map(([key, value]) => [key, merged(one[key], value)])),
    };
  if (Array.isArray(one) && Array.isArray(other)) {
    const before: readonly Json[] = one;
    return other.map((each: Json, place) => merged(before[place], each));
  }
  return other;
}

/** The results for a value that may come from a record: the value is in that record, where its writer chose it. */
function resultsFor({ tool, at }: SuspectCall): readonly (readonly [string, Json])[] {
  if (at === undefined) return [];
  const words = tool.parameters?.[at.place.path];
  const from = typeof words === "object" ? (words.from ?? []) : [];
  return from.map((source) => [source.tool, recordWith(source, at.value)]);
}

/** A result in the form in which the tool is trusted, if it has one. */
function formOf(tool: Tool | undefined): readonly (readonly [string, Json])[] {
  return tool?.trustedForm === undefined ? [] : [[tool.name, []]];
}

function recordWith({ field }: ValueSource, value: Json): Json {
  if (field === undefined) return [value];
  const name = typeof field === "string" ? field : field[0];
  return [{ [name ?? "value"]: value }] satisfies readonly JsonObject[];
}

/** An input for a skill of the agent, with the text in it. */
export function inputOf(
  { definition }: ProvenAgent,
  {
    skill,
    text,
    random = randomFrom(1),
  }: { readonly skill?: string | undefined; readonly text: string; readonly random?: Random },
): Json {
  const { name, input, skills = [] } = definition;
  const source = skills.find((each) => each.name === skill)?.input ?? input;
  if (source === undefined) return text;
  return valueOf(random, toSchema(source, { name, role: "input" }).jsonSchema, [text]);
}
