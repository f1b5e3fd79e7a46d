import type { CallRequest, Decision } from "../../src/policy/decision.ts";
import { policyFromJson } from "../../src/policy/study/policy.ts";
import type { Annotation, Condition, PolicyJson, ValueTest } from "../../src/policy/rules/rule.ts";
import type { Parameters } from "../../src/tool/parameters.ts";
import type { Json } from "../../src/util/json.ts";

/** Whether something holds; `?` when it cannot be said. */
type Truth = "yes" | "no" | "?";

interface Reading {
  readonly json: PolicyJson;
  readonly call: CallRequest;
  readonly effect: string;
  readonly fields: readonly (readonly [string, Json])[];
  readonly roleOf: (name: string) => string;
}

/**
 * A second reading of the rules, written apart from the first: every condition by its plain words, with no memory of what was looked at. It knows the
 * values that the properties make, and no others: hosts and links of one form, lists and objects of plain JSON.
 */
export function reference(json: PolicyJson, call: CallRequest): Decision["verdict"] {
  const made = policyFromJson(json);
  const reading = { json, ...readingOf(call, made.tools[call.tool]) };
  const matched = made.rules.filter(({ verdict, tools, when, unless }) => {
    if (!tools.includes(call.tool) && !tools.includes("*")) return false;
    const condition = when === undefined ? "yes" : holds(when, reading);
    const exception = unless === undefined ? "no" : holds(unless, reading);
    return verdict === "allow"
      ? condition === "yes" && exception === "no"
      : condition !== "no" && exception !== "yes";
  });
  const verdicts = new Set(matched.map(({ verdict }) => verdict));
  const silence = changes(reading.effect) ? "deny" : "allow";
  return (["deny", "ask", "allow"] as const).find((each) => verdicts.has(each)) ?? silence;
}

function readingOf(call: CallRequest, known: Annotation | undefined): Omit<Reading, "json"> {
  const effect = call.kind === undefined ? (known?.effect ?? call.effect) : "none";
  return {
    call,
    effect,
    fields: Object.entries(call.arguments as Record<string, Json>),
    roleOf: (name) =>
      parameterIn(known?.parameters, name) ??
      parameterIn(call.parameters, name) ??
      (changes(effect) || (effect === "read" && call.knows.label.secrecy !== "public")
        ? "target"
        : "content"),
  };
}

const changes = (effect: string): boolean => effect !== "none" && effect !== "read";

function parameterIn(parameters: Parameters | undefined, name: string): string | undefined {
  const found = parameters !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  return typeof found === "object" ? found.role : found;
}

const truth = (yes: boolean): Truth => (yes ? "yes" : "no");
const every = (truths: readonly Truth[]): Truth =>
  truths.includes("no") ? "no" : truths.includes("?") ? "?" : "yes";
const negate = (each: Truth): Truth => (each === "?" ? "?" : truth(each === "no"));
const isNothing = (each: Json): boolean => each === null || each === "";
const asText = (value: Json): string => (typeof value === "object" ? "" : String(value));

function flat(each: Json): Json[] {
  if (typeof each !== "object" || each === null) return [each];
  const inside: readonly Json[] = Object.values(each);
  return inside.length === 0 ? [null] : inside.flatMap(flat);
}

function holds(is: Condition, reading: Reading): Truth {
  if (is.type === "all") return every(is.of.map((each) => holds(each, reading)));
  if (is.type === "any") return negate(every(is.of.map((each) => negate(holds(each, reading)))));
  if (is.type === "not") return negate(holds(is.of, reading));
  const { call, effect, fields, roleOf } = reading;
  if (is.type === "effect") return truth((is.in as readonly string[]).includes(effect));
  if (is.type === "untrusted") return truth(call.knows.label.integrity === "untrusted");
  if (isOfTool(is)) return ofTool(is, reading);
  if (is.type === "calls") return truth(call.knows.calls(call.tool) >= is.atLeast);
  if (is.type === "argument") return argumentPasses(is, reading);
  const ofRoles = (...roles: readonly string[]): Json[] =>
    fields.filter(([name]) => roles.includes(roleOf(name))).map(([, each]) => each);
  if (is.type === "roles")
    return every(
      ofRoles(...is.roles)
        .flatMap(flat)
        .map((each) => passes(each, is.is, reading)),
    );
  if (is.type === "unknown-links")
    return truth(hasLinks(is.path === undefined ? ofRoles("content") : at(is.path, reading)));
  const { secrecy } = call.knows.label;
  if (fields.every(([name, each]) => isUsersOwn(each, roleOf(name), call))) return "no";
  const readers = typeof secrecy === "string" ? [] : secrecy.readers;
  const outside = ofRoles("target")
    .flatMap(flat)
    .some((each) => !isNothing(each) && !readers.includes(asText(each).toLowerCase()));
  return truth(secrecy !== "public" && (outside || hasLinks(ofRoles("content", "amount", "id"))));
}

