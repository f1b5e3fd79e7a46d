import { checkShape, closed } from "../../error/check-shape.ts";
import type { ParameterRole, ValueType } from "../../tool/parameters.ts";
import type { Effect } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";
import { anything, boolean, optional } from "../../util/shape.ts";
import type { Condition, Rule, ValueTest } from "./rule.ts";

// Names only: `policy()` checks the values, and reports the path of a fault.
const withinShape = closed({ min: anything, max: anything });
const callsShape = closed({ atLeast: anything });
const requestedShape = closed({ exactly: optional(boolean) });
const absentShape = closed({ orDefault: optional(boolean) });

/** An argument, as the subject of a condition. */
export interface ArgumentSubject {
  /** The argument passes the test; in a list or an object, every value must. */
  readonly is: (test: ValueTest) => Condition;
  /** The same as `is`, which reads better for lists. */
  readonly each: (test: ValueTest) => Condition;
}

/**
 * An argument of the call, by its dotted path: `arg("to")`, `arg("event.participants")`. Paths go through lists.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { arg, boundToIntent } from "writ/policy";
 *
 * export const toThoseNamed = allow("send_mail").when(arg("to").each(boundToIntent("email")));
 * ```
 */
export function arg(path: string): ArgumentSubject {
  const is = (test: ValueTest): Condition => Object.freeze({ type: "argument", path, is: test });
  return Object.freeze({ is, each: is });
}

/** The arguments with some roles, as the subject of a condition. */
export interface RolesSubject {
  /** Every value in the arguments with these roles passes the test; a call without such values passes. */
  readonly are: (test: ValueTest) => Condition;
}

/**
 * All arguments with these roles (see `parameters` of a tool).
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { boundToIntent, not, roles } from "writ/policy";
 *
 * export const strangers = ask("*").when(not(roles("target", "amount").are(boundToIntent())));
 * ```
 */
export function roles(...names: readonly ParameterRole[]): RolesSubject {
  const list = Object.freeze([...names]);
  return Object.freeze({
    are: (test: ValueTest): Condition => Object.freeze({ type: "roles", roles: list, is: test }),
  });
}

/**
 * Passes for the user's own choice: in the canonical form of its type the value occurs in the intent, in a constant of the author, or in the result of a lookup
 * for such values. Without a type, the tool's declaration decides, or else the form of the value. An argument that was left out passes, and so does the
 * default that the author's own schema fills in for it.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { arg, boundToIntent } from "writ/policy";
 *
 * export const rule = allow("pay").when(arg("iban").is(boundToIntent("iban")));
 * ```
 */
export function boundToIntent(type?: ValueType): ValueTest {
  return Object.freeze(type === undefined ? { type: "bound" } : { type: "bound", as: type });
}

/**
 * Passes for one of these values exactly: texts, numbers, booleans, null. A text that only looks the same (case, full-width letters, invisible characters) is
 * neither inside nor outside: an allow does not match, a deny and an ask do.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { arg, oneOf } from "writ/policy";
 *
 * export const rule = allow("deploy").when(arg("stage").is(oneOf("test", "staging")));
 * ```
 */
export function oneOf(...values: readonly Json[]): ValueTest {
  return Object.freeze({ type: "one-of", values: Object.freeze([...values]) });
}

/**
 * Passes for a number within these bounds, both included.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { arg, within } from "writ/policy";
 *
 * export const rule = ask("pay").unless(arg("euro").is(within({ min: 0, max: 20 })));
 * ```
 */
export function within(bounds: { readonly min?: number; readonly max?: number }): ValueTest {
  checkShape("within()", bounds, withinShape);
  const { min, max } = bounds;
  return Object.freeze({
    type: "within",
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  });
}

/**
 * Passes for an e-mail address, a link or a bare host with one of these hosts; `*.example.com` is everything beneath, without `example.com` itself.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { arg, hostIn } from "writ/policy";
 *
 * export const rule = allow("send_mail").when(arg("to").each(hostIn("example.com", "*.example.com")));
 * ```
 */
export function hostIn(...hosts: readonly string[]): ValueTest {
  return Object.freeze({ type: "host-in", hosts: Object.freeze([...hosts]) });
}

/**
 * Passes for an argument that is left out, null, an empty text or an empty list. With `orDefault` it passes for a default of the author's schema too, which
 * the call has because nobody chose anything there.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { absent, arg } from "writ/policy";
 *
 * export const rule = allow("send_mail").when(arg("bcc").is(absent()));
 * ```
 */
export function absent(options: { readonly orDefault?: boolean } = {}): ValueTest {
  checkShape("absent()", options, absentShape);
  const { orDefault = false } = options;
  return Object.freeze(orDefault ? { type: "absent", orDefault } : { type: "absent" });
}

/**
 * Holds if the tool has one of these effects. Knowledge and memory have none, whatever their tools declare.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { effect } from "writ/policy";
 *
 * export const rule = ask("*").when(effect("write", "irreversible", "undeclared"));
 * ```
 */
export function effect(...effects: readonly Effect[]): Condition {
  return Object.freeze({ type: "effect", in: Object.freeze([...effects]) });
}

/**
 * Holds once the model has seen untrusted data.
 *
 * @example
 * ```ts
 * import { deny } from "writ";
 * import { untrusted } from "writ/policy";
 *
 * export const rule = deny("delete_account").when(untrusted());
 * ```
 */
