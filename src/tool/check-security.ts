import { closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { namesInstead } from "../schema/property-names.ts";
import type { JsonSchema } from "../schema/schema.ts";
import {
  anything,
  either,
  list,
  map,
  object,
  oneOf,
  optional,
  refined,
  type Shape,
  shapeOf,
  string,
} from "../util/shape.ts";
import { type Capability, readCapability } from "./capability.ts";
import {
  type Parameter,
  parameterRoles,
  type Parameters,
  type ParameterWords,
  type ValueSource,
  valueTypes,
} from "./parameters.ts";

const role = oneOf(...parameterRoles);
const readers = object({ readers: list(string) }, "{ readers: [...] }");

const yes = shapeOf<true>("true", (value) => value === true);
const source: Shape<ValueSource> = refined(
  closed({
    type: oneOf("found-in", "listed-by"),
    tool: string,
    whole: optional(yes),
    field: optional(either(string, list(string))),
    named: optional(yes),
  }),
  'is `named`, which needs the type "found-in", `whole` and a `field`',
  ({ type, whole, field, named }) =>
    named !== true || (type === "found-in" && whole === true && field !== undefined),
);
const words: Shape<ParameterWords> = closed({
  role,
  type: optional(oneOf(...valueTypes)),
  constants: optional(list(string)),
  from: optional(list(source)),
});

/** A role, or an author's other words on a parameter: the same in a tool and in a policy. */
export const parameterShape: Shape<Parameter> = {
  wanted: words.wanted,
  misfit: (value) => (typeof value === "string" ? role : words).misfit(value),
};

/** The fields in which a tool declares its powers, arguments and results: a misspelt one would guard nothing. */
export const securityFields: Readonly<Record<"needs" | "parameters" | "secrecy", Shape<unknown>>> = {
  needs: optional(list(anything, "a list of capabilities")),
  parameters: optional(map(parameterShape)),
  secrecy: optional(either(oneOf("public", "private"), readers)),
};

interface Said {
  readonly name: string;
  readonly needs?: readonly Capability[];
  readonly parameters?: Parameters;
}

/** Checks that needs are capabilities, and that parameters are arguments. @throws WritError `definition-invalid`, `capability-invalid` */
export function checkParameters({ name, needs = [], parameters = {} }: Said, schema: JsonSchema): void {
  for (const need of needs) readCapability(need);
  for (const field of Object.keys(parameters)) {
    const instead = namesInstead(schema, field);
    if (instead === undefined) continue;
    const reason = `\`parameters\` names "${field}", which it does not take; it takes ${instead.join(", ") || "nothing"}.`;
    throw new WritError("definition-invalid", { where: `Tool "${name}"`, reason });
  }
}

/** The parameter that a dotted path begins with. */
export function firstOf(path: string): string {
  return path.split(".", 1)[0] ?? path;
}
