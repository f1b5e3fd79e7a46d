import { describeIssues, type JsonSchema } from "../../schema/schema.ts";
import { toSchema } from "../../schema/to-schema.ts";
import type { Json } from "../../util/json.ts";
import type { EvaluatedRun } from "./eval-report.ts";

/** One expectation of a case, ready to be compared with runs. */
export interface Check {
  /** Its place among the expectations, like `["calls", 0]`. */
  readonly path: readonly (string | number)[];
  /** The reason why it does not hold; undefined if it holds. */
  readonly fault: (run: EvaluatedRun) => string | undefined | Promise<string | undefined>;
}

/** Says what is wrong with a value; undefined if it fits. */
export type ValueCheck = (value: unknown) => Promise<string | undefined>;

/** @throws WritError `schema-invalid`, also for a pattern without a linear form */
export function valueCheck(schema: JsonSchema): ValueCheck {
  const made = toSchema(schema, { name: "expect", role: "output", coerce: "none" });
  return async (value) => {
    const parsed = await made.parse(value);
    return parsed.ok ? undefined : describeIssues(parsed.issues);
  };
}

const longest = 300;

/** A value as a report shows it: JSON on one line, shortened if it is long. */
export function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;
}
