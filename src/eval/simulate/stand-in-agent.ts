import { type Agent, makeAgent } from "../../agent/agent.ts";
import type { AsToolOptions } from "../../agent/as-tool.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import { amongOf, insideOf } from "../../agent/describe/manifest-origin.ts";
import { aboutOf, type Runnable } from "../../agent/runnable.ts";
import type { ToolList } from "../../agent/skill.ts";
import { WritError } from "../../error/writ-error.ts";
import { onlyReads } from "../../event/only-reads.ts";
import type { Model, ModelRequest } from "../../model/model.ts";
import type { Tools } from "../../policy/allow-list.ts";
import type { Policy } from "../../policy/decision.ts";
import { annotated } from "../../policy/rules/annotate.ts";
import { sensible } from "../../policy/rules/sensible.ts";
import { toSchema } from "../../schema/to-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";
import { randomFrom } from "./draw.ts";
import type { Machine } from "./machine.ts";
import { type KnownTool, valueOf } from "./propose.ts";
import { type ScriptReply, standInModel } from "./stand-in-model.ts";
import { standInOf, standInTool, type ToolPart } from "./stand-in-tool.ts";

/** The stand-ins for the world of an agent. */
export interface StandIns extends ToolPart {
  readonly script: readonly ScriptReply[];
  /**
   * Filled in while agents are made: the tools that each skill lists, by `agent/skill`; the tools of each agent; the outer agent's with stand-ins; whether
   * hooks or recoveries change results.
   */
  readonly seen: {
    readonly listed: Map<string, ReadonlySet<string>>;
    readonly toolsOf: Map<string, ReadonlyMap<string, Tool>>;
    readonly standIns: Set<string>;
    mends: boolean;
    recovers: boolean;
  };
  readonly onRequest: (machine: Machine, request: ModelRequest, agent: string) => void;
}

const composed = {
  simulate: "Simulate the members of a composition one by one.",
  prove: "Prove the members of a composition one by one.",
} as const;

/**
 * The definition of an agent made by `agent()`, for one of these functions.
 *
 * @throws WritError `definition-invalid` for compositions and other runnables
 */
export function definitionOf(agent: Runnable, door: keyof typeof composed): AnyDefinition {
  const about = aboutOf(agent);
  const [made, ...others] = about?.inside ?? [];
  const definition = others.length === 0 ? made?.madeOf?.definition : undefined;
  if (definition === undefined || !("model" in agent || "modelId" in agent))
    throw new WritError("definition-invalid", {
      where: `${door}() of "${agent.name}"`,
      reason:
        about === undefined
          ? `this copy of writ did not make it. Take \`agent\` and \`${door}\` from one installation, and run \`npx writ\` in the folder of the program.`
          : `it takes an agent that \`agent()\` made. ${composed[door]}`,
    });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- agent() keeps its definition there
  return definition as AnyDefinition;
}

/** The agent on a machine of the simulation: the schedule decides its model, tools and clock; everything else is its own. */
export function standInAgent(definition: AnyDefinition, parts: StandIns, machine: Machine): Agent {
  const { host } = machine;
  const changed = standInDefinition(definition, { parts, machine, isOuter: true, made: new Map() });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only models here are stand-ins
  return makeAgent(changed, { host, resolveModel: (source) => source as Model });
}

interface Changing {
  readonly parts: StandIns;
  readonly machine: Machine;
  readonly isOuter: boolean;
  /** The stand-ins so far: a tool in two lists gets one stand-in for both, but for one outside and one inside. */
  readonly made: Map<Tool, Tool>;
}

function standInDefinition(definition: AnyDefinition, changing: Changing): AnyDefinition {
  refuse(definition);
  const { parts, machine, isOuter } = changing;
  note(definition, parts.seen);
  const { on: _on, onEvent: _onEvent, account: _account, enforce: _enforce, ...kept } = definition;
  const { name, policy, skills, tools, autoTools, model } = kept;
  const changed = <List extends ToolList | Tools>(list: List): List =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each tool is replaced by a tool
    list.map((each) => changedTool(each, changing)) as unknown as List;
  const part = {
    agent: name,
    tools: [...toolsOf(definition).values()].map((each): KnownTool => ({
      name: each.name,
      schema: each.input.jsonSchema,
    })),
    script: isOuter ? parts.script : [],
    answer: answerOf(definition),
    onRequest: (request: ModelRequest) => parts.onRequest(machine, request, name),
  };
  return {
    ...kept,
    ...(model === undefined ? {} : { model: standInModel(part, machine), driver: "native" as const }),
    ...(tools === undefined ? {} : { tools: changed(tools) }),
    ...(autoTools === undefined ? {} : { autoTools: changed(autoTools) }),
    ...(skills === undefined
      ? {}
      : {
          skills: skills.map((skill) => {
            if (skill.type === "plain") return skill;
            return { ...skill, tools: changed(skill.tools) };
          }),
        }),
    ...(isOwn(policy) ? { policy: watched(policy, machine) } : {}),
    ...(isOuter ? { onEvent: onlyReads((event) => machine.hear(event)) } : {}), // it gets the events of the runs inside too
  };
}

