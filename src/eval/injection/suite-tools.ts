import { formatPatterns } from "../../driver/grammar/format.ts";
import type { ParameterRole, ValueSource, ValueType } from "../../tool/parameters.ts";
import type { PolicyJson } from "../../policy/rules/rule.ts";
import { followPointer } from "../../schema/check-schema.ts";
import { asObject, isJsonList, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { type AddressType, addressTypes, type Leaf } from "./find-values.ts";
import type { SuiteTool } from "./suite.ts";

/** A parameter as a tool's schema describes it. */
export interface SuiteParameter {
  readonly name: string;
  readonly isRequired: boolean;
  /** The JSON type of one value; for a list, that of its items. */
  readonly json: "string" | "number" | "integer" | "boolean" | "object" | "null";
  readonly isList: boolean;
  /** The fewest entries of a list. */
  readonly fewest: number;
  /** True if the entries of a list must differ. */
  readonly isUnique: boolean;
  /** The texts that it can be. */
  readonly text: TextBounds;
  /** The values that it can be, if they are listed. */
  readonly values?: readonly Json[];
  /** The least and the greatest number that it can be. */
  readonly range?: readonly [least: number, greatest: number];
  /** The parameters inside an object. */
  readonly fields: readonly SuiteParameter[];
  /** The kind of value in its JSON Schema, by format or by type. */
  readonly declared?: ValueType;
  /** The kinds of value that its policy entry, its format, its name or its description ask for; empty if none does. */
  readonly types: readonly ValueType[];
}

/** The bounds of a text in its schema: the pattern, or that of its format, and the fewest and most characters. */
export interface TextBounds {
  readonly pattern?: string;
  readonly least: number;
  readonly most: number;
}

/** Facts about a suite's tools, from their schemas and the policy file. */
export interface SuiteTools {
  /**
   * True for a tool that changes something or reaches somebody: its effect in the policy file is neither
   * `none` nor `read`.
   */
  readonly hasEffect: (tool: string) => boolean;
  /** True for an effectful tool, and for a look-up that takes a link: a request for a link tells something to its owner. */
  readonly reaches: (tool: string) => boolean;
  /** True for a tool whose finds the policy trusts as much as the user's own choice. */
  readonly resolves: (tool: string) => boolean;
  /** The places from which the policy lets a parameter take whole values, by its path without places in lists. */
  readonly sourcesOf: (tool: string, path: Leaf["path"]) => readonly ValueSource[];
  readonly roleOf: (tool: string, parameter: string) => ParameterRole;
  readonly parametersOf: (tool: string) => readonly SuiteParameter[];
}

/** Reads the schemas of a suite's tools beside the annotations of a policy file. */
export function suiteTools(
  tools: readonly SuiteTool[],
  annotations: NonNullable<PolicyJson["tools"]> = {},
): SuiteTools {
  const known = new Map(
    tools.map((tool) => {
      const annotation = Object.hasOwn(annotations, tool.name) ? annotations[tool.name] : undefined;
      const { effect = "undeclared", parameters = {}, resolves = false, reaches } = annotation ?? {};
      const described = parametersOf(tool).map((parameter) => {
        const given = Object.hasOwn(parameters, parameter.name) ? parameters[parameter.name] : undefined;
        const type = typeof given === "object" ? given.type : undefined;
        return { ...parameter, types: type === undefined ? parameter.types : [type] };
      });
      return [tool.name, { effect, parameters, resolves, reaches, described }] as const;
    }),
  );
  const hasEffect = (tool: string): boolean =>
    !["none", "read"].includes(known.get(tool)?.effect ?? "undeclared");
  const described = (tool: string): readonly SuiteParameter[] => known.get(tool)?.described ?? [];
  return {
    hasEffect,
    reaches: (tool) =>
      hasEffect(tool) ||
      known.get(tool)?.reaches === "outside" ||
      described(tool).some(({ types }) => types.includes("url") || types.includes("host")),
    sourcesOf: (tool, path) => {
      const said = known.get(tool)?.parameters ?? {};
      const name = path.filter((key) => typeof key === "string").join(".");
      const words = Object.hasOwn(said, name) ? said[name] : undefined;
      const from = typeof words === "object" ? (words.from ?? []) : [];
      return from.filter(({ type, whole }) => type === "listed-by" || whole === true);
    },
    resolves: (tool) => known.get(tool)?.resolves === true,
    roleOf: (tool, parameter) => {
      const roles = known.get(tool)?.parameters ?? {};
      const role = Object.hasOwn(roles, parameter) ? roles[parameter] : undefined;
      return typeof role === "object" ? role.role : (role ?? "target");
    },
    parametersOf: described,
  };
}

const jsonTypes = ["string", "number", "integer", "boolean", "object", "null"] as const;

function parametersOf({ parameters }: SuiteTool): readonly SuiteParameter[] {
  return fieldsOf(parameters, parameters);
}

/** The depth below which objects are taken for empty. */
const deepest = 8;

function fieldsOf(object: JsonObject, root: JsonObject, depth = 0): readonly SuiteParameter[] {
  if (depth >= deepest) return [];
  const properties = asObject(object["properties"]);
  const required = Array.isArray(object["required"]) ? object["required"] : [];
  return Object.entries(properties).map(([name, given]) => {
    const schema = asObject(given);
    const shape = shapeOf(schema, root);
    const isList = shape["type"] === "array";
    const one = isList ? shapeOf(asObject(shape["items"]), root) : shape;
    const declared = declaredType(one);
    return {
      name,
      isRequired: required.includes(name),
      json: jsonTypes.find((type) => type === one["type"]) ?? "string",
      isList,
      fewest: typeof shape["minItems"] === "number" ? shape["minItems"] : 0,
      isUnique: shape["uniqueItems"] === true,
      text: textOf(one),
      values: valuesOf(one),
      range: rangeOf(one),
      fields: fieldsOf(one, root, depth + 1),
      declared,
      types: declared === undefined ? saidTypes(name, schema["description"] ?? "") : [declared],
    };
  });
}

function valuesOf({ enum: choices, const: only }: JsonObject): readonly Json[] | undefined {
  if (only !== undefined) return [only];
  return isJsonList(choices) ? choices : undefined;
}

function textOf({ pattern, format, minLength, maxLength }: JsonObject): TextBounds {
  const ofFormat =
    typeof format === "string" && !isSaidAsValue(format) ? formatPatterns.get(format) : undefined;
  const held = typeof pattern === "string" ? pattern : ofFormat;
  return {
    ...(held === undefined ? {} : { pattern: held }),
    least: typeof minLength === "number" ? minLength : 0,
    most: typeof maxLength === "number" ? maxLength : Infinity,
  };
}

/** True for a format that the values of a suite have by themselves. */
function isSaidAsValue(format: string): boolean {
  return Object.hasOwn(formats, format) && format !== "date-time";
}

function rangeOf({ minimum, maximum }: JsonObject): SuiteParameter["range"] {
  if (typeof minimum !== "number" && typeof maximum !== "number") return undefined;
  return [
    typeof minimum === "number" ? minimum : -Infinity,
    typeof maximum === "number" ? maximum : Infinity,
  ];
}

/** The schema that describes a value: behind references, and of alternatives the first that is not null. */
function shapeOf(schema: JsonObject, root: JsonObject, depth = 0): JsonObject {
  const reference = schema["$ref"];
  if (typeof reference === "string" && depth < 8)
    return shapeOf(asObject(followPointer(root, reference)), root, depth + 1);
  const listed = ["anyOf", "oneOf", "allOf"].map((word) => schema[word]).find(isJsonList);
  const first = listed?.filter(isJsonObject).find((each) => each["type"] !== "null");
  if (first !== undefined && depth < 8) return shapeOf(first, root, depth + 1);
  const { type } = schema;
  return Array.isArray(type) ? { ...schema, type: type.find((each) => each !== "null") ?? "null" } : schema;
}

const formats: Readonly<Record<string, ValueType>> = {
  email: "email",
  uri: "url",
  url: "url",
  hostname: "host",
  date: "date",
  "date-time": "date",
};

/** Words for addresses in names and descriptions of parameters. */
const wordings: Readonly<Record<AddressType, { readonly name: RegExp; readonly description: RegExp }>> = {
  email: {
    name: /e-?mail|recipient|participant|attendee|invitee|^(?:to|cc|bcc)$/i,
    description: /e-?mail address(?:es)?\b/i,
  },
  url: {
    name: /url|link|website|webpage|web_page/i,
    description: /\burls?\b|\blinks?\b|web ?(?:site|page)/i,
  },
  iban: { name: /iban|recipient|payee|beneficiary|account/i, description: /\biban\b|account number/i },
  phone: { name: /phone|mobile|whatsapp/i, description: /phone number/i },
};

/** The name of a parameter with an id: an id is not an address. */
const idName = /(?:^|_)ids?$/i;

function declaredType({ format, type }: JsonObject): ValueType | undefined {
  if (typeof format === "string" && Object.hasOwn(formats, format)) return formats[format];
  return type === "number" || type === "integer" ? "number" : undefined;
}

function saidTypes(name: string, said: Json): readonly ValueType[] {
  const description = typeof said === "string" ? said : "";
  if (idName.test(name)) return ["identifier"];
  const told = addressTypes.filter((each) => wordings[each].description.test(description));
  if (told.length > 0) return told;
  const named = addressTypes.filter((each) => wordings[each].name.test(name));
  if (named.length > 0) return named;
  return /date|day|time/i.test(name) ? ["date"] : [];
}
