import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { ModelRequest } from "../model/model.ts";
import { type Json, wholeJson } from "../util/json.ts";
import { isAddress, readDataUrl } from "../util/media.ts";

/** The place of the values to hide. A service can send back the secret it was sent: results of tools and requests to models pass through here. */
type Where = Pick<Host, "powers">;
type Scrub = (text: string) => string;

function scrubOf({ powers }: Where): Scrub | undefined {
  return powers?.holdsSecrets === true ? (text) => powers.scrub(text) : undefined;
}

/** Plain data without the values of secrets: a copy of each part that holds one, and every other part as it is. */
export function withoutSecrets<Value>(value: Value, where: Where): Value {
  const scrub = scrubOf(where);
  return scrub === undefined ? value : clean(value, scrub);
}

/**
 * A value that code of a call hands to a run that a store keeps, without secrets: a process that carries it out need not know them. Outside of calls the value
 * stays as it is, so that the same start finds the same run.
 */
export function handedOver<Value>(value: Value, where: Where): Value {
  return where.powers?.current() === undefined ? value : withoutSecrets(value, where);
}

/**
 * A request to a model without secrets, wherever they came in: tools, and the form of the reply, can be made of texts of a service too. Its settings
 * stay. It is only looked through if there are secrets: otherwise nobody may need its messages as a list.
 */
export function requestWithoutSecrets(request: ModelRequest, where: Where): ModelRequest {
  if (where.powers?.holdsSecrets !== true) return request;
  const { settings, ...told } = request;
  return { ...withoutSecrets(told, where), settings };
}

/** A number that is a secret becomes a string, which the type does not say. */
function clean<Value>(value: Value, scrub: Scrub): Value;
function clean(value: unknown, scrub: Scrub): unknown {
  if (typeof value === "string") return scrub(value);
  if (typeof value === "number") return scrub(String(value)) === String(value) ? value : scrub(String(value));
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value.map((each: unknown) => clean(each, scrub));
    return list.every((each, place) => each === value[place]) ? value : list;
  }
  let isClean = true;
  const fields = Object.entries(value).map(([key, field]: [string, unknown]) => {
    const isData = key === "data" && typeof field === "string" && "type" in value && value.type === "file";
    const told = [scrub(key), isData ? cleanData(field, scrub) : clean(field, scrub)] as const;
    isClean &&= told[0] === key && told[1] === field;
    return told;
  });
  return isClean ? value : Object.fromEntries(fields);
}

/** The data of a file: of base64 its bytes are cleaned, since nobody could decode it with a mark inside. */
function cleanData(data: string, scrub: Scrub): string {
  const clean = scrub(data);
  const base64 = readDataUrl(data)?.data ?? (isAddress(data) ? "" : data);
  if (clean === data || base64 === "") return clean;
  try {
    const told = `${data.slice(0, -base64.length)}${btoa(scrub(atob(base64)))}`;
    return scrub(told) === told ? told : clean;
  } catch {
    return clean;
  }
}

/** The progress that a tool reported, without secrets: a copy, since the tool may change its own. A value that is not JSON becomes null. */
export function toldProgress(value: Json, where: Where): Json {
  const json = wholeJson(value);
  return json.ok ? withoutSecrets(json.value, where) : null;
}

/**
 * A thrown value without secrets: it is printed, kept and shown to models. If a secret is anywhere in it
 * (its message, its causes, its fields), another error takes its place, with the same name and code,
 * the same message but for the secret, and equally clean causes. Its other fields are dropped.
 */
export function errorWithoutSecrets(thrown: unknown, where: Where): unknown {
  const scrub = scrubOf(where);
  return scrub === undefined ? thrown : cleanError(thrown, scrub);
}

/** The longest chain of causes that is kept. */
const deepest = 16;

/** The same by a function that takes them out of a text. */
export function cleanError(thrown: unknown, scrub: Scrub, depth = 0): unknown {
  if (!holdsSecret(thrown, scrub)) return thrown;
  const words = scrub(messageOf(thrown));
  try {
    if (!(thrown instanceof Error)) return typeof thrown === "string" ? words : new Error(words);
    const cause = depth === deepest ? undefined : cleanError(thrown.cause, scrub, depth + 1);
    const error = isWritError(thrown) ? sameCode(thrown, cause, scrub) : sameName(thrown, cause, scrub);
    if (typeof thrown.stack === "string") error.stack = scrub(thrown.stack);
    return error;
  } catch {
    return new Error(words);
  }
}

function sameCode(thrown: WritError, cause: unknown, scrub: Scrub): Error {
  const { code, data, retryable, retryAfterMs } = thrown;
  const more = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new WritError(code, clean(data, scrub), { cause, retryable, ...more });
}

function sameName({ name, message }: Error, cause: unknown, scrub: Scrub): Error {
  const error = new Error(scrub(message), cause === undefined ? undefined : { cause });
  return Object.defineProperty(error, "name", { value: scrub(name), configurable: true, writable: true });
}

/** The most parts of an error to look through. Errors of some libraries hold half the program; a larger one counts as holding a secret. */
const mostParts = 1000;

/**
 * True if a secret is anywhere in a value, as far as a print of it would show. A value that
 * cannot be inspected may hold anything.
 */
function holdsSecret(value: unknown, scrub: Scrub): boolean {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [value];
  try {
    while (waiting.length > 0) {
      const part = waiting.pop();
      if (typeof part === "object" && part !== null) {
        if (seen.has(part)) continue;
        seen.add(part);
        if (seen.size > mostParts) return true;
        waiting.push(...partsOf(part));
      } else if (typeof part !== "function" && typeof part !== "symbol") {
        const text = String(part);
        if (scrub(text) !== text) return true;
      }
    }
    return false;
  } catch {
    return true;
  }
}

function partsOf(value: object): readonly unknown[] {
  if (value instanceof Uint8Array) return [new TextDecoder().decode(value)];
  const parts: unknown[] = value instanceof Error ? [value.stack, value.message, value.name] : [];
  if (value instanceof Map) parts.push(...value.keys(), ...value.values());
  if (value instanceof Set) parts.push(...value);
  for (const key of Reflect.ownKeys(value))
    parts.push(String(key), Object.getOwnPropertyDescriptor(value, key)?.value);
  return parts;
}
