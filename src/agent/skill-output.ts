import { isWritError, WritError } from "../error/writ-error.ts";
import { clashOf } from "../schema/clash.ts";
import type { Schema } from "../schema/schema.ts";
import { type SchemaOptions, type SchemaSource, toSchema } from "../schema/to-schema.ts";
import type { Json } from "../util/json.ts";
import { after } from "../util/maybe.ts";
import type { Skill } from "./skill.ts";

/**
 * The schema of a skill's answer: its own, followed by the agent's, so that an agent never returns a value that its type forbids. A model's
 * answer is described and parsed as input, like arguments; the value of a plain skill's function as output, like a result of a tool.
 *
 * @throws WritError `definition-invalid` if no answer of the skill could be the agent's, `schema-invalid`, `schema-without-json-schema`
 */
export function skillOutput(
  { type, name, output }: Pick<Skill<unknown>, "type" | "name" | "output">,
  agent: { readonly name: string; readonly output?: SchemaSource },
): Schema | undefined {
  const role = type === "agentic" ? "input" : "output";
  const own = output ?? agent.output;
  if (own === undefined) return undefined;
  const made = answerSchema(own, { name: output === undefined ? agent.name : name, role });
  if (agent.output === undefined || own === agent.output) return made;
  const wanted = answerSchema(agent.output, { name: agent.name, role: "input", coerce: "none" });
  const clash = clashOf(madeBy(own, name), wanted.jsonSchema);
  if (clash !== undefined) {
    const reason = `its \`output\` can never be the agent's: ${clash}.`;
    throw new WritError("definition-invalid", { where: `Skill "${name}" of agent "${agent.name}"`, reason });
  }
  const parse: Schema["parse"] = (value) =>
    after(made.parse(value), (read) => (read.ok ? wanted.parse(read.value) : read));
  return { ...made, parse };
}

/** A schema of answers, even if it is parsed as input. @throws WritError `schema-invalid` and `schema-without-json-schema`, which call it the output schema */
function answerSchema(source: SchemaSource, options: SchemaOptions): Schema {
  try {
    return toSchema(source, { ...options, refusesSlips: true });
  } catch (error) {
    if (isWritError(error, "schema-invalid"))
      throw new WritError("schema-invalid", { ...error.data, role: "output" }, { cause: error });
    if (!isWritError(error, "schema-without-json-schema")) throw error;
    throw new WritError("schema-without-json-schema", { ...error.data, role: "output" }, { cause: error });
  }
}

/**
 * The JSON Schema of the values that a schema makes. Empty for a schema that cannot describe them because it has
 * functions (`transform`).
 */
function madeBy(source: SchemaSource, name: string): Json {
  try {
    return toSchema(source, { name, role: "output" }).jsonSchema;
  } catch {
    return {};
  }
}
