import { assertNever } from "../../../util/assert-never.ts";
import { placeOf } from "./hosts.ts";
import { truthOf, type Sight } from "./sight.ts";
import { every, negated, some, testOf, type Truth } from "./tests.ts";
import { isAbsent, type Leaf } from "./values.ts";
import { remembered } from "../../../util/remembered.ts";
import type { Intent } from "../../knowledge/intent.ts";
import { spelledWhole, valuesIn } from "../../values/bound-values.ts";
import { conditionsIn } from "../conditions.ts";
import type { Condition, Rule } from "../rule.ts";

/**
 * True if a condition holds for a call; undefined if that cannot be decided, because something throws, is not JSON,
 * or is of another kind than the condition needs. Never throws.
 */
export function holds(condition: Condition, sight: Sight): Truth {
  return judgeOf(condition)(sight);
}

/** Decides whether a condition holds for a call. Never throws. */
type Judge = (sight: Sight) => Truth;

/** The judge of a condition. Depends on: the condition. */
const judgeOf: (condition: Condition) => Judge = remembered((condition: Condition): Judge => {
  if (condition.type === "not") {
    const judge = judgeOf(condition.of);
    return (sight) => negated(judge(sight));
  }
  if ("of" in condition) {
    const judges = condition.of.map(judgeOf);
    const sum = condition.type === "all" ? every : some;
    return (sight) => sum(judges, (judge) => judge(sight));
  }
  const judge = partOf(condition);
  return (sight) => {
    try {
      return judge(sight);
    } catch {
      return undefined;
    }
  };
});

/**
 * True if a rule counts for a call of one of its tools. It fails closed: an allow counts if its condition
 * certainly holds and its exception certainly does not; a deny and an ask count unless their condition certainly does
 * not hold, or their exception certainly does. An allow that judges single arguments does not cover an argument that
 * the tool's schema does not have.
 */
export function matches({ verdict, when, unless }: Rule, sight: Sight): boolean {
  if (verdict === "allow" && when !== undefined && leavesUnjudged(when, sight)) return false;
  const condition = when === undefined ? true : holds(when, sight);
  const exception = unless === undefined ? false : holds(unless, sight);
  return verdict === "allow"
    ? condition === true && exception === false
    : condition !== false && exception !== true;
}

/**
 * True if a condition judges single arguments, and the call has an argument that its tool never declared, or such a field beside one that is judged, or that
 * cannot be decided.
 */
export function leavesUnjudged(when: Condition, { undeclared, at }: Sight): boolean {
  const paths = judgedPaths(when);
  if (paths.length === 0) return false;
  try {
    const isJudged = (name: string): boolean => paths.some((path) => isAt(path, name));
    const around = paths.flatMap(aroundOf).filter((part) => !paths.some((path) => isAt(part, path)));
    return [...undeclared(), ...around.flatMap((part) => undeclaredIn(part, at))].some(
      (name) => !isJudged(name),
    );
  } catch {
    return true;
  }
}

/** The paths of the objects in which the field at a path stands, outermost first. */
function aroundOf(path: string): readonly string[] {
  return Array.from(path.matchAll(/\./g), ({ index }) => path.slice(0, index));
}

/** The paths of the fields of an object, or of those in a list, that the tool never declared. @throws if there are too many */
function undeclaredIn(path: string, at: Sight["at"]): readonly string[] {
  const leaves = at(path);
  if (leaves === undefined) throw new RangeError("there is too much to look at");
  return leaves.flatMap(({ path: place, value: name }) =>
    typeof name === "string" && place.replaceAll(/\[\d+\]/g, "") === `${path}(${name})`
      ? [`${path}.${name}`]
      : [],
  );
}

/** The paths of the single arguments that a condition judges. Depends on: the condition. */
const judgedPaths: (when: Condition) => readonly string[] = remembered((when: Condition) =>
  conditionsIn({ when }).flatMap((each) => (each.type === "argument" ? [each.path] : [])),
);

