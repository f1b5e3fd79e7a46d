import { checkShape, closed } from "../error/check-shape.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { Journal } from "../journal/journal.ts";
import { resultShape, writtenMessage, writtenReply } from "../message/message-shape.ts";
import { settingShapes, toolChoiceShape } from "../model/setting-shapes.ts";
import { type Json, wholeJson } from "../util/json.ts";
import { didYouMean } from "../util/nearest.ts";
import {
  anything,
  boolean,
  callable,
  finite,
  list,
  misfitText,
  object,
  optional,
  refined,
  type Shape,
  string,
} from "../util/shape.ts";
import { freezeInput } from "./freeze-input.ts";
import { type Hook, type HookAnswer, hookFields, type HookInput, type HookPlace } from "./hook.ts";

/** The hooks of an agent, sorted; a place without hooks is left out. */
export type Hooks = { readonly [Place in HookPlace]?: readonly NamedHook[] };

interface NamedHook {
  readonly name: string;
  readonly hook: Hook;
}

/** The changes of the hooks of one place, and the hook behind each field. Plain JSON. */
export interface HookOutcome<Place extends HookPlace> {
  readonly answer: HookAnswer<Place>;
  readonly by: Readonly<Record<string, string>>;
}

/**
 * Sorts the hooks of a definition by priority, highest first; equal ones keep their order.
 *
 * @throws WritError `definition-invalid` for an unknown place, a place without a function, or a priority that is not a number
 */
export function sortHooks(hooks: readonly Hook[], agent: string): Hooks {
  const named = hooks.map((hook: Hook | null, index) => ({
    name: hook?.name ?? `hooks[${index}]`,
    hook: checkHook(hook, `Hook "${hook?.name ?? `hooks[${index}]`}" of agent "${agent}"`),
  }));
  const sorted = named.toSorted((a, b) => (b.hook.priority ?? 0) - (a.hook.priority ?? 0));
  const entries = places.map(
    (place) => [place, sorted.filter(({ hook }) => hook[place] !== undefined)] as const,
  );
  return Object.fromEntries(entries.filter(([, found]) => found.length > 0));
}

function isPlace(key: string): key is HookPlace {
  return Object.hasOwn(hookFields, key);
}

function checkHook(hook: Hook | null, where: string): Hook {
  if (typeof hook !== "object" || hook === null)
    throw new WritError("definition-invalid", {
      where,
      reason: "a hook is an object with a function for each place.",
    });
  const unknown = Object.keys(hook).find((key) => key !== "name" && key !== "priority" && !isPlace(key));
  if (unknown !== undefined) {
    const places = Object.keys(hookFields);
    const reason = `there is no place "${unknown}"${didYouMean(unknown, places) || `: ${places.join(", ")}.`}`;
    throw new WritError("definition-invalid", { where, reason });
  }
  checkShape(where, hook, hookShape);
  return hook;
}

const places = Object.keys(hookFields).filter(isPlace);
const hookShape = object({
  ...Object.fromEntries(places.map((place) => [place, optional(callable)])),
  priority: optional(finite),
});

/** Answers after which later hooks do not count. */
const decisive: ReadonlySet<string> = new Set(["deny", "answer", "result", "stop"]);

/** Words for the model: those of several hooks are joined. */
const additive: ReadonlySet<string> = new Set(["say", "continue"]);

/**
 * Asks the hooks of a place one after another.
 *
 * @throws WritError `hook-failed` if one throws, or returns a value that is not JSON or does not fit the field; `hook-field-forbidden` for a field that
 * may not be replaced there
 */
export async function askHooks<Place extends HookPlace>(
  hooks: readonly NamedHook[],
  place: Place,
  at: HookInput<Place>,
): Promise<HookOutcome<Place>> {
  let current = freezeInput(at);
  let decided = false;
  const answer: Record<string, Json> = {};
  const by: Record<string, string> = {};
  for (const { name, hook } of hooks) {
    const given = await askOne(place, { name, hook }, current);
    if (decided) continue;
    for (const [field, value] of Object.entries(given)) {
      const before = additive.has(field) ? answer[field] : undefined;
      const isBoth = typeof before === "string" && typeof value === "string";
      answer[field] = isBoth ? `${before}\n\n${value}` : value;
      by[field] = isBoth ? `${by[field] ?? ""}, ${name}` : name;
    }
    decided = place !== "afterToolCall" && Object.keys(answer).some((field) => decisive.has(field));
    const replaced = Object.entries(answer).filter(([field]) => Object.hasOwn(current, field));
    if (replaced.length > 0) current = freezeInput({ ...current, ...Object.fromEntries(replaced) });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was checked against the place
  return { answer: answer as HookAnswer<Place>, by };
}

async function askOne<Place extends HookPlace>(
  place: Place,
  { name, hook }: NamedHook,
  at: HookInput<Place>,
): Promise<Readonly<Record<string, Json>>> {
  let given: unknown;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript takes the hooks of all places for possible here
    given = await (hook[place] as (at: HookInput<Place>) => unknown).call(hook, at);
  } catch (cause) {
    throw new WritError("hook-failed", { hook: name, place, reason: messageOf(cause) }, { cause });
  }
  return given === undefined ? {} : readAnswer(given, { hook: name, place });
}

