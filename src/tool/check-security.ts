import { WritError } from "../error/writ-error.ts";
import { isJsonObject } from "../util/json.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Secrecy } from "../message/label.ts";
import { type Capability, readCapability } from "./capability.ts";
import { parameterRoles, type Parameters, valueTypes } from "./parameters.ts";

/** What a tool says of its powers, of its arguments and of its results. */
interface Said {
  readonly name: string;
  readonly needs?: readonly Capability[];
  readonly parameters?: Parameters;
  readonly secrecy?: Secrecy;
}

/** Checks what a tool says of its powers and of its arguments: what is misspelt there would guard nothing. @throws WritError `definition-invalid`, `capability-invalid` */
export function checkSecurity({ name, needs, parameters, secrecy }: Said, schema: JsonSchema): void {
  const where = `Tool "${name}"`;
  if (needs !== undefined && !Array.isArray(needs))
    throw new WritError("definition-invalid", { where, reason: "`needs` is a list of capabilities." });
  for (const need of needs ?? []) readCapability(need);
  if (parameters !== undefined) checkParameters(parameters, schema, where);
  const isKnown =
    secrecy === undefined || secrecy === "public" || secrecy === "private" || Array.isArray(secrecy.readers);
  if (!isKnown)
    throw new WritError("definition-invalid", {
      where,
      reason: '`secrecy` is "private" or { readers: [...] }.',
    });
}

function checkParameters(parameters: Parameters, { properties }: JsonSchema, where: string): void {
  const known = isJsonObject(properties) ? Object.keys(properties) : undefined;
  for (const [field, parameter] of Object.entries(parameters)) {
    const { role, type } = typeof parameter === "string" ? { role: parameter, type: undefined } : parameter;
    if (known?.includes(field) === false)
      throw new WritError("definition-invalid", {
        where,
        reason: `\`parameters\` names "${field}", which it does not take; it takes ${known.join(", ") || "nothing"}.`,
      });
    if (!parameterRoles.includes(role))
      throw new WritError("definition-invalid", {
        where,
        reason: `\`parameters.${field}\` must be one of ${parameterRoles.join(", ")}.`,
      });
    if (type !== undefined && !valueTypes.includes(type))
      throw new WritError("definition-invalid", {
        where,
        reason: `the type of \`parameters.${field}\` must be one of ${valueTypes.join(", ")}.`,
      });
  }
}