export function untrusted(): Condition {
  return Object.freeze({ type: "untrusted" });
}

/**
 * Holds if the tool looks outside: its annotation has `reaches: "outside"`.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { all, boundToIntent, not, reachesOutside, roles } from "writ/policy";
 *
 * export const rule = ask("*").when(all(reachesOutside(), not(roles("target").are(boundToIntent()))));
 * ```
 */
export function reachesOutside(): Condition {
  return Object.freeze({ type: "reaches-outside" });
}

/**
 * Holds if the user's request names the kind of act in the tool's name (`delete_member`: something is removed), in English words: a choice made for one kind
 * of act does not count for another. It also holds if the name has no known kind. `exactly` demands this very act, by its verb or kind, and a word for what it
 * acts on, which is all that binds a call without arguments: "Unlock the front door" for `unlock_door`, neither "Lock the door" nor "Unlock my account".
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { all, effect, not, requested, untrusted } from "writ/policy";
 *
 * export const rule = ask("*").when(all(effect("irreversible"), untrusted(), not(requested())));
 * ```
 */
export function requested(options: { readonly exactly?: boolean } = {}): Condition {
  checkShape("requested()", options, requestedShape);
  const { exactly = false } = options;
  return Object.freeze(exactly ? { type: "requested", exactly } : { type: "requested" });
}

/**
 * Holds if the call is in the plan of the run (see `planTool`) with these arguments, and was not carried out yet.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { planned } from "writ/policy";
 *
 * export const rule = allow("pay").when(planned());
 * ```
 */
export function planned(): Condition {
  return Object.freeze({ type: "planned" });
}

/**
 * Holds if a model planned its acts before it had read a stranger's words (see `planTool`), and the plan has no act of this tool.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { all, effect, outsidePlan } from "writ/policy";
 *
 * export const rule = ask("*").when(all(effect("write", "irreversible"), outsidePlan()));
 * ```
 */
export function outsidePlan(): Condition {
  return Object.freeze({ type: "outside-plan" });
}

/**
 * Holds if an argument with the role `content`, or the one at this path, has a link that occurs in no trusted source.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { unknownLinks } from "writ/policy";
 *
 * export const rule = ask("post").when(unknownLinks("text"));
 * ```
 */
export function unknownLinks(path?: string): Condition {
  return Object.freeze(path === undefined ? { type: "unknown-links" } : { type: "unknown-links", path });
}

/**
 * Holds if the label of everything that the model has seen forbids a reader whom the call's targets, or unknown links in its
 * other arguments, name. It does not hold for a call that says only what occurs in the user's own words (booleans count as that),
 * to addresses that the user chose.
 *
 * @example
 * ```ts
 * import { deny } from "writ";
 * import { secrecyExceedsTargets } from "writ/policy";
 *
 * export const rule = deny("send_mail").when(secrecyExceedsTargets());
 * ```
 */
export function secrecyExceedsTargets(): Condition {
  return Object.freeze({ type: "secrecy-exceeds-targets" });
}

/**
 * Holds if at least so many calls of the tool have run in this run already.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { calls } from "writ/policy";
 *
 * export const rule = ask("send_mail").when(calls({ atLeast: 3 }));
 * ```
 */
export function calls(bounds: { readonly atLeast: number }): Condition {
  checkShape("calls()", bounds, callsShape);
  return Object.freeze({ type: "calls", atLeast: bounds.atLeast });
}

/**
 * Holds if every one of these holds.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { all, effect, untrusted } from "writ/policy";
 *
 * export const rule = ask("*").when(all(effect("irreversible"), untrusted()));
 * ```
 */
export function all(...conditions: readonly Condition[]): Condition {
  return Object.freeze({ type: "all", of: Object.freeze([...conditions]) });
}

/**
 * Holds if at least one of these holds.
 *
 * @example
 * ```ts
 * import { allow } from "writ";
 * import { absent, any, arg, hostIn } from "writ/policy";
 *
 * export const rule = allow("send_mail").when(any(arg("cc").is(absent()), arg("cc").each(hostIn("example.com"))));
 * ```
 */
export function any(...conditions: readonly Condition[]): Condition {
  return Object.freeze({ type: "any", of: Object.freeze([...conditions]) });
}

/**
 * Holds if the condition does not. If the condition cannot be evaluated, neither it nor its negation holds.
 *
 * @example
 * ```ts
 * import { ask } from "writ";
 * import { arg, boundToIntent, not } from "writ/policy";
 *
 * export const rule = ask("pay").when(not(arg("iban").is(boundToIntent("iban"))));
 * ```
 */
export function not(condition: Condition): Condition {
  return Object.freeze({ type: "not", of: condition });
}

/** All conditions of a rule, including nested ones. */
export function conditionsIn({ when, unless }: Pick<Rule, "when" | "unless">): readonly Condition[] {
  return [when, unless].flatMap((condition) => (condition === undefined ? [] : withInner(condition)));
}

function withInner(condition: Condition): readonly Condition[] {
  if (condition.type === "not") return [condition, ...withInner(condition.of)];
  const isSeveral = condition.type === "all" || condition.type === "any";
  return [condition, ...(isSeveral ? condition.of.flatMap(withInner) : [])];
}
