import { aboutOf, type Runnable } from "../agent/runnable.ts";
import { WritError } from "../error/writ-error.ts";
import { clashOf } from "../schema/clash.ts";
import { isJsonObject, type JsonObject } from "../util/json.ts";

/** The form in which a client of OpenAI's wants its answer. */
export interface AnswerFormat {
  /** The field of the request that names the form. */
  readonly field: string;
  readonly format: unknown;
}

/**
 * True if a client wants JSON of an agent. The agent's definition sets the form of its answers, so a client cannot choose another one.
 *
 * @throws WritError `request-invalid` for a form that the answers of the agent do not have
 */
export function wantsJson(agent: Runnable, { field, format }: AnswerFormat): boolean {
  if (!isJsonObject(format) || format["type"] === "text") return false;
  const wanted = schemaIn(format);
  const misfit =
    wanted === undefined
      ? "there is no such form here"
      : (aboutOf(agent)?.outputs ?? [undefined])
          .map((made) => (made === undefined ? "they are words" : clashOf(made.jsonSchema, wanted)))
          .find((each) => each !== undefined);
  if (misfit === undefined) return true;
  const reason = `the answers of "${agent.name}" have the form that its own \`output\` gives them (${misfit}). Leave the field out, or ask an agent with such an \`output\``;
  throw new WritError("request-invalid", { where: `\`${field}\``, reason });
}

/** The schema of a format, in the form of chat completions or of responses. */
function schemaIn({ type, json_schema: inner, ...flat }: JsonObject): JsonObject | undefined {
  const anObject = { type: "object" };
  if (type === "json_object") return anObject;
  if (type !== "json_schema") return undefined;
  const { schema } = isJsonObject(inner) ? inner : flat;
  return isJsonObject(schema) ? { ...anObject, ...schema } : anObject;
}
