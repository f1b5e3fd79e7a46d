import { isJsonObject, type Json } from "../../src/util/json.ts";
import type { BfclAnswer, BfclCase, BfclFunction } from "./cases.ts";
import { ruleOf } from "./categories.ts";
import { expectedOf, faultOf } from "./judge-value.ts";

/** A call as it is judged. */
export interface JudgedCall {
  readonly name: string;
  readonly arguments: Json;
}

/** An output that was judged. */
export interface JudgedOutput {
  /** The model or the driver that it came from. */
  readonly by: string;
  readonly test: BfclCase;
  /** Text of the model; empty when its provider found the calls. */
  readonly said: string;
  readonly calls: readonly JudgedCall[];
  /** Fault in a few words; undefined for a right output. */
  readonly wrong: string | undefined;
}

/**
 * Fault of these calls for a case, in a few words for people; undefined for right ones. The rule is that of
 * the leaderboard's own checker of syntax trees, with one difference: JSON has one kind of number, so that
 * 5.0 is an integer and 5 stands in a list of floats. Never throws.
 */
export function wrongWith(test: BfclCase, calls: readonly JudgedCall[]): string | undefined {
  const rule = ruleOf(test.category);
  if (rule === "none") return calls.length === 0 ? undefined : `calls ${namesOf(calls)}, and should not`;
  if (rule === "some") return calls.length > 0 ? undefined : "calls nothing";
  const { answers } = test;
  if (calls.length !== answers.length) return `makes ${calls.length} calls, not ${answers.length}`;
  if (rule === "several") return unmatchedIn(test, calls);
  const [answer] = answers;
  const [call] = calls;
  if (answer === undefined || call === undefined) return "has no answer to be judged by";
  return faultOfCall(call, {
    answer,
    declared: rule === "one" ? test.functions[0] : declaredOf(test, answer),
  });
}

/** Each answer takes the first remaining call that fits it. */
function unmatchedIn(test: BfclCase, calls: readonly JudgedCall[]): string | undefined {
  const left = [...calls];
  for (const answer of test.answers) {
    const declared = declaredOf(test, answer);
    const faults = left.map((call) => faultOfCall(call, { answer, declared }));
    const index = faults.indexOf(undefined);
    if (index === -1) {
      const near = left.findIndex(({ name }) => name === answer.name);
      return faults[Math.max(near, 0)] ?? `lacks a call of ${answer.name}`;
    }
    left.splice(index, 1);
  }
  return undefined;
}

function declaredOf({ functions }: BfclCase, { name }: BfclAnswer): BfclFunction | undefined {
  return functions.find((declared) => declared.name === name);
}

interface Against {
  readonly answer: BfclAnswer;
  readonly declared: BfclFunction | undefined;
}

function faultOfCall(call: JudgedCall, { answer, declared }: Against): string | undefined {
  if (declared === undefined) return `has an answer that calls ${answer.name}, which is not offered`;
  if (call.name !== declared.name) return `calls ${call.name}, not ${declared.name}`;
  const { arguments: given } = call;
  if (!isJsonObject(given)) return `${call.name} has no object of arguments`;
  const { required, properties } = declared;
  const missing = required.find((name) => !Object.hasOwn(given, name));
  if (missing !== undefined) return `${call.name} lacks "${missing}"`;
  for (const [name, value] of Object.entries(given)) {
    const fault = faultOfArgument(value, own(properties, name), own(answer.arguments, name));
    if (fault !== undefined) return `${call.name}: "${name}" ${fault}`;
  }
  const left = Object.entries(answer.arguments).find(
    ([name, allowed]) => !Object.hasOwn(given, name) && !allowed.includes(""),
  );
  return left === undefined ? undefined : `${call.name} lacks "${left[0]}", which the answer has`;
}

function faultOfArgument(
  value: Json,
  schema: Json | undefined,
  allowed: readonly Json[] | undefined,
): string | undefined {
  if (!isJsonObject(schema)) return "is no parameter";
  if (allowed === undefined) return "is not in the answer";
  const expected = expectedOf(schema, allowed);
  return expected === undefined ? "is declared with a type that cannot be judged" : faultOf(value, expected);
}

function own<Value>(record: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function namesOf(calls: readonly JudgedCall[]): string {
  return calls.map(({ name }) => name).join(", ");
}
