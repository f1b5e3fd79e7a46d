import { isWritError } from "../../error/writ-error.ts";
import type { JsonObject } from "../../util/json.ts";
import { problemOf, statusOf } from "../problems.ts";
import { A2aRefusal, type RpcId } from "./wire.ts";

/** True for an error that the server answers with an HTTP status of its own, false for one that refuses the request of JSON-RPC. */
export function isOfServer(error: unknown): boolean {
  if (error instanceof A2aRefusal) return false;
  const status = statusOf(error);
  return status === undefined || status >= 500 || status === 429;
}

/** The answer of JSON-RPC to a failed request. `otherwise` is the code of an error for which the protocol has none. */
export function failed(id: RpcId, error: unknown, otherwise = -32602): JsonObject {
  if (error instanceof A2aRefusal) {
    const { code, message, reason } = error;
    return rpcError(id, { code, message, reason, domain: "a2a-protocol.org" });
  }
  if (isWritError(error, "run-missing"))
    return failed(id, new A2aRefusal("TASK_NOT_FOUND", "there is no such task"));
  const { code: name, detail, title: message } = problemOf(error);
  const reason = name.toUpperCase().replaceAll("-", "_");
  const code = isOfServer(error) ? -32603 : otherwise;
  return rpcError(id, { code, message: detail ?? message, reason, domain: "writ" });
}

interface RpcFault {
  readonly code: number;
  readonly message: string;
  readonly reason: string;
  readonly domain: string;
}

/** An error of JSON-RPC, with its reason in the form of A2A (`google.rpc.ErrorInfo`). */
function rpcError(id: RpcId, { code, message, reason, domain }: RpcFault): JsonObject {
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain };
  return { jsonrpc: "2.0", id, error: { code, message, data: [info] } };
}
