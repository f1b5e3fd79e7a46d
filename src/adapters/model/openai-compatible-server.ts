import { isJsonList, isJsonObject, type Json, parseJson } from "../../util/json.ts";
import { bounded, refusalOf } from "./http-reply.ts";
import type { OpenaiServer } from "./openai-compatible-address.ts";

/** Sends a request for a reply. @throws RefusedRequest if the server's status is a failure; the error of `fetch` */
export async function postChat(server: OpenaiServer, body: object, signal: AbortSignal): Promise<Response> {
  const response = await server.fetch(`${server.url}/chat/completions${server.search}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", ...server.headers },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** The time for the server to say what it is and has, because a run waits for the answer. */
const adviceTimeoutMs = 2_000;
const maxAdviceBytes = 8 * 1024 * 1024;

/** The JSON at an address of the server; undefined if the server sends none. */
async function getJson(server: OpenaiServer, url: string, signal: AbortSignal): Promise<Json | undefined> {
  try {
    const response = await server.fetch(url, {
      headers: { ...server.headers },
      signal: AbortSignal.any([signal, AbortSignal.timeout(adviceTimeoutMs)]),
    });
    if (!response.ok || response.body === null) return undefined;
    const text = await new Response(response.body.pipeThrough(bounded(maxAdviceBytes))).text();
    const parsed = parseJson(text);
    return parsed.ok ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}

/** The names of the server's models; undefined if it does not say. */
export async function modelNames(
  server: OpenaiServer,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const listed = await getJson(server, `${server.url}/models${server.search}`, signal);
  const models = isJsonObject(listed) ? listed["data"] : undefined;
  if (!isJsonList(models)) return undefined;
  return models.flatMap((model) =>
    isJsonObject(model) && typeof model["id"] === "string" ? [model["id"]] : [],
  );
}

/** The abilities that llama.cpp reports. */
export interface LlamaCppServer {
  /**
   * False if the model's chat template knows no tools, which the server then drops silently. Undefined:
   * unknown.
   */
  readonly tools?: boolean;
}

/** True if llama.cpp itself sent the answer. */
export function isFromLlamaCpp({ headers }: Response): boolean {
  return /^llama\.cpp\b/i.test(headers.get("server") ?? "");
}

/** Asks the server whether it is llama.cpp, and what it can do; undefined if it is another server. */
export async function askLlamaCpp(
  server: OpenaiServer,
  model: string,
  signal: AbortSignal,
): Promise<LlamaCppServer | undefined> {
  const url = `${server.url.replace(/\/v1$/, "")}/props?model=${encodeURIComponent(model)}`;
  const props = await getJson(server, url, signal);
  if (!isJsonObject(props) || !isJsonObject(props["default_generation_settings"])) return undefined;
  const { chat_template_caps: can } = props;
  const tools = isJsonObject(can) ? can["supports_tools"] : undefined;
  return typeof tools === "boolean" ? { tools } : {};
}