/** True for the path of an argument with this name, or of a field inside it. */
function isAt(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

/** The judge of a condition that contains no other. It may throw. */
function partOf(condition: Exclude<Condition, { readonly of: unknown }>): Judge {
  switch (condition.type) {
    case "argument": {
      const { path } = condition;
      const passes = testOf(condition.is);
      return (sight) => {
        const leaves = sight.at(path);
        return leaves === undefined ? undefined : every(leaves, (leaf) => passes(leaf, sight.isBound));
      };
    }
    case "roles": {
      const { roles: names } = condition;
      const passes = testOf(condition.is);
      return (sight) => {
        const leaves = sight.leaves();
        if (leaves === undefined) return undefined;
        return every(leaves, (leaf) => !names.includes(leaf.role) || passes(leaf, sight.isBound));
      };
    }
    case "effect":
      return ({ effect }) => condition.in.includes(effect);
    case "requested": {
      const exactly = condition.exactly === true;
      return ({ knows, call }) => truthOf(knows().asksFor(call.tool, exactly));
    }
    case "unknown-links":
      return (sight) => hasUnknownLinks(condition.path, sight);
    case "calls":
      return ({ knows, call }) => {
        const count: unknown = knows().calls(call.tool);
        return typeof count === "number" && count >= 0 ? count >= condition.atLeast : undefined;
      };
    case "untrusted":
      return isUntrusted;
    case "reaches-outside":
      return ({ reachesOutside }) => reachesOutside;
    case "planned":
      return ({ knows }) => knows().plan?.act !== undefined;
    case "outside-plan":
      return ({ knows, call }) => {
        const { plan } = knows();
        return plan?.isFrozen === true && !plan.tools.has(call.tool);
      };
    case "secrecy-exceeds-targets":
      return exceedsTargets;
    default:
      return assertNever(condition);
  }
}

function isUntrusted({ knows }: Sight): Truth {
  const { integrity } = knows().label;
  if (integrity === "trusted") return false;
  return integrity === "untrusted" ? true : undefined;
}

function hasUnknownLinks(path: string | undefined, sight: Sight): Truth {
  const leaves = path === undefined ? sight.leaves() : sight.at(path);
  if (leaves === undefined) return undefined;
  return some(leaves, (leaf) => {
    if (path === undefined && leaf.role !== "content") return false;
    return leaf.isOdd ? undefined : sight.strangersLinks(leaf).length > 0;
  });
}

/** Types of targets that name a place of the author's own, which nobody else reads. */
const nobody: ReadonlySet<string | undefined> = new Set(["path", "date", "number"]);

function exceedsTargets(sight: Sight): Truth {
  const { secrecy } = sight.knows().label;
  if (secrecy === "public") return false;
  const named: unknown = typeof secrecy === "object" ? secrecy.readers : [];
  if (!Array.isArray(named)) return undefined;
  const readers = named.map(asPlace);
  const leaves = sight.leaves();
  if (leaves === undefined) return undefined;
  if (leaves.every((leaf) => isUsersOwn(leaf, sight))) return false;
  return some(leaves, (leaf) => {
    if (leaf.isOdd) return undefined;
    if (leaf.role === "target")
      return isAbsent(leaf) || nobody.has(leaf.type) ? false : !isReader(leaf, readers);
    return sight.strangersLinks(leaf).some((link) => !readers.includes(placeOf(link)?.host));
  });
}

/** True if a value reveals nothing that was read: all of it occurs in the user's words, a default of the author stands there, or it is an address that the user chose as a recipient. */
function isUsersOwn(leaf: Leaf, sight: Sight): boolean {
  const { value, type, role, isOdd, isDefault } = leaf;
  if (isOdd) return false;
  if (isAbsent(leaf) || isDefault === true || typeof value === "boolean") return true;
  if (typeof value !== "string" && typeof value !== "number") return false;
  const spelled = spelledWhole(value, type);
  if (spelled !== undefined && wordsOf(sight.knows().intent).hasSpelled(spelled)) return true;
  const isWhom = role === "target" && spelledWhole(value, undefined)?.type === "email";
  return isWhom && placeOf(String(value))?.address !== undefined && sight.isBound(leaf, undefined) === true;
}

/** The values in the user's words and in what the author vouches for. Depends on: the intent. */
const wordsOf = remembered(({ text, constants }: Intent) => valuesIn([text, ...constants]));

/** A reader in the form of an address, for comparison: it may have been written differently. A link stays a link: it covers less than its host. */
function asPlace(reader: unknown): unknown {
  const place = typeof reader === "string" && !reader.includes("://") ? placeOf(reader) : undefined;
  return place === undefined ? reader : (place.address ?? place.host);
}

function isReader({ value }: Leaf, readers: readonly unknown[]): boolean {
  if (typeof value !== "string") return false;
  const place = placeOf(value);
  return place !== undefined && readers.includes(place.address ?? place.host);
}
