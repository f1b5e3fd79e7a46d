import { rulePolicyOf } from "../../policy/rules/identity.ts";
import { isPlain } from "../../message/label.ts";
import { describedLabel, isOwn } from "../../policy/knowledge/result-label.ts";
import { type Capability, capabilityText } from "../../tool/capability.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Audit, AuditFinding, SkillAudit } from "./audit-data.ts";
import { overlaps } from "./audit-grants.ts";
import { skeletonOf } from "./audit-look-alike.ts";
import { policyOf } from "./manifest.ts";
import { toolEnforcement } from "./tool-enforcement.ts";
import { insideOf, originOf } from "./manifest-origin.ts";
import type { AgentPlan } from "../plan.ts";
import type { AnyDefinition } from "../definition.ts";

/**
 * Audits an agent that was checked, without running it and without looking at this machine.
 *
 * The Rule of Two: of strangers' words (A), access to private data (B), and a change or a way out (C), at most two should meet in one skill, unless a person
 * watches. Without B, strangers' words that can change something are reported too. `only` leaves out tools that are not called.
 */
export function auditOf(plan: AgentPlan, definition: AnyDefinition, only?: readonly string[]): Audit {
  const grants = definition.grants ?? [];
  const about: Around = { grants, guardsAll: rulePolicyOf(policyOf(plan, definition)) !== undefined };
  const skills = [...plan.skills.values()].flatMap((skill) =>
    skill.type === "agentic" ? [{ name: skill.name, tools: toolsOf(skill.gate.allowed.tools, only) }] : [],
  );
  const audits = skills.map(({ name, tools }) => [name, auditSkill(tools, grants)] as const);
  const all = skills.flatMap(({ tools }) => tools);
  const findings = [
    ...audits.flatMap(([name, audit]) => ruleOfTwo(name, audit)),
    ...grants.flatMap(wideGrant),
    ...skills.flatMap(({ name, tools }) => [
      ...tools.flatMap((tool) => ofTool(tool, name, about)),
      ...lookAlikes(tools, name),
    ]),
    ...grants
      .filter((grant) => !all.some((tool) => (tool.needs ?? []).some((need) => overlaps(need, grant))))
      .map(unused),
  ];
  return {
    agent: plan.name,
    skills: Object.fromEntries(audits),
    findings: findings.toSorted((a, b) => order[a.severity] - order[b.severity]),
  };
}

const order: Readonly<Record<AuditFinding["severity"], number>> = { high: 0, medium: 1, low: 2 };

/** The facts that all tools of an agent share. */
interface Around {
  readonly grants: readonly Capability[];
  /** True if its policy guards undeclared effects too. */
  readonly guardsAll: boolean;
}

function toolsOf(tools: ReadonlyMap<string, Tool>, only: readonly string[] | undefined): readonly Tool[] {
  return [...tools.values()].filter(({ name }) => only?.includes(name) ?? true);
}

function auditSkill(tools: readonly Tool[], grants: readonly Capability[]): SkillAudit {
  const parts = tools.flatMap((tool) => [auditTool(tool, grants), ...inside(tool)]);
  return {
    untrustedInput: parts.flatMap(({ untrustedInput }) => untrustedInput),
    sensitiveAccess: parts.flatMap(({ sensitiveAccess }) => sensitiveAccess),
    stateChange: parts.flatMap(({ stateChange }) => stateChange),
    wayOut: parts.flatMap(({ wayOut }) => wayOut),
  };
}

/** The audits of the agents that a call of the tool runs: their acts count as the skill's. */
function inside(tool: Tool): readonly SkillAudit[] {
  return insideOf(tool).flatMap(({ name, audit, only }) => {
    const known = audit?.(only);
    if (known === undefined) return [];
    const behind = (reasons: readonly string[]): string[] =>
      reasons.map((reason) => `${tool.name} runs the agent ${name}: ${reason}`);
    return Object.values(known.skills).map((skill) => ({
      untrustedInput: tool.isFresh === true ? [] : behind(skill.untrustedInput),
      sensitiveAccess: behind(skill.sensitiveAccess),
      stateChange: behind(skill.stateChange),
      wayOut: behind(skill.wayOut),
    }));
  });
}

function auditTool(tool: Tool, grants: readonly Capability[]): SkillAudit {
  const { name, kind, effect, secrecy = "public" } = tool;
  const reach = (tool.needs ?? []).filter((need) => grants.some((grant) => overlaps(need, grant)));
  const using = (...kinds: readonly Capability["kind"][]): string[] =>
    reach.filter((need) => kinds.includes(need.kind)).map((need) => `${name} has ${capabilityText(need)}`);
  const origin = originOf(tool);
  const isFront = insideOf(tool).some(({ audit }) => audit !== undefined);
  return {
    untrustedInput: [
      ...(isOwn(tool) ? [] : [`${name} gives untrusted results`]),
      ...(origin === undefined || isPlain(describedLabel(tool))
        ? []
        : [`nobody approved what the server ${origin.server} says of ${name}`]),
    ],
    sensitiveAccess: [
      ...(secrecy === "public" ? [] : [`${name} gives what not everybody may know`]),
      ...(kind === "memory" && effect === "read" ? [`${name} gives what earlier runs wrote down`] : []),
      ...using("fs.read", "env", "secret"),
    ],
    stateChange: [
      ...(kind === undefined && (effect === "write" || effect === "irreversible")
        ? [`${name} has the effect ${effect}`]
        : []),
      ...(isUndeclared(tool) && !isFront ? [`${name} declares no effect`] : []),
      ...using("fs.write", "exec"),
    ],
    wayOut: [
      ...(origin === undefined ? [] : [`${name} sends its arguments to the server ${origin.server}`]),
      ...using("net", "exec"),
    ],
  };
}

