import { assertNever } from "../../../util/assert-never.ts";
import { placeOf } from "./hosts.ts";
import { truthOf, type Sight } from "./sight.ts";
import { every, negated, passes, some, type Truth } from "./tests.ts";
import { isAbsent, type Leaf } from "./values.ts";
import { remembered } from "../../../util/remembered.ts";
import { conditionsIn } from "../conditions.ts";
import type { Condition, Rule, ValueTest } from "../rule.ts";

/**
 * True if a condition holds for a call; undefined when it cannot be said, since something throws, is no JSON,
 * or is of another kind than the condition is about. Never throws.
 */
export function holds(condition: Condition, sight: Sight): Truth {
  try {
    return judge(condition, sight);
  } catch {
    return undefined;
  }
}

/**
 * True if a rule counts for a call of one of its tools. It fails closed: an allow counts when its condition
 * surely holds and its exception surely does not; a deny and an ask count unless their condition surely does
 * not hold, or their exception surely does. An allow that judges single arguments says nothing of one that
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

/** True if a condition judges single arguments, and the call has another one that its tool never declared, or nobody can say. */
export function leavesUnjudged(when: Condition, { undeclared }: Sight): boolean {
  const paths = judgedPaths(when);
  if (paths.length === 0) return false;
  try {
    return undeclared().some((name) => !paths.some((path) => isAt(path, name)));
  } catch {
    return true;
  }
}

/** Single arguments that a condition judges. Depends on: the condition. */
const judgedPaths: (when: Condition) => readonly string[] = remembered((when: Condition) =>
  conditionsIn({ when }).flatMap((each) => (each.type === "argument" ? [each.path] : [])),
);

function isAt(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

function judge(condition: Condition, sight: Sight): Truth {
  if (isPlain(condition)) return plain[condition.type](sight);
  switch (condition.type) {
    case "all":
      return every(condition.of, (each) => holds(each, sight));
    case "any":
      return some(condition.of, (each) => holds(each, sight));
    case "not":
      return negated(holds(condition.of, sight));
    case "argument":
      return allPass(sight.at(condition.path), condition.is, sight);
    case "roles": {
      const leaves = sight.leaves()?.filter(({ role }) => condition.roles.includes(role));
      return allPass(leaves, condition.is, sight);
    }
    case "effect":
      return condition.in.includes(sight.effect);
    case "requested":
      return truthOf(sight.knows().asksFor(sight.call.tool, condition.exactly === true));
    case "unknown-links":
      return hasUnknownLinks(condition.path, sight);
    case "calls": {
      const count: unknown = sight.knows().calls(sight.call.tool);
      return typeof count === "number" && count >= 0 ? count >= condition.atLeast : undefined;
    }
    default:
      return assertNever(condition);
  }
}

/** Conditions that are a word alone. */
const plain = {
  untrusted: isUntrusted,
  "reaches-outside": ({ reachesOutside }: Sight): Truth => reachesOutside,
  planned: ({ knows }: Sight): Truth => knows().plan?.act !== undefined,
  "outside-plan": ({ knows, call }: Sight): Truth => {
    const { plan } = knows();
    return plan?.isFrozen === true && !plan.tools.has(call.tool);
  },
  "secrecy-exceeds-targets": exceedsTargets,
} as const;

function isPlain(condition: Condition): condition is Extract<Condition, { type: keyof typeof plain }> {
  return Object.hasOwn(plain, condition.type);
}

function allPass(leaves: readonly Leaf[] | undefined, test: ValueTest, sight: Sight): Truth {
  return leaves === undefined ? undefined : every(leaves, (leaf) => passes(leaf, test, sight.isBound));
}

function isUntrusted({ knows }: Sight): Truth {
  const { integrity } = knows().label;
  if (integrity === "trusted") return false;
  return integrity === "untrusted" ? true : undefined;
}

function hasUnknownLinks(path: string | undefined, sight: Sight): Truth {
  const leaves =
    path === undefined ? sight.leaves()?.filter(({ role }) => role === "content") : sight.at(path);
  if (leaves === undefined) return undefined;
  return some(leaves, (leaf) => (leaf.isOdd ? undefined : sight.strangersLinks(leaf).length > 0));
}

/** Types of targets that name a place of the author's own, and nobody who reads. */
const nobody: ReadonlySet<string | undefined> = new Set(["path", "date", "number"]);

function exceedsTargets(sight: Sight): Truth {
  const { secrecy } = sight.knows().label;
  if (secrecy === "public") return false;
  const readers: unknown = typeof secrecy === "object" ? secrecy.readers : [];
  if (!Array.isArray(readers)) return undefined;
  const leaves = sight.leaves();
  if (leaves === undefined) return undefined;
  return some(leaves, (leaf) => {
    if (leaf.isOdd) return undefined;
    if (leaf.role === "target")
      return isAbsent(leaf) || nobody.has(leaf.type) ? false : !isReader(leaf, readers);
    return sight.strangersLinks(leaf).some((link) => !readers.includes(placeOf(link)?.host));
  });
}

function isReader({ value }: Leaf, readers: readonly unknown[]): boolean {
  if (typeof value !== "string") return false;
  const place = placeOf(value);
  return place !== undefined && readers.includes(place.address ?? place.host);
}
