import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import { type ChatRequest, chatWith } from "../model/chat.ts";
import { askPatiently, type RetryPace } from "../model/retry.ts";
import type { Model, ReplyFormat } from "../model/model.ts";
import { grammarOf } from "../driver/grammar/grammar.ts";
import { contentText, userMessage } from "../message/message.ts";
import { addUsage, noUsage, type Usage } from "../message/usage.ts";
import { type AskingBounds, boundedModel, withinTokens } from "../turn/paid-model.ts";
import type { Excess } from "../policy/account/budget.ts";
import type { JsonSchema } from "../schema/schema.ts";
import { type Interrupt, untilStopped } from "../util/interrupt.ts";
import { isJsonObject, type Json } from "../util/json.ts";
import { after, inOrder, type Maybe } from "../util/maybe.ts";
import { kindOf } from "../util/shape.ts";
import { lenientObject } from "../util/lenient-json.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { partsText } from "../journal/parts.ts";
import type { AgentPlan, ChosenSkill } from "./plan.ts";
import type { PlannedSkill } from "./plan-skill.ts";

/**
 * The result of choosing: a skill, an error, or a bound that forbids asking the model; with the tokens that
 * the model used.
 */
export type Choice = { readonly usage?: Usage } & (
  | { readonly type: "chosen"; readonly chosen: ChosenSkill }
  | { readonly type: "failed"; readonly error: WritError }
  | { readonly type: "forbidden"; readonly excess: Excess }
);

export interface Choosing {
  readonly plan: AgentPlan;
  readonly input: Json;
  /** The skill that the caller named. */
  readonly wanted: string | undefined;
  readonly journal: Journal;
  readonly stop: Interrupt<unknown>;
  readonly host: Host;
  /** The bound that forbids asking the model, if one does. */
  readonly excess: Excess | undefined;
  readonly bounds: AskingBounds;
  readonly retry: RetryPace | false;
}

/**
 * Chooses a skill: the one that the caller names, the one that `selectSkill` names, the only one that takes the input, the one that the model
 * chooses in a turn of its own, or the first.
 *
 * @throws WritError `skill-unknown`, `skill-not-chosen` if no model was asked; `function-failed` if `selectSkill` throws; the errors of the model's adapter
 */
export function chooseSkill(choosing: Choosing): Maybe<Choice> {
  const { plan, input, wanted } = choosing;
  if (wanted !== undefined) return choose(plan, wanted, { by: "caller" });
  const selected = selectedBy(plan, input);
  if (selected !== undefined) return choose(plan, selected, { by: "function" });
  return after(untilStopped(fittingSkills(plan, input), choosing.stop), (fitting) => {
    if (fitting === "stopped") throw new Error("the run was stopped while a skill was chosen");
    return chooseFrom(fitting, choosing);
  });
}

/** The skill that the author's function names. @throws WritError `function-failed` */
function selectedBy({ name, selectSkill }: AgentPlan, input: Json): string | undefined {
  try {
    const selected: unknown = selectSkill?.(input) ?? undefined; // plain JavaScript may return null
    if (selected === undefined || typeof selected === "string") return selected;
    throw new TypeError(`it must return the name of a skill at once, and returned ${kindOf(selected)}`);
  } catch (cause) {
    throw new WritError(
      "function-failed",
      { function: "selectSkill", name, reason: messageOf(cause) },
      { cause },
    );
  }
}

function chooseFrom(fitting: readonly PlannedSkill[], choosing: Choosing): Maybe<Choice> {
  const { plan } = choosing;
  const [first] = fitting;
  if (first === undefined)
    throw new WritError("skill-not-chosen", {
      name: plan.name,
      reason: "none of them takes this input",
      skills: namesOf(plan),
    });
  if (fitting.length === 1) return choose(plan, first.name, { by: plan.skills.size === 1 ? "only" : "type" });
  if (plan.model === undefined || plan.routing === "first") return choose(plan, first.name, { by: "first" });
  const { excess } = choosing;
  return excess === undefined ? route(fitting, plan.model, choosing) : { type: "forbidden", excess };
}

function choose(plan: AgentPlan, name: string, why: Omit<ChosenSkill["fact"], "type" | "skill">): Choice {
  const skill = plan.skills.get(name);
  if (skill === undefined) throw unknownSkill(plan, name, [...plan.skills.keys()]);
  return { type: "chosen", chosen: { skill, fact: { type: "skill-chosen", skill: name, ...why } } };
}

function namesOf({ skills }: AgentPlan): string {
  return [...skills.keys()].join(", ");
}

function fittingSkills(plan: AgentPlan, input: Json): Maybe<readonly PlannedSkill[]> {
  const skills = [...plan.skills.values()];
  if (skills.every(({ input }) => input === undefined)) return skills;
  const fitting: PlannedSkill[] = [];
  const looking = inOrder(skills, (skill) =>
    after(skill.input?.parse(input), (parsed) => {
      if (parsed?.ok !== false) fitting.push(skill);
    }),
  );
  return after(looking, () => fitting);
}

/** The choice of the model. `isCall`: it called a tool instead. */
interface Route {
  readonly isCall?: boolean;
  readonly skill: string;
  /** Left out if the model said nothing about it. */
  readonly confidence?: number;
  readonly rationale?: string;
  readonly usage: Usage;
}

