import { nodeHost } from "../../adapters/clock.ts";
import type { Agent } from "../../agent/agent.ts";
import type { AnyDefinition } from "../../agent/definition.ts";
import { insideOf } from "../../agent/describe/manifest-origin.ts";
import { planAgent } from "../../agent/plan.ts";
import { libraryOf } from "../../agent/skill-library.ts";
import type { Model } from "../../model/model.ts";
import type { Limits } from "../../policy/account/budget.ts";
import { restrictList } from "../../policy/allow-list.ts";
import type { Policy } from "../../policy/decision.ts";
import { learnIntent } from "../../policy/knowledge/learned.ts";
import { noIntent } from "../../policy/knowledge/intent.ts";
import type { Label } from "../../message/label.ts";
import type { Capability } from "../../tool/capability.ts";
import type { Tool } from "../../tool/tool.ts";
import { definitionOf } from "../simulate/stand-in-agent.ts";

/** The verdicts that a policy may give on some call of a tool: more than it really gives, never less. */
export interface Possible {
  /** True if the call may run without a question. */
  readonly free: boolean;
  /** True if it may run at all: freely, or with the consent of a person. */
  readonly runs: boolean;
  /** The deciding function, which cannot be read. */
  readonly opaque?: string;
}

/** A way: one skill of an agent, behind its gate. A run takes one, beside those of the agents inside it. */
export interface Way {
  readonly agent: string;
  readonly skill: string;
  /** The skills of the agents around it, from outside to inside, and its own. */
  readonly skills: readonly string[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policy: Policy;
  /** True of an agent that another agent calls. */
  readonly isInside: boolean;
  /** The label of the text that its model reads first. */
  readonly described: Label;
  /** A tool that may let calls run without the question that the policy asks. */
  readonly preapproves: string | undefined;
  readonly grants: readonly Capability[];
  /** The possible verdicts found so far. */
  readonly known: Map<string, Possible>;
}

/** Everything known of an agent without running it. */
export interface ProvenAgent {
  readonly name: string;
  readonly agent: Agent;
  readonly definition: AnyDefinition;
  readonly ways: readonly Way[];
  /** The tools of all ways: two skills may have different tools of one name. */
  readonly tools: readonly Tool[];
  readonly limits: Limits;
  /** True if a hook may raise a bound. */
  readonly mayExtend: boolean;
  /** True if a run may be told to take one of several skills. */
  readonly choosing: boolean;
  /** The tools behind which code runs that cannot be read. */
  readonly opaque: readonly string[];
}

const nobody: Model = { id: "nobody", features: { tools: true }, price: () => 0, stream: () => never() };

function never(): never {
  throw new Error("a proof asks no model");
}

/** Reads an agent. @throws WritError `definition-invalid` for a value that `agent()` did not make */
export function subjectOf(agent: Agent): ProvenAgent {
  const definition = definitionOf(agent, "prove");
  const opaque: string[] = [];
  const ways = waysOf(definition, { around: [], opaque });
  const tools = [...new Set(ways.flatMap((way) => [...way.tools.values()]))];
  const { skills = [], selectSkill, hooks = [] } = definition;
  return {
    name: definition.name,
    agent,
    definition,
    ways,
    tools,
    limits: planOf(definition).limits,
    mayExtend: hooks.some(({ onBudgetExceeded }) => onBudgetExceeded !== undefined),
    choosing: skills.length > 1 && selectSkill === undefined,
    opaque,
  };
}

function planOf(definition: AnyDefinition): ReturnType<typeof planAgent> {
  const { onEvent: _onEvent, on: _on, ...rest } = definition;
  return planAgent(rest, { host: { ...nodeHost, warn: () => undefined }, resolveModel: () => nobody });
}

interface Looking {
  /** The skills around the agent; empty for the agent itself. */
  readonly around: readonly string[];
  readonly opaque: string[];
  /** The only tools that it may call there. */
  readonly only?: readonly string[] | undefined;
}

/** The depth below which agents inside are not read. */
const deepest = 8;

function waysOf(definition: AnyDefinition, { around, opaque, only }: Looking): readonly Way[] {
  const { name, grants, skills } = planOf(definition);
  return [...skills.values()].flatMap((skill) => {
    if (skill.type === "plain") return [];
    const { allowed: all, policy } = skill.gate;
    const allowed = only === undefined ? all : restrictList(all, only);
    const { tools } = allowed;
    const names = [...around, skill.name];
    const own: Way = {
      agent: name,
      skill: skill.name,
      skills: names,
      tools,
      policy,
      isInside: around.length > 0,
      described: learnIntent(noIntent(name), allowed).label,
      preapproves: [...tools.values()].find(mayPreapprove)?.name,
      grants,
      known: new Map(),
    };
    const inside = [...tools.values()].flatMap((tool) => insideWays(tool, { opaque, around: names }));
    return [own, ...inside];
  });
}

function insideWays(tool: Tool, { opaque, around }: Looking): readonly Way[] {
  return insideOf(tool).flatMap(({ madeOf, only, hasOthers }) => {
    if (hasOthers === true) opaque.push(tool.name);
    if (madeOf !== undefined && around.length <= deepest)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- agent() keeps its definition there
      return waysOf(madeOf.definition as AnyDefinition, { around, opaque, only });
    opaque.push(tool.name);
    return [];
  });
}

/** True for tools that change the mode of a run; for those of the runtime it is known what they change. */
function mayPreapprove(tool: Tool): boolean {
  if (tool.mode === undefined || tool.plans === true || tool.name === "find_tools") return false;
  const library = libraryOf(tool);
  return library === undefined || (library.honourPreapproval && preapprovesAny(library));
}

function preapprovesAny({
  skills,
}: {
  readonly skills: ReadonlyMap<string, { readonly preapproved: readonly string[] }>;
}): boolean {
  return [...skills.values()].some(({ preapproved }) => preapproved.length > 0);
}
