import { WritError } from "../../error/writ-error.ts";
import type { JsonObject } from "../../util/json.ts";
import { ownError, problemHeaders, problemOf } from "../problems.ts";
import { agentOf, agentsOf, type Asked, json, type Route } from "../route.ts";
import { a2aVersion, baseOf, cardOf, cardPath } from "./card.ts";
import { failed, isOfServer } from "./failures.ts";
import { methods } from "./methods.ts";
import { rpcRequest } from "./schema.ts";
import { A2aRefusal, type RpcId } from "./wire.ts";

/**
 * The routes for clients of A2A 1.0, by JSON-RPC. A context is a session, and each message without a task begins a run of it. A message for a task that waits
 * has answers to its questions.
 */
export const a2aRoutes: readonly Route[] = [
  {
    method: "get",
    path: cardPath,
    summary: "The A2A card of the only agent that the caller may use",
    answer: { status: 200 },
    act: onlyCard,
  },
  {
    method: "get",
    path: `/v1/a2a/{agent}${cardPath}`,
    summary: "The A2A card of an agent",
    answer: { status: 200 },
    act: (asked) => json(cardOf(agentOf(asked), asked, baseOf(asked.request))),
  },
  {
    method: "post",
    path: "/v1/a2a/{agent}",
    summary:
      "A request of A2A 1.0 by JSON-RPC: SendMessage, SendStreamingMessage, GetTask, CancelTask or SubscribeToTask",
    body: rpcRequest,
    answer: { status: 200, orEvents: true },
    failure,
    act: answer,
  },
];

function onlyCard(asked: Asked): Response {
  const [agent, ...others] = agentsOf(asked);
  if (agent === undefined || others.length > 0)
    throw new WritError("request-unknown", {
      what: `route ${cardPath} (each agent has its card: /v1/a2a/<agent>${cardPath})`,
    });
  return json(cardOf(agent, asked, `${baseOf(asked.request)}/v1/a2a/${encodeURIComponent(agent.name)}`));
}

interface RpcRequest {
  readonly id?: RpcId;
  readonly method: string;
  readonly params?: JsonObject;
}

async function answer(asked: Asked): Promise<Response> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { id = null, method, params = {} } = asked.body as unknown as RpcRequest;
  const at = { asked, agent: agentOf(asked), id };
  try {
    checkVersion(asked.request);
    const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (found === undefined) throw new A2aRefusal("METHOD_NOT_FOUND", `there is no method "${method}"`);
    return await found(at, params);
  } catch (error) {
    if (isOfServer(error)) throw error;
    return json(failed(id, ownError(error, asked.caller)));
  }
}

/** Refuses clients of an older version: they send no version, and expect other answers. */
function checkVersion({ headers }: Request): void {
  const version = headers.get("a2a-version") ?? "";
  if (version !== a2aVersion)
    throw new A2aRefusal("VERSION_NOT_SUPPORTED", `the header A2A-Version must be ${a2aVersion}`);
}

/** The answer if there is no request of JSON-RPC to answer, or none that the server can answer now. */
function failure(error: unknown): Response {
  const code = error instanceof Error && error.cause instanceof SyntaxError ? -32700 : -32600; // it is not JSON, or not a request
  return json(failed(null, error, code), problemOf(error).status, problemHeaders(error));
}