/** Notes the tools that the author lets each skill call, independent of what the runtime makes of them. Without skills the key is `agent/`. */
function note(definition: AnyDefinition, seen: StandIns["seen"]): void {
  const { name, tools = [], autoTools = [], skills = [], hooks = [], recover } = definition;
  const { listed } = seen;
  const agentic = skills.filter((skill) => skill.type === "agentic");
  const list = (skill: string, its: ToolList): void => {
    const key = `${name}/${skill}`;
    listed.set(key, new Set([...(listed.get(key) ?? []), ...namesIn(its), ...namesIn(autoTools)])); // an agent that is deployed later has the same name
  };
  if (agentic.length === 0) list("", tools);
  for (const skill of agentic) list(skill.name, skill.tools);
  const known = toolsOf(definition);
  if (!seen.toolsOf.has(name)) seen.toolsOf.set(name, known);
  const recovering = [...known.values()].some((tool) => tool.recover !== undefined);
  seen.recovers ||= recover !== undefined || recovering;
  seen.mends ||= hooks.length > 0 || seen.recovers;
}

function namesIn(list: ToolList | Tools): readonly string[] {
  return list.flatMap((each) =>
    typeof each === "string" ? [each] : isList(each) ? namesIn(each) : [each.name],
  );
}

/** @throws WritError `definition-invalid` */
function refuse({ name, executor, memory }: AnyDefinition): void {
  const what = executor === undefined ? (memory === undefined ? undefined : "memory") : "executor";
  if (what === undefined) return;
  const reason = `\`${what}\` reaches what no schedule owns. Simulate the agent without it: \`agent.with({ ${what}: undefined })\`.`;
  throw new WritError("definition-invalid", { where: `simulate() of "${name}"`, reason });
}

function changedTool(
  each: Tool | ToolList | Tools | string,
  changing: Changing,
): Tool | readonly unknown[] | string {
  if (typeof each === "string") return each;
  if (isList(each)) return each.map((one) => changedTool(one, changing));
  const tool = changing.made.get(each) ?? oneTool(each, changing);
  changing.made.set(each, tool);
  return tool;
}

function oneTool(each: Tool, changing: Changing): Tool {
  const { parts, machine, isOuter } = changing;
  const among = amongOf(each);
  if (among !== undefined && !Object.hasOwn(parts.standIns, each.name))
    return { ...each, execute: among((tool) => oneTool(tool, changing)) };
  const inside = insideOf(each);
  const madeOf = inside.length === 1 ? inside[0]?.madeOf : undefined;
  if (madeOf?.options === undefined || Object.hasOwn(parts.standIns, each.name)) {
    const isSimulated = each.isAgent !== true && standInOf(each, parts) !== "own";
    if (isSimulated && isOuter) parts.seen.standIns.add(each.name);
    return standInTool(each, parts, machine);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- asTool() keeps both there
  const { definition, options } = madeOf as { definition: AnyDefinition; options: AsToolOptions };
  const around = { ...changing, isOuter: false, made: isOuter ? new Map<Tool, Tool>() : changing.made };
  const made = standInDefinition(definition, around);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only models here are stand-ins
  const agent = makeAgent(made, { host: machine.host, resolveModel: (source) => source as Model });
  const front = agent.asTool(options);
  return { ...each, execute: (args, context) => front.execute(args, context) }; // everything else may be the author's change
}

function isList(each: Tool | ToolList | Tools): each is ToolList | Tools {
  return Array.isArray(each);
}

/** Every tool of a definition, with what its policy says of it, including tools that no skill lists, and those of agents inside. */
export function toolsOf(definition: AnyDefinition): ReadonlyMap<string, Tool> {
  const own = new Map<string, Tool>();
  const inside = new Map<string, Tool>();
  const add = (each: Tool | ToolList | Tools | string): void => {
    if (typeof each === "string") return;
    if (isList(each)) return each.forEach(add);
    own.set(each.name, each);
    for (const { madeOf } of insideOf(each)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- agent() keeps its definition there
      const made = madeOf?.definition as AnyDefinition | undefined;
      for (const [name, tool] of made === undefined ? [] : toolsOf(made)) inside.set(name, tool);
    }
  };
  const { name: skill, tools = [], autoTools = [], skills = [], policy = sensible } = definition;
  add(tools);
  add(autoTools);
  for (const each of skills) if (each.type === "agentic") add(each.tools);
  return new Map([...inside, ...annotated({ skill, tools: own }, policy).tools]);
}

/** The answer after the script: one that the schema of the output takes. */
function answerOf({ name, output, skills = [] }: AnyDefinition): Json {
  const source =
    output ??
    skills
      .map((skill) => (skill.type === "agentic" ? skill.output : undefined))
      .find((each) => each !== undefined);
  if (source === undefined) return "done";
  return valueOf(randomFrom(1), toSchema(source, { name, role: "output" }).jsonSchema, []);
}

/** True for a policy of the author's. The default policy is recognised by identity, so it may not be wrapped; facts tell its decisions. */
function isOwn(policy: Policy | undefined): policy is Policy {
  return policy !== undefined && policy !== sensible;
}

/** The same policy, with each of its decisions kept. */
function watched(inner: Policy, machine: Machine): Policy {
  const judge: Policy = (call) => {
    const { agent, tool, callId, knows } = call;
    const judged = { agent, tool, callId, label: knows.label, place: machine.world.executions.length };
    try {
      const decision = inner(call);
      machine.world.judgements.push({ ...judged, verdict: decision.verdict });
      return decision;
    } catch (error) {
      machine.world.judgements.push({ ...judged, verdict: "deny" });
      throw error;
    }
  };
  const {
    length: _length,
    name: _name,
    prototype: _prototype,
    ...own
  } = Object.getOwnPropertyDescriptors(inner);
  return Object.defineProperties(judge, own); // the properties of a policy of rules stay with it
}
