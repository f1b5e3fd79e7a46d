import { contains, overlaps, readText } from "../../agent/describe/audit-grants.ts";
import { isWritError, messageOf } from "../../error/writ-error.ts";
import { scripted } from "../../model/scripted.ts";
import { type Capability, capabilityText } from "../../tool/capability.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Json } from "../../util/json.ts";
import type { BoundSentence, PowersSentence } from "./sentence.ts";
import { inputOf, played, type Scene } from "./scene.ts";
import type { ProvenAgent, Way } from "./subject.ts";

/** The verdict on a sentence, and its reason. */
export interface Decided {
  readonly verdict: "proved" | "broken" | "undecided";
  readonly because: string;
  readonly scene?: Scene;
  /** The trace of the run that broke it. */
  readonly trace?: string;
}

/** The text of a user whose words do not matter. */
const doIt = "Do it.";

/** The most replies that are written into a script. */
const mostReplies = 400;

/** Decides a sentence about what a run uses. */
export async function decideBound(sentence: BoundSentence, subject: ProvenAgent): Promise<Decided> {
  const { of, most } = sentence;
  const { limits, mayExtend } = subject;
  const limit = limits[of];
  if (limit <= most) {
    if (mayExtend)
      return { verdict: "undecided", because: `a hook of the agent (onBudgetExceeded) may raise \`${of}\`` };
    return { verdict: "proved", because: `the budget has \`${of}: ${limit}\`` };
  }
  const because = `the budget has ${limit === Infinity ? `no \`${of}\`` : `\`${of}: ${limit}\``}`;
  if (of === "tokens" || of === "costUsd")
    return (await asksAgain(sentence, subject))
      ? { verdict: "broken", because }
      : { verdict: "undecided", because: `${because}, and no run was found that uses more` };
  const scene = sceneFor(sentence, subject);
  try {
    const trace = scene && (await played(scene, sentence, subject));
    if (scene !== undefined && trace !== undefined) return { verdict: "broken", because, scene, trace };
  } catch (error) {
    if (!isWritError(error)) throw error;
    return { verdict: "undecided", because: `${because}, and no run can be played: ${messageOf(error)}` };
  }
  return { verdict: "undecided", because: `${because}, and no run was found that has more` };
}

function sceneFor({ of, most }: BoundSentence, subject: ProvenAgent): Scene | undefined {
  const { choosing, ways } = subject;
  if (most >= mostReplies) return undefined;
  const calls = Array.from({ length: Math.floor(most) + 1 }, (_, place) => ({
    name: `no_such_tool_${place + 1}`,
    arguments: {},
  }));
  const [way] = ways;
  const deviations =
    choosing && way !== undefined
      ? ([{ at: "skill 1", does: "proposes", calls: [{ name: way.skill, arguments: {} }] }] as const)
      : [];
  const script = of === "turns" ? calls.map((call) => ({ calls: [call] })) : [{ calls }];
  return {
    input: inputOf(subject, { skill: way?.skill, text: doIt }),
    script,
    results: {},
    schedule: { deviations },
  };
}

/** The beginning of a run that spends: its input, and the skill that it is told to take if it would ask its model for one. */
export interface Spender {
  readonly input: Json;
  readonly skill: string | undefined;
}

/** Makes the beginning of a run that spends. */
export function spenderOf(subject: ProvenAgent): Spender {
  const skill = subject.ways[0]?.skill;
  return { input: inputOf(subject, { skill, text: doIt }), skill: subject.choosing ? skill : undefined };
}

/** True if a model that has used up the bound is asked again. */
async function asksAgain({ of, most }: BoundSentence, subject: ProvenAgent): Promise<boolean> {
  const isTokens = of === "tokens";
  const usage = { inputTokens: isTokens ? Math.ceil(most) : 1, outputTokens: 0 };
  const replies = scripted([{ calls: [{ name: "no_such_tool", arguments: {} }], usage }, "Done."]);
  const model = { ...replies, price: () => (isTokens ? 0 : most) };
  const { input, skill } = spenderOf(subject);
  try {
    const again = subject.agent.with({ model, onEvent: undefined, on: undefined });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an agent that takes another input refuses it
    await again.run(input as never, skill === undefined ? {} : { skill });
  } catch {
    return false;
  }
  return replies.requests.length > 1;
}

/** Decides a sentence about capabilities, from the declarations of tools and the grants of agents. */
export function decidePowers({ within }: PowersSentence, { ways, opaque }: ProvenAgent): Decided {
  const allowed = within.flatMap((text) => readText(text) ?? []);
  const found = ways.flatMap((way) =>
    [...way.tools.values()].map((tool) => beyond(tool, way, { allowed, opaque })),
  );
  const broken = found.find((each) => each?.verdict === "broken");
  return (
    broken ??
    found.find((each) => each !== undefined) ?? {
      verdict: "proved",
      because: "each tool declares its capabilities, and none that is granted goes beyond these",
    }
  );
}

interface Known {
  readonly allowed: readonly Capability[];
  readonly opaque: readonly string[];
}

function beyond(tool: Tool, { grants, skill }: Way, { allowed, opaque }: Known): Decided | undefined {
  const { name, needs, kind, isAgent, effect } = tool;
  if (needs === undefined) {
    if (opaque.includes(name))
      return { verdict: "undecided", because: `nobody can look into what runs behind ${name}` };
    if (kind !== undefined || isAgent === true || effect === "none") return undefined;
    return { verdict: "undecided", because: `${name} declares no \`needs\`: its code may use anything` };
  }
  for (const need of needs)
    for (const grant of grants) {
      if (!overlaps(need, grant) || allowed.some((each) => contains(each, need) || contains(each, grant)))
        continue;
      const because = `${name} of the skill ${skill} needs ${capabilityText(need)}, and ${capabilityText(grant)} is granted`;
      return { verdict: "broken", because };
    }
  return undefined;
}
