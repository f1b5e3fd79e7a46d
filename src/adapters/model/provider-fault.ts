import {
  asObject,
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
} from "../../util/json.ts";

/** A provider's description of a failed request, from the body of a refusal, or from an error in its stream. */
export interface ProviderFault {
  /** The status of the answer, or the one that the error names. */
  readonly status?: number | undefined;
  /** Its names for the kind of error, like `rate_limit_exceeded`: codes, types and reasons. */
  readonly names: readonly string[];
  /** Its text for people; empty if there is none. */
  readonly message: string;
  /** The wait that it asks for. */
  readonly retryAfterMs?: number | undefined;
  /** The text of the model that it could not read as a call. */
  readonly written?: string;
  /** True if it is known that a repetition will not help. */
  readonly isLasting?: boolean;
}

/**
 * Reads an error, given as the text of a body or as a value. Each provider has its own form: a
 * text, fields side by side or nested, a list, or the error of another provider inside.
 */
export function readFault(said: unknown): ProviderFault {
  const value = typeof said === "string" ? jsonOf(said) : said;
  if (Array.isArray(value) && value.length > 0) return readFault(value[0]);
  if (!isJsonObject(value)) return { names: [], message: typeof said === "string" ? shown(said) : "" };
  const { response } = value;
  const error = (isJsonObject(response) ? response["error"] : undefined) ?? value["error"] ?? value;
  const fields: JsonObject = isJsonObject(error) ? error : typeof error === "number" ? { code: error } : {};
  const message = wordsIn(error) ?? wordsIn(value) ?? excerpt(JSON.stringify(error));
  const { failed_generation: written, details } = fields;
  const detailed = isJsonList(details) ? details.filter(isJsonObject) : [];
  const fault = {
    status: statusIn(fields) ?? statusIn(value),
    names: [value, fields, ...detailed].flatMap(namesIn),
    ...(typeof written === "string" ? { message, written } : unreadCall(message)),
    retryAfterMs: detailed.map(waitIn).find((wait) => wait !== undefined),
  };
  return withUpstream(fault, fields["metadata"]);
}

/** The message of a fault, and the text of the model in it: Ollama and llama.cpp quote a call there that they could not read. */
function unreadCall(message: string): Pick<ProviderFault, "message" | "written"> {
  const ollama = /^(error parsing tool call: )raw='(.*)', err=(.*)$/s.exec(message);
  if (ollama !== null) return { message: `${ollama[1]}${ollama[3]}`, written: ollama[2] ?? "" };
  const llamaCpp = /^(Failed to parse input at pos \d+): (.*)$/s.exec(message);
  return llamaCpp === null ? { message } : { message: llamaCpp[1] ?? "", written: llamaCpp[2] ?? "" };
}

function namesIn({ code, type, status, reason }: JsonObject): readonly string[] {
  return [code, type, status, reason].filter((name) => typeof name === "string");
}

function jsonOf(text: string): Json | undefined {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/** The text of an error, which may be the error itself, a field, or a list of faults with their places. */
function wordsIn(said: unknown): string | undefined {
  if (typeof said === "string") return said === "" ? undefined : said;
  if (Array.isArray(said)) return excerpt(JSON.stringify(said));
  if (!isJsonObject(said)) return undefined;
  const { message, detail, msg, Message } = said;
  return wordsIn(message ?? detail ?? msg ?? Message);
}

/** Adds the error of the provider behind the one that was asked: OpenRouter passes it on as it came. */
function withUpstream(fault: ProviderFault, metadata: Json | undefined): ProviderFault {
  const { raw, provider_name: name } = asObject(metadata);
  if (raw === undefined || raw === null) return fault;
  const { message, names, status, retryAfterMs } = readFault(raw);
  const said = typeof name === "string" ? `${name} said: ${message}` : message;
  return {
    ...fault,
    status: fault.status ?? status,
    names: [...fault.names, ...names],
    message: `${fault.message}: ${said}`,
    retryAfterMs: fault.retryAfterMs ?? retryAfterMs,
  };
}

function statusIn({ status_code, code, status }: JsonObject): number | undefined {
  return [status_code, code, status].map(Number).find((number) => number >= 400 && number < 600);
}

/** The wait of Google, written as `34.4s` in a detail of its own. */
function waitIn({ retryDelay }: JsonObject): number | undefined {
  const seconds = typeof retryDelay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** A text as a message quotes it; for a web page its title. */
export function shown(text: string): string {
  const said = text.trim();
  if (!/^<(?:!doctype|html|head|\?xml)/i.test(said)) return excerpt(said);
  const title = /<title[^>]*>([^<]*)/i.exec(said)?.[1]?.trim();
  return title === undefined || title === "" ? excerpt(said) : `a web page, "${excerpt(title)}"`;
}

/** The beginning of a text, for a message. */
export function excerpt(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
