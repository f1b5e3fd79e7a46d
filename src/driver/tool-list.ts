import type { AllowList } from "../policy/allow-list.ts";
import { describeType } from "./describe-type.ts";

/**
 * How a prompt shows what tools take: `types`, a short notation that models read well and that leaves bounds and patterns to validation; or
 * `schemas`, their JSON Schemas to the letter.
 */
export type ShownTools = "types" | "schemas";

/** The block of a prompt that lists the tools; no block when there are none. */
export function toolList({ tools }: AllowList, label: string, show: ShownTools): readonly string[] {
  if (tools.size === 0) return [];
  const lines = [...tools.values()].map(({ name, description, input: { jsonSchema } }) => {
    const shown = show === "types" ? describeType(jsonSchema) : JSON.stringify(jsonSchema);
    return `- ${name}: ${description}\n  ${label}: ${shown}`;
  });
  return [`Available tools:\n${lines.join("\n")}`];
}
