import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type {
  EvalCase,
  Expectations,
  ExpectedAnswer,
  ExpectedCall,
  ExpectedJudgement,
  FixedResult,
} from "./eval-case.ts";

/** A case with its short forms written out. */
export interface FullCase extends Omit<EvalCase, "expect" | "results"> {
  readonly expect: FullExpectations;
  readonly results: readonly FixedResult[];
}

/** Expectations with their short forms written out. */
export interface FullExpectations extends Omit<Expectations, "calls" | "order" | "never" | "judge"> {
  readonly answer?: ExpectedAnswer;
  readonly calls?: readonly ExpectedCall[];
  readonly order?: readonly ExpectedCall[];
  readonly never?: readonly ExpectedCall[];
  readonly judge?: ExpectedJudgement;
}

/**
 * Writes out the short forms of a case. A wrong field stays as it is: the check of the fields reports
 * it, and each field keeps its place.
 */
export function expanded(fields: JsonObject): JsonObject {
  const { expect = {}, results = [] } = fields;
  return {
    ...fields,
    expect: isJsonObject(expect) ? expandedExpectations(expect) : expect,
    results: isJsonObject(results)
      ? Object.entries(results).map(([tool, result]) => ({ tool, result }))
      : results,
  };
}

function expandedExpectations(expect: JsonObject): JsonObject {
  const { answer, judge } = expect;
  return {
    ...expect,
    ...callLists(expect),
    ...(isJsonObject(answer) ? { answer: expandedAnswer(answer) } : {}),
    ...(typeof judge === "string" ? { judge: { rubric: judge } } : {}),
  };
}

function callLists(expect: JsonObject): JsonObject {
  const lists: Record<string, Json> = {};
  for (const name of ["calls", "order", "never"]) {
    const list = expect[name];
    if (isJsonList(list))
      lists[name] = list.map((entry) => (typeof entry === "string" ? { tool: entry } : entry));
  }
  return lists;
}

function expandedAnswer(answer: JsonObject): JsonObject {
  const texts: Record<string, Json> = {};
  for (const name of ["contains", "omits"]) {
    const text = answer[name];
    if (typeof text === "string") texts[name] = [text];
  }
  return { ...answer, ...texts };
}
