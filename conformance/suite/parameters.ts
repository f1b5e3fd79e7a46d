/** The parameters of the tools of cases, written once: as JSON Schema for runtimes that take it, as Zod for those whose documentation does. */
import type * as zod from "zod";
import type { Tool } from "./contract.ts";

/** `number=0` has a default, `a|b` is a choice. */
export type Parameters = Readonly<
  Record<string, "number" | "integer" | "string" | "number=0" | `${string}|${string}`>
>;

export function schemasOf(parameters: Parameters): Pick<Tool, "jsonSchema" | "zodSchema"> {
  const entries = Object.entries(parameters);
  const required = entries.filter(([, type]) => type !== "number=0").map(([name]) => name);
  const properties = Object.fromEntries(entries.map(([name, type]) => [name, jsonOf(type)]));
  return {
    jsonSchema: { type: "object", properties, required, additionalProperties: false },
    zodSchema: (z) => z.object(Object.fromEntries(entries.map(([name, type]) => [name, zodOf(z, type)]))),
  };
}

function jsonOf(type: string): Readonly<Record<string, unknown>> {
  if (type === "number=0") return { type: "number", default: 0 };
  return type.includes("|") ? { type: "string", enum: type.split("|") } : { type };
}

function zodOf(z: typeof zod.z, type: string): zod.ZodType {
  if (type === "number") return z.number();
  if (type === "number=0") return z.number().default(0);
  if (type === "integer") return z.number().int();
  return type.includes("|") ? z.enum(type.split("|")) : z.string();
}
