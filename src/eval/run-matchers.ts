import { checkShape } from "../error/check-shape.ts";
import { list, object, record } from "../util/shape.ts";
import type { RunResult } from "../agent/runnable.ts";
import type { Outcome } from "../event/outcome.ts";
import type { ResultStatus } from "../message/message.ts";
import type { MadeCall } from "../message/made-calls.ts";
import type { Tool } from "../tool/tool.ts";
import { isJsonObject } from "../util/json.ts";

/** A tool, or its name. */
export type ToolOrName = string | Pick<Tool, "name">;

/** The parts of `this` in a matcher that these matchers use: Vitest and Jest both have them. */
export interface MatcherContext {
  readonly equals: (left: unknown, right: unknown) => boolean;
  /** True behind `.not`. */
  readonly isNot?: boolean;
}

/** The result of a matcher. */
export interface Matched {
  readonly pass: boolean;
  readonly message: () => string;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

/** Expectations about the result of a run. `Returned` is the type that the test runner's own matchers return. */
export interface RunMatchers<Returned = void> {
  /**
   * A call of the tool was carried out, successfully or not; with these arguments, if they are given. The call may
   * have more.
   */
  toHaveCalled(tool: ToolOrName, args?: object): Returned;
  /** Calls of these tools were carried out one after the other; other calls may come between. */
  toHaveCalledInOrder(tools: readonly ToolOrName[]): Returned;
  /** A call of the tool was denied: by the allow-list, the policy, a hook or a person. */
  toHaveDenied(tool: ToolOrName, args?: object): Returned;
  /** The run ended in this way. */
  toHaveEnded(outcome: Outcome["type"]): Returned;
}

type MatcherOf<Matcher> = Matcher extends (...expected: infer Expected) => void
  ? (this: MatcherContext, result: RunResult<unknown>, ...expected: Expected) => Matched
  : never;

/**
 * Matchers for the result of a run, for `expect.extend` of Vitest and of Jest: for calls that were carried out or
 * denied, and for the end of the run. They see the run's own calls, not those of agents inside it.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fakeTool, runMatchers, type RunMatchers, scripted } from "writ/testing";
 * import { expect, test } from "vitest";
 *
 * declare module "vitest" {
 *   interface Matchers<R extends void | Promise<void>> extends RunMatchers<R> {} // Vitest 5; before it: Matchers<T>
 * }
 * expect.extend(runMatchers); // both in a setup file of the tests
 *
 * const model = scripted([{ calls: [{ name: "add", arguments: { a: 1, b: 2 } }] }, "3"]);
 * const add = fakeTool("add", 3);
 *
 * test("it adds with its tool", async () => {
 *   const result = await agent({ name: "calculator", model, tools: [add] }).run("1 + 2?");
 *   expect(result).toHaveCalled(add, { a: 1 });
 *   expect(result).not.toHaveCalled("refund");
 *   expect(result).toHaveEnded("answered");
 * });
 * ```
 */
export const runMatchers: { readonly [Name in keyof RunMatchers]: MatcherOf<RunMatchers[Name]> } = {
  toHaveCalled(result, tool, args) {
    return matchCalls(this, { result, tool, args, verb: "call", counts: isCarriedOut });
  },
  toHaveDenied(result, tool, args) {
    return matchCalls(this, { result, tool, args, verb: "deny", counts: (status) => status === "denied" });
  },
  toHaveCalledInOrder(result, tools) {
    checkResult(result);
    const wanted = tools.map(nameOf);
    const made = result.calls.filter(({ status }) => isCarriedOut(status));
    let next = 0;
    for (const { name } of made) if (name === wanted[next]) next += 1;
    return {
      pass: next === wanted.length,
      message: () =>
        `expected the run ${not(this)}to have calls of ${wanted.join(", ")} in this order\n${callList(result.calls)}`,
      actual: made.map(({ name }) => name),
      expected: wanted,
    };
  },
  toHaveEnded(result, outcome) {
    checkResult(result);
    const { type } = result.outcome;
    const reason = result.error === undefined ? "" : `: ${result.error.message}`;
    return {
      pass: type === outcome,
      message: () =>
        `expected the run ${not(this)}to end as ${outcome}; it is ${type}${reason}\n${callList(result.calls)}`,
      actual: type,
      expected: outcome,
    };
  },
};

const resultShape = object({ calls: list(record), outcome: record }, "the result of a run");

/** @throws WritError `definition-invalid` for a run that was not awaited, or its text */
function checkResult(result: unknown): void {
  checkShape("What `expect()` of a run is given", result, resultShape);
}

interface CallQuestion {
  readonly result: RunResult<unknown>;
  readonly tool: ToolOrName;
  readonly args: object | undefined;
  readonly verb: string;
  readonly counts: (status: ResultStatus) => boolean;
}

function matchCalls(context: MatcherContext, { result, tool, args, verb, counts }: CallQuestion): Matched {
  checkResult(result);
  const name = nameOf(tool);
  const calls = result.calls;
  const own = calls.filter((call) => call.name === name && counts(call.status));
  const found = own.find((call) => args === undefined || hasFields(context, call.arguments, args));
  const withArguments = args === undefined ? "" : ` with ${JSON.stringify(args)}`;
  return {
    pass: found !== undefined,
    message: () => `expected the run ${not(context)}to ${verb} ${name}${withArguments}\n${callList(calls)}`,
    ...(args === undefined ? {} : { actual: own.map((call) => call.arguments), expected: args }),
  };
}

/**
 * True for a value with these fields. The test runner compares everything but plain objects, because its own matchers may
 * be in place of a value.
 */
function hasFields(context: MatcherContext, value: unknown, wanted: unknown): boolean {
  if (!isPlainObject(wanted)) return context.equals(value, wanted);
  if (!isJsonObject(value)) return false;
  return Object.entries(wanted).every(
    ([name, field]) => Object.hasOwn(value, name) && hasFields(context, value[name], field),
  );
}

function isPlainObject(value: unknown): value is object {
  return isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}

/** True of the status of a call that was carried out. Refused calls, wrong arguments, and calls that were skipped or stopped before they began were not. */
export function isCarriedOut(status: ResultStatus): boolean {
  return !["denied", "invalid", "skipped", "cancelled"].includes(status);
}

function callList(calls: readonly MadeCall[]): string {
  if (calls.length === 0) return "It made no call.";
  return `Its calls:\n${calls.map(({ name, arguments: args, status }) => `  ${name} ${JSON.stringify(args)} ${status}`).join("\n")}`;
}

function not({ isNot = false }: MatcherContext): string {
  return isNot ? "not " : "";
}

function nameOf(tool: ToolOrName): string {
  return typeof tool === "string" ? tool : tool.name;
}
