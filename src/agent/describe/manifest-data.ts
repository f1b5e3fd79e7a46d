import type { Budget } from "../../policy/account/budget.ts";
import type { Annotation, Rule } from "../../policy/rules/rule.ts";
import type { EnforcementLevel } from "../../tool/enforcement.ts";
import type { Effect, Tool } from "../../tool/tool.ts";

/**
 * The powers of an agent, as data: everything that widens or narrows them, and nothing that could be a key.
 * The same definition has the same manifest. `compareManifests` tells the meaning of a change.
 *
 * @example
 * ```ts
 * import type { AgentManifest } from "writ/policy";
 *
 * export const tools = ({ skills }: AgentManifest): string[] => Object.values(skills).flatMap(({ tools }) => Object.keys(tools));
 * ```
 */
export interface AgentManifest {
  readonly version: 1;
  readonly agent: string;
  readonly model?: ModelManifest;
  /** The capabilities, of those that its tools declare, that they may use: `net(api.weather.com)`. */
  readonly grants: readonly string[];
  readonly policy: PolicyManifest;
  /** The bounds; a missing one does not bound. */
  readonly budget: Readonly<Partial<Record<keyof Budget, number>>>;
  /** True if it writes memory for later runs. */
  readonly memory: boolean;
  /** The names of its hooks, each with its places. */
  readonly hooks: Readonly<Record<string, readonly string[]>>;
  readonly skills: Readonly<Record<string, SkillManifest>>;
  /** The used tools of each MCP server, with the hashes of what was approved of them. */
  readonly servers: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The model, its address, and whether its requests carry a secret. */
export interface ModelManifest {
  readonly id: string;
  readonly url?: string;
  readonly apiKey?: "masked";
  readonly apiKeyPresent?: boolean;
}

/** The policy that decides about calls. */
export interface PolicyManifest {
  readonly name: string;
  /** The rules, with what they depend on; left out for a function, which cannot be read. */
  readonly rules?: readonly Rule[];
  readonly tools?: Readonly<Record<string, Annotation>>;
  readonly constants?: readonly string[];
  /** The policy that bounds these rules: for each call the stricter of both decides. */
  readonly narrowedBy?: PolicyManifest;
}

/** A skill, and everything that may be called in it. A plain skill is a function, which calls no tools and has no enforcement. */
export interface SkillManifest {
  readonly type: "agentic" | "plain";
  readonly tools: Readonly<Record<string, ToolManifest>>;
}

/** The powers of a tool: its own declarations, and what the policy knows about it. */
export interface ToolManifest {
  readonly kind?: NonNullable<Tool["kind"]>;
  readonly effect: Effect;
  /** Null if its author did not declare them. */
  readonly needs: readonly string[] | null;
  /** The role of each parameter, and the type of its values if declared: `target`, `target email`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** True if its results are as trusted as its arguments: the author says so, or it is knowledge, or only computes in this process. */
  readonly trusted: boolean;
  /** True if the label of the runs inside a call ends with its answer. Left out for other tools. */
  readonly fresh?: true;
  readonly resolves: boolean;
  readonly secrecy: "public" | "private" | readonly string[];
  readonly enforcement: { readonly level: EnforcementLevel; readonly mechanism: string };
  readonly constraints?: { readonly maxCalls?: number; readonly onlyAfter?: readonly string[] };
  /**
   * For a tool of an MCP server: the server, and the hash of its description of the tool. `approved` is left
   * out if nobody approved that.
   */
  readonly mcp?: { readonly server: string; readonly pin: string; readonly approved?: true };
  /** The agents that a call of it runs; null for an agent that cannot be inspected. */
  readonly agents?: Readonly<Record<string, AgentManifest | null>>;
}