/** One turn of the model, only to choose. */
async function route(
  fitting: readonly PlannedSkill[],
  model: Model,
  { plan, input, journal, stop, host, bounds, retry }: Choosing,
): Promise<Choice> {
  const step = {
    key: "route",
    fingerprint: () => partsText({ model: model.id, skills: fitting.map(({ name }) => name), input }),
  };
  let failed = noUsage;
  const onFailed = (usage: Usage): void => void (failed = addUsage(failed, usage));
  const asking = journal.step({
    ...step,
    run: async () => {
      const ask = (): Promise<Route> =>
        askRoute(fitting, boundedModel(model, bounds), { plan, input, signal: stop.signal, onFailed });
      const answer = await askPatiently(ask, { model, retry, host, stop });
      return { ...answer, usage: addUsage(failed, answer.usage) };
    },
  });
  const answer = await untilStopped(asking, stop).catch((error: unknown) => {
    if (failed === noUsage || stop.reason !== undefined || !isWritError(error)) throw error;
    return error;
  });
  if (answer === "stopped") throw new Error("the run was stopped while a skill was chosen");
  if (isWritError(answer)) return { type: "failed", error: answer, usage: failed };
  return choiceBy(answer, fitting, plan);
}

/** The skill that the model chose, if it is one of the fitting ones and the model is sure enough. */
function choiceBy(answer: Route, fitting: readonly PlannedSkill[], plan: AgentPlan): Choice {
  const { skill, confidence, rationale, usage, isCall = false } = answer;
  const names = fitting.map(({ name }) => name);
  const why = {
    by: "model" as const,
    ...(confidence === undefined ? {} : { confidence }),
    ...(rationale === undefined ? {} : { rationale }),
  };
  const { threshold = 0, otherwise } = plan.routing === "first" ? {} : plan.routing;
  const isSure = !isCall && (confidence ?? 0) >= threshold;
  if (isSure && names.includes(skill)) return { ...choose(plan, skill, why), usage };
  if (isSure && otherwise === undefined)
    return { type: "failed", error: unknownSkill(plan, skill, names), usage };
  if (!isCall && otherwise !== undefined) return { ...choose(plan, otherwise, why), usage };
  const reason = isCall ? "the model called a tool where it had to choose" : unsure(answer, threshold);
  return {
    type: "failed",
    error: new WritError("skill-not-chosen", { name: plan.name, reason, skills: names.join(", ") }),
    usage,
  };
}

/** The reason why the model is not sure enough. */
function unsure({ skill, confidence }: Route, threshold: number): string {
  const howSure = confidence === undefined ? "does not say how sure it is" : `is ${confidence} sure`;
  return `the model ${howSure} of "${skill}", and ${threshold} is needed`;
}

/** The error of a skill that an agent does not have. */
export function unknownSkill(
  { name }: Pick<AgentPlan, "name">,
  skill: string,
  names: readonly string[],
): WritError {
  return new WritError("skill-unknown", { name, skill, skills: names.join(", ") });
}

interface AskingRoute {
  readonly plan: AgentPlan;
  readonly input: Json;
  readonly signal: AbortSignal;
  readonly onFailed: (usage: Usage) => void;
}

async function askRoute(
  fitting: readonly PlannedSkill[],
  model: Model,
  { plan, input, signal, onFailed }: AskingRoute,
): Promise<Route> {
  const names = fitting.map(({ name }) => name);
  const schema = routeSchema(names);
  const list = fitting.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  const text = `Choose the skill that fits what the user asks. Do not answer the user.\n\nSkills:\n${list}\n\nReply with JSON alone that matches: ${JSON.stringify(schema)}`;
  const request: ChatRequest = {
    messages: [{ role: "system", text }, userMessage(contentText(input))],
    format: formatFor(model, schema),
    toolChoice: "none",
    settings: withinTokens(plan.settings, plan.limits.tokens),
    signal,
  };
  const reply = await chatWith(model, request, onFailed);
  const { usage } = reply;
  if (reply.calls.length > 0) return { skill: "", isCall: true, usage };
  return { ...readRoute(reply.text, names), usage };
}

/** Reads a route. A model that writes no JSON may write the name alone: then it counts as sure. */
function readRoute(text: string, names: readonly string[]): Omit<Route, "usage"> {
  const parsed = lenientObject(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    const plain = parsed.ok && typeof parsed.value === "string" ? parsed.value : text.trim();
    return { skill: names.find((name) => name === plain) ?? plain.slice(0, 64), confidence: 1 };
  }
  const { skillName, confidence, rationale } = parsed.value;
  return {
    skill: typeof skillName === "string" ? skillName : "",
    ...(confidence === undefined ? {} : { confidence: sureness(confidence) }),
    ...(typeof rationale === "string" ? { rationale } : {}),
  };
}

/**
 * The confidence that a model means. Weak models write a number as text, or a percentage: values above 1 are read as that. Anything that is
 * neither cannot be compared with a threshold, and is read as 0.
 */
function sureness(given: Json): number {
  const text = typeof given === "string" || typeof given === "number" ? String(given).trim() : "";
  const [, written = "0", percent] = /^(\d*\.?\d+)\s*(%)?$/.exec(text) ?? [];
  const number = Number(written);
  const share = percent !== undefined || number > 1 ? number / 100 : number;
  return share <= 1 ? share : 0;
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