/** Values that tell nobody a thing that was read: yes, no, nothing, and the address that the user chose. */
function isUsersOwn(value: Json, role: string, { knows }: CallRequest): boolean {
  return flat(value).every((each) => {
    if (isNothing(each) || typeof each === "boolean") return true;
    return role === "target" && asText(each).includes("@") && knows.isBound(each);
  });
}

const ofTools = ["reaches-outside", "requested", "planned", "outside-plan"] as const;
type OfTool = (typeof ofTools)[number];

function isOfTool(is: Condition): is is Extract<Condition, { type: OfTool }> {
  return ofTools.some((type) => type === is.type);
}

function ofTool(is: Extract<Condition, { type: OfTool }>, { call, json }: Reading): Truth {
  if (is.type === "planned" || is.type === "outside-plan") return "no"; // no scene has a plan
  if (is.type === "requested") return truth(call.knows.asksFor(call.tool, is.exactly === true));
  return truth(policyFromJson(json).tools[call.tool]?.reaches === "outside");
}

function hasLinks(values: readonly Json[]): boolean {
  return values.flatMap(flat).some((each) => typeof each === "string" && each.startsWith("https://evil"));
}

function argumentPasses({ path, is }: Extract<Condition, { type: "argument" }>, reading: Reading): Truth {
  const found = at(path, reading);
  const known = found.filter((each) => each !== elsewhere);
  const values = found.length === 0 ? [null] : known.flatMap(flat);
  const truths = values.map((each) => passes(each, is, reading));
  return every(known.length < found.length ? [...truths, "?"] : truths);
}

/** Stands where the path goes on beneath a plain value. */
const elsewhere = "(elsewhere)";

function at(dotted: string, { fields }: Reading): Json[] {
  const [first = "", second] = dotted.split(".");
  const found = fields.filter(([name]) => name === first).map(([, each]) => each);
  if (second === undefined) return found;
  return found
    .flatMap((each) => (Array.isArray(each) ? (each as Json[]) : [each]))
    .flatMap((each) => {
      if (typeof each === "object" && each !== null)
        return Object.entries(each).flatMap(([name, value]) => (name === second ? [value] : []));
      return isNothing(each) ? [] : [elsewhere];
    });
}

function passes(each: Json, is: ValueTest, { call }: Reading): Truth {
  if (is.type === "absent") return truth(isNothing(each));
  if (is.type === "bound") return truth(isNothing(each) || call.knows.isBound(each));
  if (is.type === "one-of") return isOneOf(each, is.values);
  if (isNothing(each)) return "no";
  if (is.type === "host-in") return hostIs(each, "example.com");
  if (typeof each !== "number") return "?";
  return truth(each >= (is.min ?? -1e9) && each <= (is.max ?? 1e9));
}

function isOneOf(each: Json, values: readonly Json[]): Truth {
  if (values.includes(each)) return "yes";
  const plain = asText(each).toLowerCase();
  return plain !== "" && values.some((other) => asText(other).toLowerCase() === plain) ? "?" : "no";
}

function hostIs(each: Json, wanted: string): Truth {
  const parts = /^(?:https:\/\/([a-z.]+)\/x|\w+@([a-z.]+))$/i.exec(asText(each));
  const host = (parts?.[1] ?? parts?.[2])?.toLowerCase();
  return host === undefined ? "?" : truth(host === wanted);
}
