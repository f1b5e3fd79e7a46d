import type { Tool } from "../../tool/tool.ts";
import type { JsonObject } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import { propertySchema } from "../bundle-schemas.ts";
import { type Filled, isSame } from "./assign.ts";
import { type Asking, chooseValue, writeValue } from "./ask-model.ts";
import { argumentsOf, type Filling, withValue } from "./fill.ts";
import { fitIn } from "./fit.ts";
import type { Mention } from "./mentions.ts";
import type { Slot } from "./slots.ts";

/** A call as a driver decides it. */
export interface DecidedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/**
 * The calls that a filling makes: its doubts are settled and its missing values are written by the model, one argument at a time. Where a value
 * is one of a list ("in Oslo, Lima and Cairo"), there is a call for each. None where no valid arguments came of it.
 */
export async function callsOf(
  asking: Asking,
  filling: Filling,
  cover: boolean,
): Promise<readonly DecidedCall[]> {
  const settled = await withMissing(asking, await withoutDoubts(asking, filling));
  const { tool } = settled;
  const args = await validArguments(settled);
  if (args === undefined) return [];
  const first = { name: tool.name, arguments: args };
  return cover ? forOthers(settled, first, asking) : [first];
}

async function withoutDoubts(asking: Asking, filling: Filling): Promise<Filling> {
  let current = filling;
  const settled: Filled[] = [];
  for (const { slot, among } of filling.doubts) {
    const open = among.filter(
      ({ from }) => !settled.some((each) => each.from.some((used) => isSame(used, from))),
    );
    const known = argumentsOf(filling.tool, [
      ...current.filled.filter(({ from }) => from.length === 0),
      ...settled,
    ]);
    const about = { tool: filling.tool, known, field: slot.path.join(".") };
    const chosen =
      open[
        await chooseValue(
          asking,
          about,
          open.map(({ value }) => value),
        )
      ];
    if (chosen === undefined) continue;
    current = withValue(current, slot, chosen);
    settled.push({ slot, value: chosen.value, from: [chosen.from] });
  }
  return current;
}

async function withMissing(asking: Asking, filling: Filling): Promise<Filling> {
  const filled = [...filling.filled];
  const { tool } = filling;
  for (const slot of filling.missing) {
    const about = { tool, known: argumentsOf(tool, filled), field: slot.path.join(".") };
    const [first] = slot.choices;
    const value =
      slot.type === "choice"
        ? (slot.choices[await chooseValue(asking, about, slot.choices)] ?? first)
        : await writeValue(asking, about, schemaOf(tool, slot));
    if (value !== undefined) filled.push({ slot, value, from: [] });
  }
  return { ...filling, filled };
}

/** A definition elsewhere in the schema of the tool goes with the value. */
function schemaOf({ input }: Tool, { schema, path }: Slot): JsonObject {
  return JSON.stringify(schema).includes('"$ref"') ? propertySchema(input.jsonSchema, path) : schema;
}

/** The arguments if the schema takes them, else without the optional ones. */
async function validArguments({ tool, filled }: Filling): Promise<JsonObject | undefined> {
  const all = argumentsOf(tool, filled);
  if (await isValid(tool, all)) return all;
  const needed = argumentsOf(
    tool,
    filled.filter(({ slot }) => slot.isRequired),
  );
  return (await isValid(tool, needed)) ? needed : undefined;
}

async function isValid(tool: Tool, args: JsonObject): Promise<boolean> {
  return (await tool.input.parse(args)).ok;
}

/** The call, and the same one for each other member of the list in which one of its values stands; what is listed twice is called once. */
async function forOthers(
  { tool, filled }: Filling,
  first: DecidedCall,
  { scene }: Asking,
): Promise<readonly DecidedCall[]> {
  const used = filled.flatMap(({ from }) => from);
  const free = (mention: Mention): boolean => !used.some((other) => isSame(other, mention));
  const listed = filled.flatMap((each) => {
    const [from] = each.from;
    if (each.slot.type === "list" || from?.list === undefined) return [];
    const members = scene.fromRequest.filter(
      ({ list, source, kind }) => list === from.list && source === from.source && kind === from.kind,
    );
    const others = members.filter(free);
    return others.length > 0 && others.length === members.length - 1 ? [{ each, others }] : [];
  });
  const [only] = listed;
  if (only === undefined || listed.length > 1) return [first];
  const made: DecidedCall[] = [first];
  for (const mention of only.others) {
    const fit = fitIn(only.each.slot, mention, scene.said.language);
    if (fit === undefined) continue;
    const args = argumentsOf(
      tool,
      filled.map((each) => (each === only.each ? { ...each, value: fit.value } : each)),
    );
    const isNew = !made.some((call) => sameJson(call.arguments, args));
    if (isNew && (await isValid(tool, args))) made.push({ name: tool.name, arguments: args });
  }
  return made;
}
