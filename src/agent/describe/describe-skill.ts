import { checkArguments, closed } from "../../error/check-shape.ts";
import { having, object, optional, string } from "../../util/shape.ts";
import { describeType } from "../../driver/describe-type.ts";
import { flattenTools } from "../../policy/allow-list.ts";
import { type SchemaOptions, type SchemaSource, toSchema } from "../../schema/to-schema.ts";
import type { Skill, ToolList } from "../skill.ts";

const skillShape = object({ name: string, description: string });

/**
 * A skill as Markdown: name, description, input and output, its tools, and an index of its knowledge without the contents. The skill's
 * `modelDescription`, if it has one, replaces all of that.
 *
 * @throws WritError `schema-invalid`, `schema-without-json-schema` for schemas that no agent could use either
 * @example
 * ```ts
 * import { knowledge, skill } from "writ";
 * import { describeSkill } from "writ/tools";
 *
 * const faq = knowledge({ name: "faq", description: "Frequent questions", load: () => "Q: When? A: At four." });
 * const support = skill({ name: "support", description: "Helps customers", tools: [], knowledge: [faq] });
 * console.log(describeSkill(support));
 * ```
 */
export function describeSkill(skill: Skill): string {
  checkArguments("describeSkill()", { skill }, { skill: skillShape });
  if (skill.modelDescription !== undefined) return skill.modelDescription;
  const agentic = skill.type === "agentic" ? skill : undefined;
  return [
    `# ${skill.name}`,
    skill.description,
    ...typed("Takes", skill.input, { name: skill.name, role: "input" }),
    ...typed("Gives", skill.output, { name: skill.name, role: agentic === undefined ? "output" : "input" }),
    ...section("Tools", agentic?.tools),
    ...section("Knowledge, loaded when its name is called", skill.knowledge),
  ].join("\n\n");
}

const contextShape = closed({ signal: optional(having("an AbortSignal", "addEventListener")) });

/**
 * A skill with all its knowledge loaded, for a plain function or one prompt: the description, then each entry under `--- name ---`, in the
 * order of the skill. Every call loads the knowledge anew.
 *
 * @throws WritError `knowledge-invalid`, and the error of an entry's `load`
 * @example
 * ```ts
 * import { knowledge, skill } from "writ";
 * import { skillContext } from "writ/tools";
 *
 * const faq = knowledge({ name: "faq", description: "Frequent questions", load: () => "Q: When? A: At four." });
 * const support = skill({ name: "support", description: "Helps customers", tools: [], knowledge: [faq] });
 * console.log(await skillContext(support));
 * ```
 */
export async function skillContext(
  skill: Skill,
  options: { readonly signal?: AbortSignal } = {},
): Promise<string> {
  checkArguments("skillContext()", { skill, options }, { skill: skillShape, options: contextShape });
  const { signal = new AbortController().signal } = options;
  const entries = await Promise.all(
    (skill.knowledge ?? []).map(async (entry) => {
      const content = await entry.execute({}, { signal });
      return `--- ${entry.name} ---\n${typeof content === "string" ? content : JSON.stringify(content)}`;
    }),
  );
  return [skill.description, ...entries].join("\n\n");
}

function typed(title: string, source: SchemaSource | undefined, place: SchemaOptions): string[] {
  return source === undefined ? [] : [`${title}: ${describeType(toSchema(source, place).jsonSchema)}`];
}

function section(title: string, tools: ToolList = []): string[] {
  const lines = tools.flatMap((entry) =>
    typeof entry === "string"
      ? [`- ${entry}`]
      : flattenTools([entry]).map(({ name, description }) => `- ${name}: ${description}`),
  );
  return lines.length === 0 ? [] : [`## ${title}\n\n${lines.join("\n")}`];
}
