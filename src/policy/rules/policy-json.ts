import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import { type Parameter, parameterRoles, type Parameters, valueTypes } from "../../tool/parameters.ts";
import { entriesOf, fieldsOf, inside, listOf, type Place, textOf, truthOf, wordOf, wrong } from "./fields.ts";
import { presetRules } from "./presets.ts";
import { checkedRules, effectNames, reader } from "./check-rules.ts";
import type { Annotation, PolicyJson, Rule } from "./rule.ts";

/**
 * A deep frozen copy of a policy that comes from outside, with nothing in it that is not known: an unknown field, a getter and a field that would change a
 * prototype are errors. Every other failure to read it is one too.
 *
 * @throws WritError `policy-invalid`
 */
export function checkedPolicy(value: unknown): PolicyJson {
  try {
    return read(value);
  } catch (error) {
    if (isWritError(error)) throw error;
    const reason = `it cannot be read: ${messageOf(error)}`;
    throw new WritError("policy-invalid", { name: "?", reason }, { cause: error });
  }
}

function read(value: unknown): PolicyJson {
  const nowhere: Place = { policy: "?", path: "", depth: 0 };
  const fields = fieldsOf(value, { ...nowhere, path: "policy" }, [
    "name",
    "rules",
    "extraRules",
    "tools",
    "constants",
  ]);
  const name = textOf(fields.get("name"), inside(nowhere, "name"));
  const place: Place = { ...nowhere, policy: name };
  const field = reader(fields, place);
  const rules = fields.get("rules");
  const checked: PolicyJson = {
    name,
    rules:
      typeof rules === "string"
        ? wordOf(rules, inside(place, "rules"), ["guarded", "strict"])
        : checkedRules(rules, inside(place, "rules")),
    ...field("extraRules", checkedRules),
    ...field("tools", (tools, at) => mapOf(tools, at, annotationOf)),
    ...field("constants", (list, at) => listOf(list, at, textOf)),
  };
  checkedRules(rulesOf(checked), inside(place, "rules"));
  return Object.freeze(checked);
}

/** All rules of a policy, those of its preset first. */
export function rulesOf({ rules, extraRules = [] }: PolicyJson): readonly Rule[] {
  const own = typeof rules === "string" ? presetRules[rules]() : rules;
  return extraRules.length === 0 ? own : Object.freeze([...own, ...extraRules]);
}

function mapOf<Value>(
  value: unknown,
  place: Place,
  readOne: (value: unknown, place: Place, key: string) => Value,
): Readonly<Record<string, Value>> {
  const entries = [...entriesOf(value, place)].map(
    ([key, field]) => [key, readOne(field, inside(place, key), key)] as const,
  );
  return Object.freeze(Object.fromEntries(entries));
}

function annotationOf(value: unknown, place: Place, tool: string): Annotation {
  if (tool.includes("*")) wrong(place, "must be the name of one tool");
  const names = ["effect", "trusted", "resolves", "secrecy", "parameters"];
  const field = reader(fieldsOf(value, place, names), place);
  return Object.freeze({
    ...field("effect", (effect, at) => wordOf(effect, at, declarable)),
    ...field("trusted", truthOf),
    ...field("resolves", truthOf),
    ...field("secrecy", checkedSecrecy),
    ...field("parameters", (map, at): Parameters => mapOf(map, at, checkedParameter)),
  });
}

const declarable = effectNames.filter((effect) => effect !== "undeclared");

function checkedSecrecy(value: unknown, place: Place): NonNullable<Annotation["secrecy"]> {
  if (typeof value === "string") return wordOf(value, place, ["private"]);
  const readers = fieldsOf(value, place, ["readers"]).get("readers");
  return Object.freeze({ readers: listOf(readers, inside(place, "readers"), textOf) });
}

function checkedParameter(value: unknown, place: Place): Parameter {
  if (typeof value === "string") return wordOf(value, place, parameterRoles);
  const fields = fieldsOf(value, place, ["role", "type"]);
  return Object.freeze({
    role: wordOf(fields.get("role"), inside(place, "role"), parameterRoles),
    ...reader(fields, place)("type", (type, at) => wordOf(type, at, valueTypes)),
  });
}
