import { checkArguments } from "../../error/check-shape.ts";
import type { Hooks } from "../../hook/run-hooks.ts";
import type { Model } from "../../model/model.ts";
import type { Policy } from "../../policy/decision.ts";
import { sensible } from "../../policy/rules/sensible.ts";
import { isOwn } from "../../policy/knowledge/result-label.ts";
import { narrowedParts } from "../../policy/rules/narrowed-parts.ts";
import { rulesOf } from "../../policy/rules/policy-json.ts";
import { rulePolicyOf } from "../../policy/rules/identity.ts";
import type { PolicyJson } from "../../policy/rules/rule.ts";
import { capabilityText } from "../../tool/capability.ts";
import type { Parameter, Parameters } from "../../tool/parameters.ts";
import type { Tool, ToolOrigin } from "../../tool/tool.ts";
import { isJsonObject, type Json, jsonOrNull, visibleJson } from "../../util/json.ts";
import { record } from "../../util/shape.ts";
import type {
  AgentManifest,
  ModelManifest,
  PolicyManifest,
  SkillManifest,
  ToolManifest,
} from "./manifest-data.ts";
import { insideOf, originOf } from "./manifest-origin.ts";
import { toolEnforcement } from "./tool-enforcement.ts";
import type { AgentPlan } from "../plan.ts";
import type { AnyDefinition } from "../definition.ts";
import type { PlannedSkill } from "../plan-skill.ts";

/**
 * The manifest of an agent that was checked.
 */
export async function manifestOf(plan: AgentPlan, definition: AnyDefinition): Promise<AgentManifest> {
  const { grants = [], memory } = definition;
  const skills = await inOrder(plan.skills, skillManifest);
  const { model } = plan;
  return {
    version: 1,
    agent: plan.name,
    ...(model === undefined ? {} : { model: modelManifest(model) }),
    grants: unique(grants.map(capabilityText)),
    policy: policyManifest(policyOf(plan, definition)),
    budget: Object.fromEntries(Object.entries(plan.limits).filter(([, bound]) => bound !== Infinity)),
    memory: memory !== undefined,
    hooks: hookPlaces(plan.hooks),
    skills,
    servers: serversOf(plan),
  };
}

/**
 * The manifest as text, as `writ manifest` prints it: the same manifest has the same text, with sorted fields and sets, so that a diff shows what
 * changed. Invisible characters, and those that would steer a terminal, are escaped.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { manifestText } from "writ/policy";
 *
 * const greeter = agent({ name: "greeter", model: () => "hello" });
 * console.log(manifestText(await greeter.manifest()));
 * ```
 */
export function manifestText(manifest: AgentManifest): string {
  checkArguments("manifestText()", { manifest }, { manifest: record });
  return `${visibleJson(JSON.stringify(sorted(jsonOrNull(manifest)), undefined, 2))}\n`;
}

/** The policy that decides about an agent's calls: all its skills have the same one. */
export function policyOf({ skills }: AgentPlan, { policy }: AnyDefinition): Policy {
  const skill = [...skills.values()].find(({ type }) => type === "agentic");
  return policy ?? (skill?.type === "agentic" ? skill.gate.policy : sensible);
}

function policyManifest(policy: Policy): PolicyManifest {
  if (policy === sensible) return { name: "sensible" };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only a policy of rules has a `toJSON`
  const json = rulePolicyOf(policy)?.toJSON() as PolicyJson | undefined;
  if (json === undefined) return { name: `${policy.name} (a function)`.trim() };
  const { name, tools, constants } = json;
  const narrowing = narrowingOf(policy);
  return {
    name,
    rules: rulesOf(json),
    ...(tools === undefined ? {} : { tools }),
    ...(constants === undefined ? {} : { constants: unique(constants) }),
    ...(narrowing === undefined ? {} : { narrowedBy: policyManifest(narrowing) }),
  };
}

/** The second policy of a combination of two: the one whose rules are not in its JSON. */
function narrowingOf(policy: Policy): Policy | undefined {
  const [first, second] = narrowedParts(policy) ?? [];
  return first === undefined || rulePolicyOf(first) !== undefined ? second : first;
}

function modelManifest({ id, endpoint }: Model): ModelManifest {
  if (endpoint === undefined) return { id };
  const { url, apiKeyPresent } = endpoint;
  return { id, url, ...(apiKeyPresent ? { apiKey: "masked" as const } : {}), apiKeyPresent };
}

function hookPlaces(hooks: Hooks): Readonly<Record<string, readonly string[]>> {
  const places = Object.entries(hooks).flatMap(([place, named]) =>
    named.map(({ name }) => [name, place] as const),
  );
  const byName = Map.groupBy(places, ([name]) => name);
  return Object.fromEntries(
    [...byName].map(([name, entries]) => [name, unique(entries.map(([, place]) => place))]),
  );
}

