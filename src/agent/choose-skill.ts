import { WritError } from "../error/writ-error.ts";
import type { Fact } from "../event/event.ts";
import { chatWith } from "../model/chat.ts";
import type { Model, ReplyFormat } from "../model/model.ts";
import { grammarOf } from "../driver/grammar.ts";
import { userMessage } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type Interrupt, untilStopped } from "../util/interrupt.ts";
import { isJsonObject, type Json, parseJson } from "../util/json.ts";
import type { Journal } from "../journal/journal.ts";
import { contentText } from "./answer.ts";
import type { AgentPlan, PlannedSkill } from "./plan.ts";

/** The skill that was chosen, why, and what the choice cost. */
export interface Choice {
  readonly skill: PlannedSkill;
  readonly fact: Extract<Fact, { type: "skill-chosen" }>;
  readonly usage?: Usage;
}

/** What a skill is chosen by. */
export interface Choosing {
  readonly plan: AgentPlan;
  readonly input: Json;
  /** The skill that the caller named. */
  readonly wanted: string | undefined;
  readonly journal: Journal;
  readonly stop: Interrupt<unknown>;
}

/**
 * Chooses a skill: the one that the caller names, the one that `selectSkill` names, the only one that takes the input, the one that the model
 * chooses in one turn of its own, or the first.
 *
 * @throws WritError `skill-unknown`, `skill-not-chosen`; what the model's adapter throws
 */
export async function chooseSkill(choosing: Choosing): Promise<Choice> {
  const { plan, input, wanted } = choosing;
  if (wanted !== undefined) return chosen(plan, wanted, { fact: { by: "caller" } });
  const selected = plan.selectSkill?.(input);
  if (selected !== undefined) return chosen(plan, selected, { fact: { by: "function" } });
  const fitting = await fittingSkills(plan, input);
  const [first, ...others] = fitting;
  if (first === undefined)
    throw new WritError("skill-not-chosen", {
      name: plan.name,
      reason: "none of them takes this input",
      skills: namesOf(plan),
    });
  if (others.length === 0)
    return chosen(plan, first.name, { fact: { by: plan.skills.size === 1 ? "only" : "type" } });
  if (plan.model === undefined || plan.routing === "first")
    return chosen(plan, first.name, { fact: { by: "first" } });
  return route(fitting, plan.model, choosing);
}

interface Why {
  readonly fact: Omit<Choice["fact"], "type" | "skill">;
  readonly usage?: Usage;
}

function chosen(plan: AgentPlan, name: string, { fact, usage }: Why): Choice {
  const skill = plan.skills.get(name);
  if (skill === undefined)
    throw new WritError("skill-unknown", { name: plan.name, skill: name, skills: namesOf(plan) });
  return { skill, fact: { type: "skill-chosen", skill: name, ...fact }, usage };
}

function namesOf({ skills }: AgentPlan): string {
  return [...skills.keys()].join(", ");
}

async function fittingSkills(plan: AgentPlan, input: Json): Promise<PlannedSkill[]> {
  const fitting: PlannedSkill[] = [];
  for (const skill of plan.skills.values()) {
    const parsed = await skill.input?.parse(input);
    if (parsed?.ok !== false) fitting.push(skill);
  }
  return fitting;
}

/** What the model says of a choice. */
interface Route {
  readonly skill: string;
  readonly confidence: number;
  readonly rationale?: string;
  readonly usage: Usage;
}

/** One turn of the model, with nothing to do but to choose. */
async function route(
  fitting: readonly PlannedSkill[],
  model: Model,
  { plan, input, journal, stop }: Choosing,
): Promise<Choice> {
  const step = {
    key: "route",
    fingerprint: () => JSON.stringify([model.id, fitting.map(({ name }) => name), input]),
  };
  const asking = journal.step({
    ...step,
    run: () => askRoute(fitting, model, { plan, input, signal: stop.signal }),
  });
  const answer = await untilStopped(asking, stop);
  if (answer === "stopped") throw new Error("the run was stopped while a skill was chosen");
  const { threshold = 0, otherwise } = plan.routing === "first" ? {} : plan.routing;
  const { skill, confidence, rationale, usage } = answer;
  const why = { by: "model" as const, confidence, ...(rationale === undefined ? {} : { rationale }) };
  if (confidence >= threshold) {
    if (!fitting.some(({ name }) => name === skill))
      throw new WritError("skill-unknown", {
        name: plan.name,
        skill,
        skills: fitting.map(({ name }) => name).join(", "),
      });
    return chosen(plan, skill, { fact: why, usage });
  }
  if (otherwise !== undefined) return chosen(plan, otherwise, { fact: why, usage });
  const reason = `the model is ${confidence} sure of "${skill}", and ${threshold} is needed`;
  throw new WritError("skill-not-chosen", { name: plan.name, reason, skills: namesOf(plan) });
}

interface AskingRoute {
  readonly plan: AgentPlan;
  readonly input: Json;
  readonly signal: AbortSignal;
}

async function askRoute(
  fitting: readonly PlannedSkill[],
  model: Model,
  { plan, input, signal }: AskingRoute,
): Promise<Route> {
  const names = fitting.map(({ name }) => name);
  const schema = routeSchema(names);
  const list = fitting.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  const text = `Choose the skill that fits what the user asks. Do not answer the user.\n\nSkills:\n${list}\n\nReply with JSON alone that matches: ${JSON.stringify(schema)}`;
  const reply = await chatWith(model, {
    messages: [{ role: "system", text }, userMessage(contentText(input))],
    format: formatFor(model, schema),
    toolChoice: "none",
    settings: plan.settings,
    signal,
  });
  if (reply.calls.length > 0)
    throw new WritError("skill-not-chosen", {
      name: plan.name,
      reason: "the model called a tool where it had to choose",
      skills: names.join(", "),
    });
  return { ...readRoute(reply.text, names), usage: reply.usage };
}

/** A model that writes no JSON may write the name alone: then it is sure. */
function readRoute(text: string, names: readonly string[]): Omit<Route, "usage"> {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    const plain = text.trim();
    return { skill: names.find((name) => name === plain) ?? plain.slice(0, 64), confidence: 1 };
  }
  const { skillName, confidence, rationale } = parsed.value;
  return {
    skill: typeof skillName === "string" ? skillName : "",
    confidence: typeof confidence === "number" ? Math.min(1, Math.max(0, confidence)) : 1,
    ...(typeof rationale === "string" ? { rationale } : {}),
  };
}

function routeSchema(names: readonly string[]): JsonSchema {
  return {
    type: "object",
    properties: {
      skillName: { type: "string", enum: names },
      confidence: { type: "number", minimum: 0, maximum: 1 },
      rationale: { type: "string", maxLength: 200 },
    },
    required: ["skillName", "confidence"],
    additionalProperties: false,
  };
}

function formatFor({ features }: Model, schema: JsonSchema): ReplyFormat | undefined {
  if (features.format === "schema") return { type: "schema", schema };
  return features.format === "grammar" ? { type: "grammar", grammar: grammarOf(schema) } : undefined;
}
