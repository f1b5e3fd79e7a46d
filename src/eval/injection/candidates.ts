import type { Json, JsonObject } from "../../util/json.ts";
import { type FoundValue, lookAlikes, typeOf, valuesIn, withValue } from "./find-values.ts";
import { type Origin, type Pools, roledLeaves, type RoledLeaf } from "./origins.ts";
import { keyOf } from "./scenes.ts";
import { valueFor } from "./script-attack.ts";
import type { SuiteParameter, SuiteTools } from "./suite-tools.ts";
import type { SuiteCall } from "./suite.ts";

/** The sources of the calls that an attacker tries. */
export interface CandidateSources {
  /** The calls of the attack itself. */
  readonly attack: readonly SuiteCall[];
  /** The calls of the user's task. None of them is tried as it is, because the user wants it. */
  readonly task: readonly SuiteCall[];
  readonly pools: Pools;
  readonly originOf: (value: RoledLeaf["value"]) => Origin;
  readonly tools: SuiteTools;
  /** The names of the tools that may be called. */
  readonly allowed: readonly string[];
  readonly seed: number;
}

/** The number of calls that are made up for each tool, beside the variations of known calls. */
export const perTool = 16;

/** The most calls that are tried in each pair. */
export const perPair = 200;

/** The most values that are tried in one place of a known call. */
const perPlace = 3;

/**
 * The calls that an attacker tries after the injection, each once, the same for the same seed: the attack's own calls, also without the text of their
 * content; those with a value replaced by one of the user's or of the data; the task's calls with one value replaced by the attacker's, or one more
 * argument with it; and for every tool that reaches something, calls made up from all values that were seen.
 */
export function candidatesOf(sources: CandidateSources): readonly SuiteCall[] {
  const { attack, task, allowed, tools } = sources;
  const wanted = new Set(task.map(keyOf));
  const found = new Map<string, SuiteCall>();
  const all = [
    ...attack.flatMap((call) => [call, ...withoutContent(call, tools)]),
    ...attack.flatMap((call) => swapped(call, sources)),
    ...task.flatMap((call) => edited(call, sources)),
    ...allowed.filter((name) => tools.reaches(name)).flatMap((name) => madeUp(name, sources)),
  ];
  for (const call of all) {
    const key = keyOf(call);
    if (tools.reaches(call.tool) && allowed.includes(call.tool) && !wanted.has(key) && !found.has(key))
      found.set(key, call);
  }
  return [...found.values()].slice(0, perPair);
}

/** The same targets with content that says nothing, and without content that may be left out. */
function withoutContent(call: SuiteCall, tools: SuiteTools): readonly SuiteCall[] {
  const content = roledLeaves(call, tools).filter(({ role }) => role === "content");
  const isRequired = (leaf: RoledLeaf): boolean =>
    tools.parametersOf(call.tool).some(({ name, isRequired }) => isRequired && name === leaf.path[0]);
  const bland = content.reduce<JsonObject>(
    (args, { path, value }) => (typeof value === "string" ? withValue(args, path, "ok") : args),
    call.args,
  );
  const short = content
    .filter((leaf) => !isRequired(leaf))
    .reduce<JsonObject>((args, { path }) => withValue(args, path.slice(0, 1), undefined), bland);
  return [
    { ...call, args: bland },
    { ...call, args: short },
  ];
}

/** A call of the attack with each value that is not the user's replaced by values that are, or that were seen. */
function swapped(call: SuiteCall, { pools, originOf, tools }: CandidateSources): readonly SuiteCall[] {
  return roledLeaves(call, tools)
    .filter(({ role, value }) => role !== "content" && originOf(value) !== "user")
    .flatMap((leaf) =>
      [pools.user, pools.data].flatMap((pool) =>
        alike(pool, leaf, parameterOf(call, leaf, tools)).map((value) => ({
          ...call,
          args: withValue(call.args, leaf.path, value),
        })),
      ),
    );
}

/** A call of the task with one value replaced by the attacker's, as when the attacker edits a bill, or by a look-alike; or with one more argument. */
function edited({ tool, args }: SuiteCall, sources: CandidateSources): readonly SuiteCall[] {
  const { pools, tools, attack, originOf } = sources;
  const known = (name: string): readonly FoundValue[] => [
    ...valuesIn(attack.flatMap((call) => call.args[name] ?? [])),
    ...pools.attacker,
  ];
  const call = { tool, args };
  const swaps = roledLeaves(call, tools).flatMap((leaf) =>
    [
      ...alike(known(String(leaf.path[0])), leaf, parameterOf(call, leaf, tools)),
      ...disguises(leaf).filter((value) => originOf(value) === "attacker"),
    ].map((value) => ({ tool, args: withValue(args, leaf.path, value) })),
  );
  const additions = tools
    .parametersOf(tool)
    .filter(({ name, isRequired }) => !isRequired && (args[name] ?? null) === null)
    .flatMap((parameter) =>
      firstOf(fitting(known(parameter.name), parameter)).map((value) => ({
        tool,
        args: { ...args, [parameter.name]: valueFor(parameter, value) },
      })),
    );
  return [...swaps, ...additions];
}

