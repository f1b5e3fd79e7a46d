import type { Json } from "../util/json.ts";
import { lineOf } from "./bounded.ts";
import type { InspectedQuestion, ValueOrigin } from "./view.ts";

/** A text that the model had seen when it made a call, and its name for people. */
export interface SeenText {
  readonly name: string;
  readonly text: string;
}

/** Values of fewer characters stand in any text. */
const shortest = 3;
const mostValues = 40;

/** The places where the values of arguments were first seen, by their text. A value that was put together of others is found nowhere. */
export function originsOf(
  args: Json,
  seen: readonly SeenText[],
  question?: InspectedQuestion,
): readonly ValueOrigin[] {
  const said = new Map(question?.request?.values.map(({ path, bound }) => [path, bound]));
  return leavesOf(args, "")
    .slice(0, mostValues)
    .map(({ path, value }) => {
      const seenIn =
        value.length < shortest ? undefined : seen.find(({ text }) => text.includes(value))?.name;
      const isBound = said.get(path);
      return {
        path,
        value: lineOf(value),
        ...(seenIn === undefined ? {} : { seenIn }),
        ...(isBound === undefined ? {} : { isBound }),
      };
    });
}

interface Leaf {
  readonly path: string;
  readonly value: string;
}

function leavesOf(value: Json, path: string): readonly Leaf[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each: Json, index) => leavesOf(each, `${path}[${index}]`));
  if (typeof value !== "object") return [{ path, value: String(value) }];
  return Object.entries(value).flatMap(([name, each]) =>
    leavesOf(each, path === "" ? name : `${path}.${name}`),
  );
}