/** The fields of an answer as JSON. A value that JSON would silently drop (a function in place of a text) is refused: it could be a denial. */
function readAnswer(
  given: unknown,
  about: { readonly hook: string; readonly place: HookPlace },
): Readonly<Record<string, Json>> {
  const { place } = about;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new WritError("hook-failed", { ...about, reason: "it returned something that is not an object" });
  const fields: Record<string, Json> = {};
  for (const [field, value] of entriesIn(given, about)) {
    if (!hookFields[place].some((known) => known === field))
      throw new WritError("hook-field-forbidden", { ...about, field, allowed: allowedFields(place) });
    if (value === undefined) continue;
    const json = wholeJson(value);
    if (!json.ok) {
      const reason = `\`${field}\` is not JSON: ${json.reason}`;
      throw new WritError("hook-failed", { ...about, reason });
    }
    const reason = wrongField(place, field, json.value);
    if (reason !== undefined) throw new WritError("hook-failed", { ...about, reason });
    fields[field] = json.value;
  }
  return fields;
}

/** The fields of a hook's answer: reading them can run code of its author. */
function entriesIn(
  given: object,
  about: { readonly hook: string; readonly place: HookPlace },
): readonly (readonly [string, unknown])[] {
  try {
    const fields = Object.entries(given);
    if (fields.length > 0 || isPlain(given)) return fields;
  } catch (cause) {
    const reason = `what it gave cannot be read: ${messageOf(cause)}`;
    throw new WritError("hook-failed", { ...about, reason }, { cause });
  }
  const reason = "it gave an object without fields of its own, such as an error or a map";
  throw new WritError("hook-failed", { ...about, reason });
}

/** True for a plain object, from any realm. */
function isPlain(given: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A failed hook, as a journal keeps it: a replay fails in the same way and asks no hook. */
export type HookFailure =
  | { readonly code: "hook-failed"; readonly data: WritError<"hook-failed">["data"] }
  | { readonly code: "hook-field-forbidden"; readonly data: WritError<"hook-field-forbidden">["data"] };

/** The journal's copy of an error that a hook caused; undefined for any other. */
export function hookFailure(error: unknown): HookFailure | undefined {
  if (isWritError(error, "hook-failed")) return { code: error.code, data: error.data };
  if (isWritError(error, "hook-field-forbidden")) return { code: error.code, data: error.data };
  return undefined;
}

/** The error of a failure that was recorded. */
export function hookError(failure: HookFailure): WritError {
  return failure.code === "hook-failed"
    ? new WritError(failure.code, failure.data)
    : new WritError(failure.code, failure.data);
}

/** The place in the run at which hooks are asked. */
export interface HookStep {
  readonly journal: Journal;
  /** The key of the step, such as `turn/2/hook/beforeTurn`. */
  readonly key: string;
}

/** Asks the hooks as one step of a journal: a replay asks none of them, and a hook that failed fails again. */
export async function askHooksOnce<Place extends HookPlace>(
  hooks: readonly NamedHook[],
  { place, at }: { readonly place: Place; readonly at: HookInput<Place> },
  { journal, key }: HookStep,
): Promise<HookOutcome<Place>> {
  let thrown: Error | undefined;
  const run = async (): Promise<HookOutcome<Place> | { readonly failed: HookFailure }> => {
    try {
      return await askHooks(hooks, place, at);
    } catch (error) {
      const failed = hookFailure(error);
      if (failed === undefined || !(error instanceof Error)) throw error;
      thrown = error;
      return { failed };
    }
  };
  const recorded = await journal.step({ key, run });
  if (!("failed" in recorded)) return recorded;
  throw thrown ?? hookError(recorded.failed);
}

const toolResult = refined(
  resultShape,
  "must be the result of a call: status, text, and note, value and files if any",
  (result) => Object.keys(result).every((key) => ["status", "text", "note", "value", "files"].includes(key)),
);

const shapes: Readonly<Record<string, Shape<unknown>>> = {
  input: anything,
  skill: string,
  deny: string,
  say: string,
  answer: anything,
  messages: list(writtenMessage, "a list of messages"),
  settings: closed(settingShapes),
  toolChoice: toolChoiceShape,
  message: writtenReply,
  arguments: anything,
  stop: string,
  extend: finite,
  checkpoint: boolean,
  retryAfterMs: finite,
  continue: string,
  output: anything,
};

/** The reason why a hook may not return this value for this field; undefined if it may. */
export function wrongField(place: HookPlace, field: string, value: Json): string | undefined {
  const shape = field === "result" && place === "afterToolCall" ? toolResult : shapes[field];
  return shape === undefined ? undefined : misfitText(shape, value, field);
}

/** The fields that a place takes, in words. */
function allowedFields(place: HookPlace): string {
  return hookFields[place].join(", ") || "none";
}
