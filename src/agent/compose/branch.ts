import { WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { isJsonObject, type Json, toJson } from "../../util/json.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { anything, callable, kindOf, named, record } from "../../util/shape.ts";
import { aboutOf, type Runnable } from "../runnable.ts";
import type { CompositeRun } from "./composite-run.ts";
import { type Composite, composite } from "./composite.ts";
import { askAuthor, type RunInside, runMember, type Unanswered, unanswered } from "./course.ts";
import {
  inputOfAll,
  type InputOfAll,
  type Member,
  memberOf,
  membersOf,
  type OutputOfOne,
} from "./members.ts";

/** A value that chooses a case: as text it is the name of the case. */
export type CaseValue = string | number | boolean | null;

/** The agent or function that decides. It gets the input; a replay calls a function again. */
export type BranchOn<Input, Value extends CaseValue> =
  | Omit<Runnable<Input, Value>, never> // without its call, so that TypeScript knows the input of a function
  | ((input: Input, inside: RunInside) => Value);

type Cases = Readonly<Record<string, Runnable>>;

/** Every value has a case, and every case a value; if any text can come, the cases cannot be checked. */
type Complete<Given extends Cases, Value extends CaseValue> = string extends `${Value}`
  ? unknown
  : { readonly [Name in `${Value}`]: Runnable } & Fitting<Given, Value>;

/** Every case has a value. Names that are not known, or not known yet, count as any text. */
type Fitting<Given extends Cases, Value extends CaseValue> = string extends `${Value}` | keyof Given
  ? unknown
  : { readonly [Name in Exclude<keyof Given, `${Value}`>]: never };

/** A branch with a case for every value. */
export interface BranchDefinition<Input, Value extends CaseValue, Given extends Cases> {
  readonly on: BranchOn<Input, Value>;
  /** An agent for each value. It gets the input of the branch, and nothing that was said while choosing. */
  readonly cases: Given & Complete<Given, Value>;
}

/** A branch with cases for some values, and an agent for all others. */
export interface OpenBranchDefinition<
  Input,
  Value extends CaseValue,
  Given extends Cases,
  Other extends Runnable,
> {
  readonly on: BranchOn<Input, Value>;
  readonly cases: Given & Fitting<Given, Value>;
  readonly otherwise: Other;
}

/**
 * Chooses one of several agents by a value, and gives it the input. The value comes from an agent, or from a function of the input. If the
 * values are known (the function's type, the `enum` of the agent's output), each must have a case, unless there is `otherwise`: a missing one
 * is a type error, and an error of the definition. A value that has no case at run time fails the run with `case-missing`.
 *
 * The chosen agent begins a conversation of its own: it shares no history with the agent that decided, and
 * `delegation-end` tells its name.
 *
 * @throws WritError `definition-invalid` for a value without a case, a case without a value, no cases, or a value that is not an agent
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { branch } from "writ/compose";
 * import { z } from "zod";
 *
 * const model = "ollama/qwen2.5:7b";
 * const classify = agent({ name: "classify", model, output: z.enum(["bug", "question"]) });
 * const repair = agent({ name: "repair", model });
 * const explain = agent({ name: "explain", model });
 *
 * const desk = branch({ on: classify, cases: { bug: repair, question: explain } });
 * console.log(await desk("It crashes when I save."));
 *
 * const byLength = branch({ on: (text: string) => text.length > 500, cases: { true: repair, false: explain } });
 * console.log(await byLength("Short."));
 * ```
 */
export function branch<Input, const Value extends CaseValue, const Given extends Cases>(
  definition: BranchDefinition<Input, Value, Given>,
): Composite<Input & InputOfAll<Given[keyof Given]>, OutputOfOne<Given[keyof Given]>>;
export function branch<
  Input,
  const Value extends CaseValue,
  const Given extends Cases,
  Other extends Runnable,
>(
  definition: OpenBranchDefinition<Input, Value, Given, Other>,
): Composite<Input & InputOfAll<Given[keyof Given] | Other>, OutputOfOne<Given[keyof Given] | Other>>;
export function branch(definition: {
  readonly on: BranchOn<never, CaseValue>;
  readonly cases: Cases;
  readonly otherwise?: Runnable;
}): Composite {
  const where = "branch()";
  checkShape(where, definition, shape);
  const { on, cases, otherwise } = definition;
  const members = membersOf(cases, where);
  const names = members.map(({ name }) => name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a runnable made by this package has data about it
  const decides = aboutOf(on) === undefined ? undefined : memberOf(on as Runnable, where);
  const rest = otherwise === undefined ? undefined : memberOf(otherwise, where, "otherwise");
  if (decides !== undefined) checkCases(decides, { names, isOpen: rest !== undefined });
  const agents = rest === undefined ? members : ([...members, rest] as const);
  const offset = decides === undefined ? 0 : 1;
  const all = decides === undefined ? agents : ([decides, ...agents] as const);
  async function course(input: unknown, run: CompositeRun): Promise<unknown> {
    const value = decides
      ? await runMember({ member: decides, place: "0", input }, run)
      : await askAuthor(
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `on` is a function, and its type takes the input of the branch
          { place: "on", name: "on", ask: (inside) => (on as AnyFunction)(input, inside) },
          run,
        );
    const found = names.indexOf(textOf(value));
    const index = found === -1 ? agents.length - 1 : found;
    const member = found === -1 ? rest : members[found];
    if (member === undefined) throw caseMissing(value, names, run.name);
    const { agent, about } = member;
    const chosen = { name: agent.name, agent, about };
    return runMember({ member: chosen, place: String(index + offset), input }, run);
  }
  return composite({
    name: `branch(${agents.map(({ name }) => name).join(", ")})`,
    members: all,
    input: inputOfAll(all),
    outputs: agents.flatMap(({ about }) => about.outputs),
    hasOthers: decides === undefined,
    course,
  });
}

const shape = closed({
  on: named("an agent or a function", callable),
  cases: record,
  otherwise: anything,
});

type AnyFunction = (input: unknown, inside: RunInside) => unknown;

/** A value as the name of its case; a value that cannot name one is shown as it is, and matches none. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : shownText(value);
}

/** The value as JSON, if possible: a program's own function may return anything. */
function shownText(value: unknown): string {
  const json = toJson(value);
  return value === undefined || !json.ok ? kindOf(value) : JSON.stringify(json.value);
}

function caseMissing(value: unknown, names: readonly string[], name: string): Unanswered {
  const shown = shownText(value).slice(0, 200);
  return unanswered(new WritError("case-missing", { name, value: shown, cases: names.join(", ") }));
}

interface GivenCases {
  readonly names: readonly string[];
  /** True if there is an agent for values without a case. */
  readonly isOpen: boolean;
}

/** Checks the cases against the values of the deciding agent, if its output schema lists them. */
function checkCases({ name, about: { outputs } }: Member, { names, isOpen }: GivenCases): void {
  const each = outputs.map((output) => (output === undefined ? undefined : valuesOf(output.jsonSchema)));
  if (each.length === 0 || each.includes(undefined)) return;
  const values = new Set(each.flatMap((some) => some ?? []).map(textOf));
  const missing = [...values].filter((value) => !names.includes(value));
  const other = names.filter((case_) => !values.has(case_));
  const where = "branch()";
  if (missing.length > 0 && !isOpen)
    throw new WritError("definition-invalid", {
      where,
      reason: `the agent "${name}" can also say ${missing.join(", ")}, which has no case.`,
    });
  if (other.length > 0)
    throw new WritError("definition-invalid", {
      where,
      reason: `there is a case ${other.join(", ")}, which the agent "${name}" never says.`,
    });
}

/** All values that a schema permits, if it names each of them. */
function valuesOf(schema: JsonSchema): readonly CaseValue[] | undefined {
  const { const: only, enum: some, type, anyOf, oneOf } = schema;
  if (only !== undefined) return plain([only]);
  if (Array.isArray(some)) return plain(some as readonly Json[]);
  if (type === "boolean") return [true, false];
  if (type === "null") return [null];
  const either = anyOf ?? oneOf;
  if (!Array.isArray(either)) return undefined;
  const each = (either as readonly Json[]).map((part) => (isJsonObject(part) ? valuesOf(part) : undefined));
  return each.includes(undefined) ? undefined : each.flatMap((part) => part ?? []);
}

function plain(values: readonly Json[]): readonly CaseValue[] | undefined {
  return values.every((value) => value === null || typeof value !== "object") ? values : undefined;
}
