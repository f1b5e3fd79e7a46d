import type { Budget } from "../../policy/account/budget.ts";
import type { Annotation, Rule } from "../../policy/rules/rule.ts";
import type { EnforcementLevel } from "../../tool/enforcement.ts";
import type { Effect, Tool } from "../../tool/tool.ts";

/**
 * What an agent may do, as data: everything that widens or narrows its powers, and nothing that could be a key. The same definition gives the
 * same manifest. `compareManifests` says what a change means.
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
  /** What its tools may use of the world, where they declare it: `net(api.weather.com)`. */
  readonly grants: readonly string[];
  readonly policy: PolicyManifest;
  /** The bounds that there are; one that is not here does not bound. */
  readonly budget: Readonly<Partial<Record<keyof Budget, number>>>;
  /** Whether it writes down things for later runs. */
  readonly memory: boolean;
  /** The names of its hooks, each with its places. */
  readonly hooks: Readonly<Record<string, readonly string[]>>;
  readonly skills: Readonly<Record<string, SkillManifest>>;
  /** The tools of each MCP server that are used, with the hashes of what was approved of them. */
  readonly servers: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Which model, where it is asked, and whether something secret goes with each request. */
export interface ModelManifest {
  readonly id: string;
  readonly url?: string;
  readonly apiKey?: "masked";
  readonly apiKeyPresent?: boolean;
}

/** What decides about calls. */
export interface PolicyManifest {
  readonly name: string;
  /** The rules with what they stand on; left out for a function, which nobody can look into. */
  readonly rules?: readonly Rule[];
  readonly tools?: Readonly<Record<string, Annotation>>;
  readonly constants?: readonly string[];
}

/** A way of working, and all that may be called in it. A plain skill is a function, which calls no tools and is held by nothing. */
export interface SkillManifest {
  readonly type: "agentic" | "plain";
  readonly tools: Readonly<Record<string, ToolManifest>>;
}

/** What a tool may do, with what the policy knows of it beside what it says itself. */
export interface ToolManifest {
  readonly kind?: NonNullable<Tool["kind"]>;
  readonly effect: Effect;
  /** Null where its author did not say. */
  readonly needs: readonly string[] | null;
  /** The role of each, and the type of its values where one is declared: `target`, `target email`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly trusted: boolean;
  /** What the runs inside a call have read ends with its answer. Left out where it does not. */
  readonly fresh?: true;
  readonly resolves: boolean;
  readonly secrecy: "public" | "private" | readonly string[];
  readonly enforcement: { readonly level: EnforcementLevel; readonly mechanism: string };
  readonly constraints?: { readonly maxCalls?: number; readonly onlyAfter?: readonly string[] };
  /** Where it is a tool of an MCP server: the server, and the hash of what it says of the tool. `approved` is left out where nobody approved that. */
  readonly mcp?: { readonly server: string; readonly pin: string; readonly approved?: true };
  /** The agents that a call of it runs; null for one that cannot be looked into. */
  readonly agents?: Readonly<Record<string, AgentManifest | null>>;
}