async function skillManifest(skill: PlannedSkill): Promise<SkillManifest> {
  if (skill.type === "plain") return { type: "plain", tools: {} };
  return { type: "agentic", tools: await inOrder(skill.gate.allowed.tools, toolManifest) };
}

async function toolManifest(tool: Tool): Promise<ToolManifest> {
  const { kind, effect, needs, parameters = {}, trusted = isOwn(tool), resolves = false, constraints } = tool;
  const { secrecy = "public" } = tool;
  const origin = originOf(tool);
  const inside = insideOf(tool);
  const { level, mechanism } = toolEnforcement(tool);
  return {
    ...(kind === undefined ? {} : { kind }),
    effect,
    needs: needs === undefined ? null : unique(needs.map(capabilityText)),
    parameters: rolesOf(parameters),
    trusted,
    ...(tool.isFresh === true ? { fresh: true } : {}),
    resolves,
    secrecy: typeof secrecy === "string" ? secrecy : unique(secrecy.readers),
    enforcement: { level, mechanism },
    ...(constraints === undefined ? {} : { constraints }),
    ...(origin === undefined ? {} : { mcp: serverOf(origin) }),
    ...(inside.length === 0 ? {} : { agents: await agentsInside(inside) }),
  };
}

function serverOf({ server, pin, approved = false }: ToolOrigin): NonNullable<ToolManifest["mcp"]> {
  return approved ? { server, pin, approved } : { server, pin };
}

async function agentsInside(
  inside: ReturnType<typeof insideOf>,
): Promise<Readonly<Record<string, AgentManifest | null>>> {
  const entries = await Promise.all(
    inside.map(async ({ name, manifest, only }) => {
      const whole = (await manifest?.()) ?? null;
      return [name, whole === null || only === undefined ? whole : narrowed(whole, new Set(only))] as const;
    }),
  );
  return Object.fromEntries(
    [...Map.groupBy(entries, ([name]) => name)].flatMap(([name, same]) =>
      onceEach(same.map(([, manifest]) => manifest)).map(
        (manifest, place) => [place === 0 ? name : `${name} (${place + 1})`, manifest] as const,
      ),
    ),
  );
}

/** The agents without duplicates of the same name. */
function onceEach(manifests: readonly (AgentManifest | null)[]): readonly (AgentManifest | null)[] {
  const texts = new Map(
    manifests.map((manifest) => [manifest === null ? "" : manifestText(manifest), manifest]),
  );
  return [...texts].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, manifest]) => manifest);
}

function narrowed(manifest: AgentManifest, only: ReadonlySet<string>): AgentManifest {
  const skills = Object.entries(manifest.skills).map(([name, { type, tools }]) => {
    const kept = Object.entries(tools).filter(([tool]) => only.has(tool));
    return [name, { type, tools: Object.fromEntries(kept) }] as const;
  });
  return { ...manifest, skills: Object.fromEntries(skills) };
}

function serversOf({ skills }: AgentPlan): AgentManifest["servers"] {
  const tools = [...skills.values()].flatMap((skill) =>
    skill.type === "agentic" ? [...skill.gate.allowed.tools.values()] : [],
  );
  const pins = tools.flatMap((tool) => {
    const origin = originOf(tool);
    return origin === undefined ? [] : [{ ...origin, name: tool.name }];
  });
  const servers = Map.groupBy(pins, ({ server }) => server);
  return Object.fromEntries(
    [...servers].map(([server, of]) => [server, Object.fromEntries(of.map(({ name, pin }) => [name, pin]))]),
  );
}

function rolesOf(parameters: Parameters): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, given]) => [name, roleText(given)]));
}

function roleText(parameter: Parameter): string {
  if (typeof parameter === "string") return parameter;
  const { role, type = "", constants = [], from = [] } = parameter;
  const places = from.map(
    ({ type: kind, tool, whole = false, field = "", named = false }) =>
      `${kind}(${[tool, field, whole ? "whole" : "", named ? "named" : ""].filter((word) => word !== "").join(" ")})`,
  );
  return [role, type, ...constants.map((value) => JSON.stringify(value)), ...places]
    .filter((word) => word !== "")
    .join(" ");
}

async function inOrder<Value, Made>(
  map: ReadonlyMap<string, Value>,
  make: (value: Value) => Promise<Made>,
): Promise<Readonly<Record<string, Made>>> {
  const entries = await Promise.all(
    [...map].map(async ([name, value]) => [name, await make(value)] as const),
  );
  return Object.fromEntries(entries);
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted();
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => sorted(each));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}
