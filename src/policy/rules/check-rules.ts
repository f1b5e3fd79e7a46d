import { parameterRoles, valueTypes } from "../../tool/parameters.ts";
import type { Effect } from "../../tool/tool.ts";
import {
  entriesOf,
  fieldsOf,
  inside,
  jsonOf,
  listOf,
  numberOf,
  type Place,
  someOf,
  textOf,
  wordOf,
  wrong,
} from "./fields.ts";
import type { Condition, Rule, ValueTest } from "./rule.ts";

export const effectNames: readonly Effect[] = ["none", "read", "write", "irreversible", "undeclared"];
const verdicts = ["allow", "ask", "deny"] as const;

/** Deep frozen copies of rules. Those that have a name have each another one. @throws WritError `policy-invalid` */
export function checkedRules(value: unknown, place: Place): readonly Rule[] {
  const rules = listOf(value, place, checkedRule);
  rules.forEach(({ name }, index) => {
    if (name !== undefined && rules.findIndex((other) => other.name === name) !== index)
      wrong(inside(place, index), `has the name ${JSON.stringify(name)}, which another rule has`);
  });
  return rules;
}

/** A deep frozen copy of a rule with nothing in it that is not known. @throws WritError `policy-invalid` */
function checkedRule(value: unknown, place: Place): Rule {
  const fields = fieldsOf(value, place, ["verdict", "tools", "when", "unless", "because", "show", "name"]);
  const field = reader(fields, place);
  return Object.freeze({
    verdict: wordOf(fields.get("verdict"), inside(place, "verdict"), verdicts),
    tools: someOf(fields.get("tools"), inside(place, "tools"), toolName),
    ...field("when", checkedCondition),
    ...field("unless", checkedCondition),
    ...field("because", textOf),
    ...field("show", (list, at) => someOf(list, at, textOf)),
    ...field("name", textOf),
  });
}

/** What is there under a name is read and kept under that name; what is not there stays out. */
export function reader(
  fields: ReadonlyMap<string, unknown>,
  place: Place,
): <Name extends string, Value>(
  name: Name,
  read: (value: unknown, place: Place) => Value,
) => { readonly [Key in Name]?: Value } {
  return (name, read) => {
    const value = fields.get(name);
    return value === undefined ? {} : ({ [name]: read(value, inside(place, name)) } as never);
  };
}

/** A pattern like `mail_*` would look as if it meant something: only `*` alone does. */
function toolName(value: unknown, place: Place): string {
  const name = textOf(value, place);
  if (name !== "*" && name.includes("*"))
    wrong(place, `is ${JSON.stringify(name)}: "*" stands alone, for all tools; name the tools one by one`);
  return name;
}

type Type = Condition["type"];

const conditions: Readonly<Record<Type, (value: unknown, place: Place) => Condition>> = {
  all: severalOf,
  any: severalOf,
  not: (value, place) => {
    const of = fieldsOf(value, place, ["type", "of"]).get("of");
    return { type: "not", of: checkedCondition(of, inside(place, "of")) };
  },
  argument: (value, place) => {
    const fields = fieldsOf(value, place, ["type", "path", "is"]);
    const path = textOf(fields.get("path"), inside(place, "path"));
    return { type: "argument", path, is: checkedTest(fields.get("is"), inside(place, "is")) };
  },
  roles: (value, place) => {
    const fields = fieldsOf(value, place, ["type", "roles", "is"]);
    const roles = someOf(fields.get("roles"), inside(place, "roles"), (role, at) =>
      wordOf(role, at, parameterRoles),
    );
    return { type: "roles", roles, is: checkedTest(fields.get("is"), inside(place, "is")) };
  },
  effect: (value, place) => {
    const list = fieldsOf(value, place, ["type", "in"]).get("in");
    return {
      type: "effect",
      in: someOf(list, inside(place, "in"), (each, at) => wordOf(each, at, effectNames)),
    };
  },
  untrusted: (value, place) => {
    fieldsOf(value, place, ["type"]);
    return { type: "untrusted" };
  },
  "unknown-links": (value, place) => {
    const fields = fieldsOf(value, place, ["type", "path"]);
    return { type: "unknown-links", ...reader(fields, place)("path", textOf) };
  },
  "secrecy-exceeds-targets": (value, place) => {
    fieldsOf(value, place, ["type"]);
    return { type: "secrecy-exceeds-targets" };
  },
  calls: (value, place) => {
    const at = inside(place, "atLeast");
    const atLeast = numberOf(fieldsOf(value, place, ["type", "atLeast"]).get("atLeast"), at);
    if (!Number.isSafeInteger(atLeast) || atLeast < 0) wrong(at, "must be a whole number, 0 or more");
    return { type: "calls", atLeast };
  },
};

function severalOf(value: unknown, place: Place): Condition {
  const fields = fieldsOf(value, place, ["type", "of"]);
  const type = wordOf(fields.get("type"), inside(place, "type"), ["all", "any"]);
  return { type, of: someOf(fields.get("of"), inside(place, "of"), checkedCondition) };
}

function checkedCondition(value: unknown, place: Place): Condition {
  return Object.freeze(conditions[typeOf(value, place, conditions)](value, place));
}

const tests: Readonly<Record<ValueTest["type"], (value: unknown, place: Place) => ValueTest>> = {
  bound: (value, place) => {
    const fields = fieldsOf(value, place, ["type", "as"]);
    const as = reader(fields, place)("as", (name, at) => wordOf(name, at, valueTypes));
    return { type: "bound", ...as };
  },
  "one-of": (value, place) => {
    const values = fieldsOf(value, place, ["type", "values"]).get("values");
    return { type: "one-of", values: someOf(values, inside(place, "values"), jsonOf) };
  },
  within: (value, place) => {
    const field = reader(fieldsOf(value, place, ["type", "min", "max"]), place);
    const test = { type: "within", ...field("min", numberOf), ...field("max", numberOf) } as const;
    const { min = -Infinity, max = Infinity } = test;
    if (min === -Infinity && max === Infinity) wrong(place, "needs `min` or `max`");
    if (min > max) wrong(place, "has a `min` above its `max`");
    return test;
  },
  "host-in": (value, place) => {
    const hosts = fieldsOf(value, place, ["type", "hosts"]).get("hosts");
    return { type: "host-in", hosts: someOf(hosts, inside(place, "hosts"), hostPattern) };
  },
  absent: (value, place) => {
    fieldsOf(value, place, ["type"]);
    return { type: "absent" };
  },
};

function checkedTest(value: unknown, place: Place): ValueTest {
  return Object.freeze(tests[typeOf(value, place, tests)](value, place));
}

function typeOf<Known extends string>(
  value: unknown,
  place: Place,
  known: Readonly<Record<Known, unknown>>,
): Known {
  const names = Object.keys(known) as Known[];
  const fields = entriesOf(value, place);
  return wordOf(fields.get("type"), inside(place, "type"), names);
}

/** A host in its canonical form, with `*.` before it for what is beneath. */
function hostPattern(value: unknown, place: Place): string {
  const pattern = textOf(value, place);
  const host = pattern.startsWith("*.") ? pattern.slice(2) : pattern;
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) || host.includes(".."))
    wrong(
      place,
      `is ${JSON.stringify(pattern)}: write a host in lower case, like "example.com" or "*.example.com"`,
    );
  return pattern;
}
