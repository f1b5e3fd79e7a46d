import { unknownTool } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { isPlain, joinLabels, joinSecrecy, trustedLabel } from "../../message/label.ts";
import type { ValueType } from "../../tool/parameters.ts";
import type { Effect, Tool } from "../../tool/tool.ts";
import { type AllowList, withCounted } from "../allow-list.ts";
import type { Policy } from "../decision.ts";
import { countedBy, type DeclaredPolicy, rulePolicyOf } from "./identity.ts";
import { narrowedParts } from "./narrowed-parts.ts";
import type { Annotation } from "./rule.ts";

/**
 * The tools of a skill with the annotations of the agent's policy: an author knows more about a stranger's tool than the stranger says. A policy that narrows
 * it only takes away.
 */
export function annotated(list: AllowList, policy: Policy): AllowList {
  const [own, ...by] = saidBy(policy);
  return heldTo(own === undefined ? list : changed(list, own, annotate), by);
}

/** The same tools in a run inside others, restricted by the policies of those: trust, and who may learn results. Those policies count calls there too. */
export function heldTo(list: AllowList, around: readonly Said[] = []): AllowList {
  return around.reduce((held, said) => changed(held, said, tighten), list);
}

/** A policy's annotations of tools, and the tools whose calls it counts. */
export type Said = Pick<DeclaredPolicy, "tools" | "counted">;

/** The words of one policy, read once: its annotations, as the list that those of runs inside are added to, and the values that its author vouches for. */
export interface PolicyWords extends Pick<DeclaredPolicy, "constants"> {
  readonly said: readonly Said[];
}

/** The words of a policy; a function has none that are known. */
export function wordsOf(policy: Policy): PolicyWords {
  const said = saidBy(policy).filter(
    ({ counted, tools }) => counted.length > 0 || Object.keys(tools).length > 0,
  );
  return { said, constants: rulePolicyOf(policy)?.constants ?? [] };
}

function saidBy(policy: Policy): readonly Said[] {
  const parts = narrowedParts(policy);
  if (parts !== undefined) return parts.flatMap(saidBy);
  return [{ tools: rulePolicyOf(policy)?.tools ?? {}, counted: countedBy(policy) }];
}

function changed(
  list: AllowList,
  { tools: said, counted }: Said,
  change: (tool: Tool, said: Annotation) => Tool,
): AllowList {
  const tools = new Map(
    [...list.tools].map(([name, tool]) => {
      const about = Object.hasOwn(said, name) ? said[name] : undefined;
      return [name, about === undefined ? tool : change(tool, about)];
    }),
  );
  return withCounted({ ...list, tools }, counted.includes("*") ? [...tools.keys()] : counted);
}

function annotate(tool: Tool, said: Annotation): Tool {
  const parameters = { ...tool.parameters, ...said.parameters };
  return { ...tool, ...asTool(said), ...atBest(said, tool), parameters };
}

/** The best label that this annotation, and those before it, leave to results of the tool. */
function atBest({ trusted, secrecy }: Annotation, tool: Tool): Pick<Tool, "atBest"> {
  const integrity = trusted === false ? "untrusted" : "trusted";
  const label = { integrity, secrecy: secrecy ?? "public", sources: [`tool/${tool.name}`] } as const;
  return isPlain(label) ? {} : { atBest: joinLabels(tool.atBest ?? trustedLabel, label) };
}

/** An annotation in the form of a tool's own fields. */
export function asTool({ trusted, ...said }: Annotation): Omit<Annotation, "trusted"> & TrustOfTool {
  if (trusted === undefined) return said;
  return typeof trusted === "object"
    ? { ...said, trusted: true, trustedForm: trusted.of }
    : { ...said, trusted, trustedForm: undefined };
}

type TrustOfTool = Pick<Tool, "trusted" | "trustedForm">;

/** The trust that an annotation removes. */
export function takenBy({ trusted, resolves }: Annotation): Pick<Tool, "trusted" | "resolves"> {
  return { ...(trusted === false ? { trusted } : {}), ...(resolves === false ? { resolves } : {}) };
}

function tighten(tool: Tool, said: Annotation): Tool {
  const { secrecy, effect } = said;
  return {
    ...tool,
    ...takenBy(said),
    ...atBest(said, tool),
    ...(typeof said.trusted === "object" ? inBothForms(said.trusted.of, tool) : {}),
    ...(secrecy === undefined ? {} : { secrecy: joinSecrecy(tool.secrecy ?? "public", secrecy) }),
    ...(effect !== undefined && strength[effect] > strength[tool.effect] ? { effect } : {}),
  };
}

/** The trust of a result that must have two forms: if they differ, it is not trusted in any form. */
function inBothForms(of: ValueType, { trustedForm = of }: TrustOfTool): TrustOfTool {
  return trustedForm === of ? { trustedForm: of } : { trusted: false, trustedForm: undefined };
}

/** The strength of effects. An undeclared effect may be anything, so it is the strongest. */
const strength: Readonly<Record<Effect, number>> = {
  none: 0,
  read: 1,
  write: 2,
  irreversible: 3,
  undeclared: 4,
};

/** Checks the tools of a skill that a policy names: it was measured with these tools only. @throws WritError `definition-invalid` */
export function checkPolicySkill(policy: Policy, { skill, tools }: AllowList, agent: string): void {
  const { skills = {}, name } = rulePolicyOf(policy) ?? {};
  const listed = Object.hasOwn(skills, skill) ? skills[skill] : undefined;
  const more =
    listed && [...tools.values()].find((tool) => tool.kind === undefined && !listed.includes(tool.name));
  if (more === undefined) return;
  const reason = `its skill "${skill}" lists "${more.name}", and \`skills.${skill}\` of the policy "${name}" does not.`;
  throw new WritError("definition-invalid", { where: `Agent "${agent}"`, reason });
}

/** Checks that the tools that rules name exist: a rule for a missing tool restricts nothing. @throws WritError `tool-unknown` */
export function checkPolicyNames(policy: Policy, known: readonly string[], agent: string): void {
  const declared = rulePolicyOf(policy);
  if (declared === undefined) return;
  const { skills = {} } = declared;
  const named = [
    ...Object.keys(declared.tools),
    ...declared.rules.flatMap((rule) => rule.tools),
    ...Object.values(skills).flat(),
  ];
  const unknown = named.find((name) => name !== "*" && !known.includes(name));
  if (unknown === undefined) return;
  const where = `The policy "${declared.name}" of agent "${agent}"`;
  throw unknownTool(where, unknown, known);
}
