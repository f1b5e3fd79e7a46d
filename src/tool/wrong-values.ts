import { asSentence } from "../util/as-sentence.ts";
import { describeIssues, type Issue, type Schema } from "../schema/schema.ts";
import { isJsonObject } from "../util/json.ts";
import type { Tool } from "./tool.ts";

/** The fault of arguments in words; the names of missing ones come first. */
export function argumentProblem({ jsonSchema }: Schema, sent: unknown, found: readonly Issue[]): string {
  const issues = found.map((issue) => aboutInteger(issue, sent));
  const { required } = jsonSchema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const missing = new Set(isJsonObject(sent) ? names.filter((name) => !Object.hasOwn(sent, name)) : []);
  if (missing.size === 0) return describeIssues(issues);
  const others = issues.filter(
    ({ path: [first, ...rest] }) => rest.length > 0 || !missing.has(String(first)),
  );
  const told = `Missing required parameters: ${[...missing].join(", ")}`;
  return others.length === 0 ? told : `${told}; ${describeIssues(others)}`;
}

/** Reading an integer that a number cannot hold gave its digits as a text, of which the model knows nothing. */
function aboutInteger(issue: Issue, sent: unknown): Issue {
  const value = issue.path.reduce<unknown>((whole, key) => Object(whole)[key], sent);
  const isLarge = typeof value === "string" && integer.test(value) && !Number.isSafeInteger(Number(value));
  if (!isLarge || !wantsNumber.test(issue.message)) return issue;
  const digits = value.length > longestDigits ? `${value.slice(0, longestDigits)}…` : value;
  const bounds = `between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
  return { ...issue, message: `${digits} is too large to be exact: send an integer ${bounds}` };
}

const integer = /^-?\d+$/;
const wantsNumber = /\b(?:number|integer|int)\b/i;
const longestDigits = 40;

/** The most characters of a schema that help a model. */
const longestSchema = 2000;

/** The message to a model about a call with wrong arguments. */
export function wrongArguments({ name, input }: Pick<Tool, "name" | "input">, problem: string): string {
  const schema = JSON.stringify(input.jsonSchema);
  const shown = schema.length > longestSchema ? `${schema.slice(0, longestSchema)}…` : schema;
  return `Tool '${name}' received invalid arguments: ${asSentence(problem)} It did not run. The arguments must match this JSON Schema: ${shown}`;
}

/** The message to a model about a result that it may not see. */
export function wrongResult(name: string): string {
  return `Tool '${name}' failed: its result does not match its output schema`;
}
