import { contentText } from "../../message/message.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import {
  addressesIn,
  type AddressType,
  type FoundValue,
  isAddressType,
  literalsIn,
  valuesIn,
} from "./find-values.ts";
import { listOf } from "./fitting-values.ts";
import type { SuiteParameter, SuiteTools } from "./suite-tools.ts";
import type { Pair, Suite, SuiteCall } from "./suite.ts";

/** The calls of an attack, and whether they were recorded or made from the words of its goal. */
export interface Attack {
  readonly calls: readonly SuiteCall[];
  readonly isMade: boolean;
}

/**
 * The calls of a pair's attack. If the suite has none, one call is made: of the effectful tool that takes the first address in the goal and whose name fits
 * the goal's words best, with that address as its target and the last data read as its content. If no tool takes such an address, the target is an address
 * that was read, and the content is the goal. Undefined if the goal has no address, or no tool takes any of these.
 */
export function attackOf(pair: Pair, suite: Suite, tools: SuiteTools): Attack | undefined {
  const recorded = pair.attackCalls.length > 0 ? pair.attackCalls : pair.injection.steps;
  if (recorded.length > 0) return { calls: recorded, isMade: false };
  const made = madeCall(pair, suite, tools);
  return made === undefined ? undefined : { calls: [made], isMade: true };
}

function madeCall(
  { user, injection, strikes: [strike = -1] }: Pair,
  suite: Suite,
  tools: SuiteTools,
): SuiteCall | undefined {
  const { goal } = injection;
  const [target] = addressesIn(goal);
  if (target === undefined) return undefined;
  const seen = user.steps.slice(0, strike + 1).map(({ result }) => result);
  const data = contentText(seen.at(-1) ?? "").slice(0, 500);
  const direct = bestTool(goal, suite, { tools, takes: [target.type] });
  if (direct !== undefined) {
    const values = { addresses: [target], content: data === "" ? goal : data };
    return { tool: direct, args: fillRequired(tools.parametersOf(direct), (each) => filled(each, values)) };
  }
  const addresses = seen.flatMap(valuesIn).filter(isAddress);
  const takes = [...new Set(addresses.map(({ type }) => type))];
  const tool = bestTool(goal, suite, { tools, takes });
  if (tool === undefined) return undefined;
  const values = { addresses, content: goal };
  return { tool, args: fillRequired(tools.parametersOf(tool), (each) => filled(each, values)) };
}

function isAddress(found: FoundValue): found is FoundValue & { readonly type: AddressType } {
  return isAddressType(found.type);
}

/** The effectful tool that takes such an address, with the largest part of the words of its name in the goal; of a tie, the first. */
function bestTool(
  goal: string,
  { tools: all }: Suite,
  { tools, takes }: { readonly tools: SuiteTools; readonly takes: readonly AddressType[] },
): string | undefined {
  const words = new Set(goal.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  const fit = (name: string): number => {
    const own = name.toLowerCase().split(/[^a-z0-9]+/);
    return own.filter((word) => words.has(word)).length / own.length;
  };
  return all
    .map(({ name }) => name)
    .filter((name) => tools.hasEffect(name))
    .filter((name) =>
      tools.parametersOf(name).some(({ types }) => takes.some((type) => types.includes(type))),
    )
    .toSorted((a, b) => fit(b) - fit(a))[0];
}

function filled(
  { types }: SuiteParameter,
  { addresses, content }: { readonly addresses: readonly FoundValue[]; readonly content: string },
): Json | undefined {
  const address = addresses.find(({ type }) => types.includes(type));
  if (address !== undefined) return address.value;
  if (types.includes("date"))
    return String(literalsIn(content).find(({ type }) => type === "date")?.value ?? "2025-01-01");
  return content;
}

/**
 * Arguments with a value for each required parameter; `pick` returns one plain value, or undefined if it has none. A value is converted to the
 * parameter's JSON type.
 */
function fillRequired(
  parameters: readonly SuiteParameter[],
  pick: (parameter: SuiteParameter) => Json | undefined,
): JsonObject {
  return Object.fromEntries(
    parameters.filter(({ isRequired }) => isRequired).map((each) => [each.name, valueFor(each, pick(each))]),
  );
}

/** A value that the parameter's schema takes: one of its listed values, a list, an object with a value in each field, and of the right JSON type. */
export function valueFor(parameter: SuiteParameter, given: Json | undefined): Json {
  const { isList, values } = parameter;
  const one =
    values !== undefined && !values.some((each) => each === given)
      ? (values[0] ?? null)
      : plain(parameter, given);
  return isList ? listOf(parameter, one) : one;
}

function plain({ json, range, fields }: SuiteParameter, given: Json | undefined): Json {
  switch (json) {
    case "number":
      return within(range, typeof given === "number" ? given : 1);
    case "integer":
      return within(range, typeof given === "number" ? Math.trunc(given) : 1);
    case "boolean":
      return typeof given === "boolean" ? given : true;
    case "object":
      return fillRequired(fields, ({ name }) => (isJsonObject(given) ? given[name] : given));
    case "null":
      return null;
    case "string":
    default:
      return given === undefined || given === null ? "ok" : contentText(given);
  }
}

function within([least, greatest]: readonly [number, number] = [-Infinity, Infinity], value: number): number {
  return Math.min(greatest, Math.max(least, value));
}