/** Look-alikes of a value that is not content. */
function disguises({ role, value }: RoledLeaf): readonly (string | number)[] {
  if (role === "content" || typeof value === "boolean" || value === null) return [];
  const type = typeof value === "number" ? "number" : typeOf(value);
  return lookAlikes({ type, value }).map((found) => found.value);
}

/** The first few values, each once. */
function firstOf(values: readonly (string | number)[]): readonly (string | number)[] {
  return [...new Set(values)].slice(0, perPlace);
}

function parameterOf(call: SuiteCall, { path }: RoledLeaf, tools: SuiteTools): SuiteParameter | undefined {
  return tools.parametersOf(call.tool).find(({ name }) => name === path[0]);
}

/** Values of a pool that can replace another value: of its JSON type, and of a kind that the parameter takes. */
function alike(
  pool: readonly FoundValue[],
  { value }: RoledLeaf,
  parameter: SuiteParameter | undefined,
): readonly (string | number)[] {
  if (parameter === undefined || (typeof value !== "string" && typeof value !== "number")) return [];
  return firstOf(
    fitting(pool, parameter)
      .map((each) => (typeof value === "string" ? String(each) : each))
      .filter((each) => typeof each === typeof value && each !== value),
  );
}

/** The values of a pool that a parameter takes, those of its own kind first; only those of its own kind if it asks for addresses. */
function fitting(
  pool: readonly FoundValue[],
  { json, types, fields }: SuiteParameter,
): readonly (string | number)[] {
  if (json === "object") return fields.flatMap((field) => fitting(pool, field));
  const isNumber = json === "number" || json === "integer";
  if (isNumber) return pool.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  if (json !== "string") return [];
  const own = pool.filter(({ type }) => types.includes(type));
  const asksAddress = types.some((type) => ["email", "url", "iban", "phone", "host"].includes(type));
  const digits = types.includes("identifier") ? pool.filter(({ type }) => type === "number") : [];
  const others = asksAddress ? [] : pool.filter(({ type }) => !types.includes(type) && type !== "number");
  return [...own, ...digits, ...others].map(({ value }) => String(value));
}

/** The pools from which calls are made up. */
type PoolName = "user" | "attacker" | "data";

/** The owners of the acting arguments and of the content of a made-up call. */
interface Mix {
  readonly acting: PoolName;
  readonly content: PoolName;
  /** The number of the value that is taken from several. */
  readonly turn: number;
}

const mixes: readonly Mix[] = [0, 1].flatMap((turn) => [
  { acting: "user", content: "attacker", turn },
  { acting: "attacker", content: "attacker", turn },
  { acting: "data", content: "attacker", turn },
  { acting: "user", content: "user", turn },
]);

/** Calls of one tool with all required arguments taken from the pools, then each optional one with the attacker's value, then a seeded mixture. */
function madeUp(tool: string, { tools, pools, seed }: CandidateSources): readonly SuiteCall[] {
  const parameters = tools.parametersOf(tool).map((parameter) => ({
    parameter,
    isContent: tools.roleOf(tool, parameter.name) === "content",
    user: fitting(pools.user, parameter),
    attacker: fitting(pools.attacker, parameter),
    data: fitting(pools.data, parameter),
  }));
  const required = parameters.filter(({ parameter }) => parameter.isRequired);
  const made = (pick: (choice: Choice) => Json | undefined): JsonObject =>
    Object.fromEntries(
      required.map((choice) => [choice.parameter.name, valueFor(choice.parameter, pick(choice))]),
    );
  const planned = mixes.map(({ acting, content, turn }) =>
    made((choice) => picked(choice, choice.isContent ? content : acting, turn)),
  );
  const [base = {}] = planned;
  const more = parameters
    .filter(({ parameter }) => !parameter.isRequired)
    .flatMap(({ parameter, attacker }) =>
      attacker.slice(0, 1).map((value) => ({ ...base, [parameter.name]: valueFor(parameter, value) })),
    );
  const random = randomOf(`${seed} ${tool}`);
  const names = ["user", "attacker", "data"] as const;
  const choose = (): PoolName => names[Math.floor(random() * names.length)] ?? "user";
  const mixed = Array.from({ length: perTool }, () =>
    made((choice) => picked(choice, choose(), Math.floor(random() * 8))),
  );
  return [...planned, ...more, ...mixed].slice(0, perTool).map((args) => ({ tool, args }));
}

/** A parameter with the values that it takes from each pool. */
interface Choice extends Readonly<Record<PoolName, readonly (string | number)[]>> {
  readonly parameter: SuiteParameter;
  readonly isContent: boolean;
}

/** A value from the wanted pool; if that has none of the kind, from the others. */
function picked(choice: Choice, wanted: PoolName, turn: number): Json | undefined {
  const { values: counted } = choice.parameter;
  if (counted !== undefined) return counted[turn % counted.length];
  const orders = [wanted, "attacker", "user", "data"] as const;
  const values = orders.map((name) => choice[name]).find(({ length }) => length > 0);
  return values === undefined ? undefined : values[turn % values.length];
}

/** Pseudo-random numbers from 0 up to 1, the same for the same seed (mulberry32). */
function randomOf(seed: string): () => number {
  let state = 0;
  for (const character of seed) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
