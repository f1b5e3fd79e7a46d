import { readInput } from "../../agent/around-run.ts";
import type { AnyDefinition, Question } from "../../agent/definition.ts";
import { WritError } from "../../error/writ-error.ts";
import { toSchema } from "../../schema/to-schema.ts";
import type { Json } from "../../util/json.ts";

/** The names of the skills of an agent that take an input. @throws WritError `input-invalid` if none does, because every run would end before it began */
export async function skillsFor(definition: AnyDefinition, given: Question): Promise<readonly string[]> {
  const { name, input: source, skills = [], hooks = [] } = definition;
  const schema = source === undefined ? undefined : toSchema(source, { name, role: "input" });
  const { input } = await readInput(given, { name, schema });
  const taking: string[] = [];
  for (const skill of skills) if (await takes(skill, input)) taking.push(skill.name);
  if (taking.length > 0 || skills.length === 0) return taking;
  const all = skills.map((skill) => skill.name);
  if (hooks.some(({ beforeRun }) => beforeRun !== undefined)) return all; // the hook may replace it
  const issues = `none of its skills (${all.join(", ")}) takes ${JSON.stringify(input)}. Give \`inputs\` of which one takes each.`;
  throw new WritError("input-invalid", { name, issues });
}

async function takes(
  { name, input: source }: NonNullable<AnyDefinition["skills"]>[number],
  input: Json,
): Promise<boolean> {
  return source === undefined || (await toSchema(source, { name, role: "input" }).parse(input)).ok;
}
