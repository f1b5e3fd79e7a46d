import type { Json } from "../util/json.ts";
import { isCut, lineOf } from "./bounded.ts";
import { conversationsIn } from "./conversations.ts";
import type { InspectedCall, InspectedRun, PromptMessage } from "./view.ts";

/** The place where a value of the arguments was first seen, by its text. */
export interface ValueOrigin {
  readonly path: string;
  readonly value: string;
  /** `the input`, or `turn 1, read_mail`; undefined if it was not seen before. */
  readonly seenIn?: string;
  /** The reason why it was not looked for, or not in all of what the model had read: the page has the beginnings of long texts. */
  readonly unsure?: "short" | "long" | "partly";
  /** True if the policy says in its question that the user chose it. */
  readonly isBound?: boolean;
  /** True if the policy says there that it is the default of the tool's schema. */
  readonly isDefault?: true;
}

/** The shortest value that is searched: shorter ones occur in any text. */
const shortest = 3;
const mostValues = 40;

/** The places where the values of a call's arguments were first seen, by their text, in the conversation of its run. Joined values are not found. */
export function originsOf(view: InspectedRun, call: InspectedCall): readonly ValueOrigin[] {
  const within = call.within ?? "";
  const { turns = [], messages = [] } = conversationsIn(view).find(({ key }) => key === within) ?? {};
  const length = turns.find(({ number }) => number === call.turn)?.promptLength ?? 0;
  const seen = messages.slice(0, length);
  const isPartly = seen.some(({ text }) => isCut(text));
  const said = new Map(call.question?.request?.values.map((each) => [each.path, each]));
  return leavesOf(call.proposed, "")
    .slice(0, mostValues)
    .map(({ path, value }) => {
      const apart = value.length < shortest ? "short" : isCut(value) ? "long" : undefined;
      const place = apart === undefined ? seen.find(({ text }) => text.includes(value)) : undefined;
      const unsure = apart ?? (place === undefined && isPartly ? "partly" : undefined);
      const { bound: isBound, default: isDefault } = said.get(path) ?? {};
      return {
        path,
        value: lineOf(value),
        ...(place === undefined ? {} : { seenIn: nameOf(place) }),
        ...(unsure === undefined ? {} : { unsure }),
        ...(isBound === undefined ? {} : { isBound }),
        ...(isDefault === undefined ? {} : { isDefault }),
      };
    });
}

function nameOf({ role, name, turn }: PromptMessage): string {
  if (turn === undefined) return role === "system" ? "the instructions" : "the input";
  return `turn ${turn}, ${name ?? "the model"}`;
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
