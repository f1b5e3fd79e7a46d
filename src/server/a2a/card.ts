import type { Runnable } from "../../agent/runnable.ts";
import { aboutOf } from "../../agent/runnable.ts";
import type { JsonObject } from "../../util/json.ts";
import { anybody } from "../callers.ts";
import type { Asked } from "../route.ts";

/** The path at which clients of A2A look for the card of an agent. */
export const cardPath = "/.well-known/agent-card.json";

/** The version of the protocol that this server speaks. */
export const a2aVersion = "1.0";

/** The card of an agent: what clients of A2A read before they send it a message. It does not list the agent's tools and skills. */
export function cardOf(agent: Runnable, { caller }: Asked, endpoint: string): JsonObject {
  const { name } = agent;
  const description = agent.description === "" ? `The agent ${name}.` : agent.description;
  const hasSchema = aboutOf(agent)?.input !== undefined;
  const outputs = aboutOf(agent)?.outputs ?? [];
  return {
    name,
    description,
    version: "1",
    supportedInterfaces: [{ url: endpoint, protocolBinding: "JSONRPC", protocolVersion: a2aVersion }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: hasSchema
      ? ["application/json"]
      : ["text/plain", "image/*", "audio/*", "application/pdf"],
    defaultOutputModes: outputs.some((schema) => schema !== undefined)
      ? ["application/json"]
      : ["text/plain"],
    skills: [{ id: name, name, description, tags: ["agent"] }],
    ...(caller === anybody
      ? {}
      : {
          securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
          securityRequirements: [{ schemes: { token: { list: [] } } }],
        }),
  };
}

/**
 * The address of a server as its client reached it, without the path of the card. If a proxy in front of the server speaks TLS, the address is `https` too,
 * because the client sends its token there.
 */
export function baseOf({ headers, url }: Request): string {
  const { protocol, host, pathname } = new URL(url);
  const isSecure =
    protocol === "https:" || headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
  return `${isSecure ? "https" : "http"}://${host}${pathname.slice(0, -cardPath.length)}`;
}
