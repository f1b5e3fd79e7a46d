import { defaultPlaces, type FieldPlaces, statesDefaults } from "../schema/default-places.ts";
import { parsedAtOnce } from "../schema/schema.ts";
import type { Json } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Tool } from "./tool.ts";

/** True for a field of an object in the arguments that holds a default of the author: it says no more than a field that was left out. */
export type IsDefault = (holder: object, name: string) => boolean;

/** The tools whose defaults are the author's. */
export type WithDefaults = Pick<Tool, "input" | "origin" | "hasOwnSchema">;

/** The arguments of a call, as its tool would get them. */
interface FilledArguments {
  readonly arguments: Json;
  readonly defaultsIn: ((args: Json) => IsDefault) | undefined;
}

/**
 * Makes the function that finds the author's defaults in the arguments of a call, as the schema made them. A field counts if the model left it out, or if
 * leaving it out would change nothing: a default of a function, or before a transform, may be another value then. Undefined for a tool whose schema
 * somebody else wrote.
 */
export function defaultsOf(tool: WithDefaults, proposed: Json): ((args: Json) => IsDefault) | undefined {
  if (!hasOwnDefaults(tool)) return undefined;
  const { input } = tool;
  return (args) => {
    const { filled, written, without } = defaultPlaces(input.jsonSchema, args, proposed);
    if (written.size === 0) return within(filled);
    const isSame = sameJson(args, parsedAtOnce(input, without));
    return isSame ? within(filled, written) : within(filled);
  };
}

/** The arguments that a tool would get of proposed ones, and the author's defaults among them. Arguments that do not fit stay as they are. */
export function parsedCall(tool: WithDefaults, proposed: Json): FilledArguments {
  return {
    arguments: parsedAtOnce(tool.input, proposed) ?? proposed,
    defaultsIn: defaultsOf(tool, proposed),
  };
}

/** Finds the defaults in arguments of which it is not known what the schema would make of them: each field with its default counts. */
export function statedDefaultsOf(tool: WithDefaults): ((args: Json) => IsDefault) | undefined {
  if (!hasOwnDefaults(tool)) return undefined;
  return (args) => {
    const { filled, written } = defaultPlaces(tool.input.jsonSchema, args, args);
    return within(filled, written);
  };
}

/** The arguments as the model wrote them, without the author's defaults in them, if the tool gets the same without. */
export function withoutDefaults(tool: WithDefaults, proposed: Json): Json {
  const { input } = tool;
  const args = hasOwnDefaults(tool) ? parsedAtOnce(input, proposed) : undefined;
  if (args === undefined) return proposed;
  const { written, without } = defaultPlaces(input.jsonSchema, args, proposed);
  return written.size > 0 && sameJson(args, parsedAtOnce(input, without)) ? without : proposed;
}

function hasOwnDefaults({ input, origin, hasOwnSchema }: WithDefaults): boolean {
  return hasOwnSchema === true && origin === undefined && statesDefaults(input.jsonSchema);
}

function within(...places: readonly FieldPlaces[]): IsDefault {
  return (holder, name) => places.some((each) => each.get(holder)?.has(name) === true);
}