function isUndeclared({ effect, kind }: Tool): boolean {
  return effect === "undeclared" && kind === undefined;
}

function ruleOfTwo(skill: string, audit: SkillAudit): readonly AuditFinding[] {
  const {
    untrustedInput: [a],
    sensitiveAccess: [b],
    stateChange: [change],
    wayOut: [way],
  } = audit;
  const c = change ?? way;
  if (a !== undefined && b !== undefined && c !== undefined)
    return [
      {
        severity: "high",
        rule: "lethal-trifecta",
        skill,
        message: `Strangers' words can reach what is private and act on it: ${a}; ${b}; ${c}.`,
        advice:
          "Divide the skill so that at most two of the three meet, or let a policy ask a person about what comes after untrusted data.",
      },
    ];
  if (a === undefined || change === undefined) return [];
  return [
    {
      severity: "medium",
      rule: "untrusted-change",
      skill,
      message: `Strangers' words can lead to a change: ${a}; ${change}.`,
      advice:
        "Declare effects and roles of parameters, so that calls after untrusted data are allowed only for what the user chose, or divide the skill.",
    },
  ];
}

const shells: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "zsh",
  "dash",
  "env",
  "node",
  "python",
  "python3",
  "perl",
  "ruby",
  "sudo",
]);

/** The finding for a grant that leaves out nothing, or nothing that matters. */
function wideGrant(grant: Capability): readonly AuditFinding[] {
  const { kind, scope } = grant;
  const program = scope.slice(scope.lastIndexOf("/") + 1);
  const isWide =
    /(?:^|\/)\*(?::\d+)?$/.test(scope) ||
    ((kind === "fs.read" || kind === "fs.write") && /^\/(?:etc|home|root|usr|var)?$/.test(scope)) ||
    (kind === "exec" && shells.has(program));
  if (!isWide) return [];
  return [
    {
      severity: "high",
      rule: "wide-grant",
      message: `The grant ${capabilityText(grant)} leaves nearly nothing out.`,
      advice: "Grant what the tools need: hosts, folders and programs by their names.",
    },
  ];
}

function ofTool(tool: Tool, skill: string, { grants, guardsAll }: Around): readonly AuditFinding[] {
  const about = { skill, tool: tool.name };
  const lacking = (tool.needs ?? []).filter((need) => !grants.some((grant) => overlaps(need, grant)));
  return [
    ...(isUndeclared(tool) ? [{ ...undeclared(tool.name, guardsAll), ...about }] : []),
    ...(isOwn(tool) ? [] : unenforced(tool).map((finding) => ({ ...finding, ...about }))),
    ...lacking.map((need) => ({
      severity: "low" as const,
      rule: "need-not-granted" as const,
      ...about,
      message: `${tool.name} needs ${capabilityText(need)}, and no grant has it: a call that uses it fails.`,
      advice: "Grant it, or take the need away.",
    })),
  ];
}

function undeclared(name: string, guardsAll: boolean): AuditFinding {
  const guard = guardsAll
    ? "the policy takes it for one that changes something"
    : "nothing guards it after untrusted data";
  return {
    severity: guardsAll ? "low" : "medium",
    rule: "effect-undeclared",
    message: `${name} declares no effect: ${guard}.`,
    advice:
      "Declare `effect` (none, read, write or irreversible), or say it in the policy. `strict()` guards such tools too.",
  };
}

function unenforced(tool: Tool): readonly AuditFinding[] {
  const { level } = toolEnforcement(tool);
  if (level !== "none" && level !== "remote") return [];
  const isRemote = level === "remote";
  const why = isRemote
    ? "runs elsewhere: nothing that it does can be enforced here"
    : tool.unenforced === undefined
      ? "runs in this process and declares no needs: nothing that it does is checked"
      : "may run where nothing isolates it: nothing that it does is checked";
  const advice = isRemote
    ? "Pin it, and say its effect and the roles of its parameters yourself."
    : "Declare `needs` and use the handles of its context, or isolate it.";
  return [{ severity: "low", rule: "unenforced", message: `${tool.name} ${why}.`, advice }];
}

/** The findings for names that look alike. Two of the author's own tools are the author's business. */
function lookAlikes(tools: readonly Tool[], skill: string): readonly AuditFinding[] {
  const groups = Map.groupBy(tools, ({ name }) => skeletonOf(name));
  return [...groups.values()].flatMap((group) => {
    const second = group.findLast((tool) => originOf(tool) !== undefined);
    const first = group.find((tool) => tool !== second);
    if (first === undefined || second === undefined) return [];
    return [
      {
        severity: "high" as const,
        rule: "look-alike" as const,
        skill,
        tool: second.name,
        message: `${second.name} can be taken for ${first.name}, and one of them is a server's.`,
        advice: "Take only one of them into the skill.",
      },
    ];
  });
}

function unused(grant: Capability): AuditFinding {
  return {
    severity: "low",
    rule: "grant-unused",
    message: `No tool needs the grant ${capabilityText(grant)}.`,
    advice: "Take it away.",
  };
}
