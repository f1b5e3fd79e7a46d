import { checkShape, closed, webAddress } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { list, oneOf, optional, shapeOf, string } from "../../util/shape.ts";

/**
 * The offer of an MCP server. By default each agent is a tool; the author names everything else that is offered.
 *
 * @example
 * ```ts
 * import type { McpOffer } from "writ/server";
 *
 * export const offer: McpOffer = { tools: ["refund"], knowledge: true, approvals: "wait" };
 * ```
 */
export interface McpOffer {
  /** The agents that are tools: these names, or all of them. Default: all. */
  readonly agents?: readonly string[] | true;
  /** The tools of the agents that clients may call one by one: these names, or all of them. Default: none. */
  readonly tools?: readonly string[] | true;
  /** The knowledge of the agents that clients may read as resources: these names, or all of it. Default: none. */
  readonly knowledge?: readonly string[] | true;
  /** The agentic skills whose instructions clients get as prompts: these names, or all of them. Default: none. */
  readonly skills?: readonly string[] | true;
  /**
   * The handling of questions that a policy asks. `refuse`: the person at the client is asked (elicitation); if a client cannot ask, the answer is no.
   * `wait`: the same, but if a client cannot ask, the run waits for an answer from elsewhere (`writ approvals`, `POST /runs/{id}/answers`). `elsewhere`:
   * the client is never asked. Default `refuse`.
   */
  readonly approvals?: "refuse" | "wait" | "elsewhere";
}

/** The offer of a server over HTTP. */
export interface McpOptions extends McpOffer {
  /** Tells clients where they get tokens by OAuth (RFC 9728). `principals` of the server decides which tokens are valid. Default: clients are told nothing. */
  readonly authorization?: McpAuthorization;
}

/**
 * The place of an MCP endpoint in OAuth. `principals`, as a function, must check that a token was made for this resource and has not
 * expired.
 *
 * @example
 * ```ts
 * import type { McpAuthorization } from "writ/server";
 *
 * export const authorization: McpAuthorization = {
 *   resource: "https://agents.example/mcp",
 *   servers: ["https://login.example"],
 *   scopes: ["agents"],
 * };
 * ```
 */
export interface McpAuthorization {
  /** The address of the endpoint that clients use. */
  readonly resource: string;
  /** The authorization servers that make tokens for it. */
  readonly servers: readonly string[];
  /** The scopes that clients ask for. Default: none are named. */
  readonly scopes?: readonly string[];
}

const names = shapeOf(
  "a list of names, or true",
  (value) => value === true || (Array.isArray(value) && value.every((name) => typeof name === "string")),
);
const shape = closed({
  agents: optional(names),
  tools: optional(names),
  knowledge: optional(names),
  skills: optional(names),
  approvals: optional(oneOf("refuse", "wait", "elsewhere")),
  authorization: optional(
    closed({
      resource: webAddress,
      servers: list(webAddress, "a list of addresses"),
      scopes: optional(list(string, "a list of names")),
    }),
  ),
});

/** @throws WritError `definition-invalid` */
export function checkMcp(options: McpOptions, hasPrincipals: boolean): void {
  const where = "The MCP options of a server";
  checkShape(where, options, shape);
  if (options.authorization === undefined || hasPrincipals) return;
  const reason = "`authorization` needs `principals`, else anybody may come in.";
  throw new WritError("definition-invalid", { where, reason });
}
