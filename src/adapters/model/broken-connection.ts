import { messageOf } from "../../error/writ-error.ts";

const unreachableReasons: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there (connection refused)"],
  ["ENOTFOUND", "there is no host of that name"],
  ["EAI_AGAIN", "the name of the host cannot be looked up"],
  ["EHOSTUNREACH", "there is no way to that host"],
  ["ENETUNREACH", "there is no way to that network"],
  ["ETIMEDOUT", "the host does not answer"],
  ["UND_ERR_CONNECT_TIMEOUT", "the host does not answer"],
]);

const brokenReasons: ReadonlyMap<string, string> = new Map([
  [
    "UND_ERR_HEADERS_TIMEOUT",
    "it began no answer in time: the model may be too large for its machine, or the prompt too long; a `fetch` with another limit can be given",
  ],
  ["UND_ERR_BODY_TIMEOUT", "it stopped in the middle of the answer"],
  [
    "UND_ERR_SOCKET",
    "it closed the connection before the answer was complete: it may have crashed, its log says more",
  ],
  [
    "ECONNRESET",
    "it closed the connection before the answer was complete: it may have crashed, its log says more",
  ],
]);

interface ErrorFields {
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** `fetch` says only that it failed: why is in the causes, and for a host with several addresses in the attempts. */
function connectionCode(thrown: unknown, depth = 0): string | undefined {
  if (typeof thrown !== "object" || thrown === null || depth > 5) return undefined;
  const { code, cause, errors }: ErrorFields = thrown;
  if (typeof code === "string" && (unreachableReasons.has(code) || brokenReasons.has(code))) return code;
  for (const next of [cause, ...(Array.isArray(errors) ? (errors as readonly unknown[]) : [])]) {
    const found = connectionCode(next, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What broke a connection, in words; undefined when the connection did not break. */
export interface BrokenConnection {
  /** Whether the server was never reached. */
  readonly unreachable: boolean;
  readonly reason: string;
}

/** Says of what `fetch` threw whether the connection failed, and why. */
export function brokenConnection(thrown: unknown): BrokenConnection | undefined {
  const code = connectionCode(thrown) ?? "";
  const unreachable = unreachableReasons.get(code);
  if (unreachable !== undefined) return { unreachable: true, reason: unreachable };
  const broken = brokenReasons.get(code);
  return broken === undefined ? undefined : { unreachable: false, reason: broken };
}

/** The words of what was thrown. `fetch` keeps the reason in its cause. */
export function reasonOf(thrown: unknown): string {
  const said = messageOf(thrown);
  return thrown instanceof TypeError && thrown.cause !== undefined
    ? `${said}: ${messageOf(thrown.cause)}`
    : said;
}
