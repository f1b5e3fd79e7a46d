import type { IsDefault } from "../../../tool/default-values.ts";
import type { ParameterRole, ParameterWords, ValueType } from "../../../tool/parameters.ts";
import type { Json } from "../../../util/json.ts";

/** The role of an argument in its call. */
export interface Sort {
  readonly role: ParameterRole;
  readonly type?: ValueType;
  /** The author's other words on the argument: values that count as chosen in it, and places that they may come from. */
  readonly words?: Pick<ParameterWords, "constants" | "from">;
}

/** One plain value in the arguments of a call: text, number, boolean or null; or a name that the model chose. */
export interface Leaf extends Sort {
  /** `to[0]`, `event.participants[1].email`; a name that is itself a value is in brackets, `headers(x@y.z)`. */
  readonly path: string;
  readonly value: Json;
  /** True if JSON cannot hold the value: nothing about it can be decided. */
  readonly isOdd: boolean;
  /** True if a default of the author's schema stands there: see `defaultsIn` of a call. */
  readonly isDefault?: true | undefined;
}

/** The most values that are looked at, at most so deep: beyond that nothing can be decided. */
const mostLeaves = 5000;
const deepest = 64;

/** The rules for reading arguments. */
export interface ReadingOfArguments {
  readonly sortOf: (parameter: string) => Sort;
  /** The role of a field inside an argument, by its dotted path, if it has one of its own. Undefined if no field has. */
  readonly sortWithin?: (path: string) => Sort | undefined;
  /** True if the name of a field is the author's. Any other name is a value too, because the model chose it. */
  readonly isName: (key: string) => boolean;
  /** True for the fields in which defaults of the author's schema stand. Default: none. */
  readonly isDefault?: IsDefault;
  /** The most values to look at. Default 5000. */
  readonly most?: number;
}

/**
 * All values in the arguments of a call, each with the role of its argument. An empty list or object is one empty value. Names of
 * fields that the author did not give are values too: a map may carry its content in its keys.
 *
 * Undefined if they cannot be read, or are too many. May throw if a getter or a proxy does.
 */
export function leavesOf(args: unknown, reading: ReadingOfArguments): readonly Leaf[] | undefined {
  const { sortOf, isName } = reading;
  const collected: Collected = { leaves: [], reading };
  const { leaves } = collected;
  if (!isPlainObject(args))
    return collect(args, { path: "", sort: sortOf(""), depth: 0 }, collected) ? leaves : undefined;
  for (const name of Object.keys(args)) {
    const sort = sortOf(name);
    if (!isName(name)) leaves.push(leafOf(name, { path: `(${name})`, sort }));
    const isDefault = isDefaultIn(reading, args, name);
    if (!collect(args[name], { path: name, sort, depth: 1, isDefault }, collected)) return undefined;
  }
  return leaves;
}

/**
 * The values at a dotted path, through lists. One empty value if nothing is there. Undefined if they cannot be read, or are too many. A name with dots
 * in it is found too: everything that a tool might take for the argument is looked at.
 */
export function leavesAt(
  args: unknown,
  path: string,
  reading: ReadingOfArguments,
): readonly Leaf[] | undefined {
  const { sortOf, sortWithin } = reading;
  const found: Found[] = [];
  if (!find(args, path, { found, depth: 0, reading })) return undefined;
  const sort = sortWithin?.(path) ?? sortOf(path.split(".", 1)[0] ?? "");
  const collected: Collected = { leaves: [], reading };
  for (const { value, isDefault } of found.length === 0 ? [nothing] : found)
    if (!collect(value, { path, sort, depth: 1, isDefault }, collected)) return undefined;
  return collected.leaves;
}

/** True for a value that is left out, null or empty. */
export function isAbsent({ value, isOdd }: Leaf): boolean {
  return !isOdd && (value === null || value === "");
}

interface Position {
  readonly path: string;
  readonly sort: Sort;
  readonly depth: number;
  /** True in a default of the author's schema. */
  readonly isDefault?: true | undefined;
}

interface Collected {
  readonly leaves: Leaf[];
  readonly reading: ReadingOfArguments;
}

/** Collects the values. Returns false if the value cannot be read whole. */
function collect(value: unknown, at: Position, collected: Collected): boolean {
  const { path, sort, depth } = at;
  const { leaves, reading } = collected;
  if (depth > deepest || leaves.length >= (reading.most ?? mostLeaves)) return false;
  if (Array.isArray(value)) {
    if (value.length === 0) leaves.push(leafOf(null, at));
    for (let index = 0; index < value.length; index += 1)
      if (!collect(value[index], { ...at, path: `${path}[${index}]`, depth: depth + 1 }, collected))
        return false;
    return true;
  }
  if (!isPlainObject(value)) {
    leaves.push(leafOf(value, at));
    return true;
  }
  const keys = Object.keys(value);
  if (keys.length === 0) leaves.push(leafOf(null, at));
  for (const key of keys) {
    if (!reading.isName(key)) leaves.push(leafOf(key, { ...at, path: `${path}(${key})` }));
    const below = `${path}.${key}`;
    const own = reading.sortWithin?.(below.replaceAll(/\[\d+\]/g, "")) ?? sort;
    const isDefault = at.isDefault ?? isDefaultIn(reading, value, key);
    if (!collect(value[key], { path: below, sort: own, depth: depth + 1, isDefault }, collected))
      return false;
  }
  return true;
}

function isDefaultIn({ isDefault }: ReadingOfArguments, holder: object, name: string): true | undefined {
  return isDefault?.(holder, name) === true ? true : undefined;
}

function leafOf(value: unknown, { path, sort, isDefault }: Omit<Position, "depth">): Leaf {
  const { role, type, words } = sort;
  if (value === undefined) return { role, type, words, path, value: null, isOdd: false, isDefault };
  const isPlain =
    value === null ||
    typeof value === "string" ||
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value));
  return isPlain
    ? { role, type, words, path, value, isOdd: false, isDefault }
    : { role, type, words, path, value: null, isOdd: true, isDefault };
}

/** True if a key can be a name that a program gives to a field: not an address, a number or a sentence. */
export function looksLikeName(key: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$-]{0,63}$/u.test(key);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The result if a path goes on below a plain value: the value that the tool takes for the argument is unknown. */
const elsewhere = Symbol("elsewhere");

interface Found {
  readonly value: unknown;
  readonly isDefault?: true | undefined;
}

const nothing: Found = { value: null };

interface Search extends Pick<Position, "depth" | "isDefault"> {
  readonly found: Found[];
  readonly reading: ReadingOfArguments;
}

/** Finds the values. Returns false if there are too many. */
function find(value: unknown, path: string, search: Search): boolean {
  const { found, depth, reading } = search;
  if (depth > deepest || found.length >= mostLeaves) return false;
  const deeper = { ...search, depth: depth + 1 };
  if (Array.isArray(value)) return value.every((each: unknown) => find(each, path, deeper));
  if (!isPlainObject(value)) {
    if (value !== null && value !== undefined && value !== "") found.push({ value: elsewhere });
    return true;
  }
  const isDefault = (name: string): true | undefined => search.isDefault ?? isDefaultIn(reading, value, name);
  if (Object.hasOwn(value, path)) found.push({ value: value[path], isDefault: isDefault(path) });
  for (let dot = path.indexOf("."); dot !== -1; dot = path.indexOf(".", dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(value, name)) continue;
    if (!find(value[name], path.slice(dot + 1), { ...deeper, isDefault: isDefault(name) })) return false;
  }
  return true;
}
