import type { ErrorCode } from "../error/codes.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import type { Caller } from "./callers.ts";

/** The status of each error that a caller can act on. All other errors are the server's own, and their texts are not sent. */
const statuses: { readonly [Code in ErrorCode]?: number } = {
  "request-invalid": 400,
  "input-invalid": 400,
  "tool-unknown": 400,
  "skill-unknown": 400,
  "run-option-unusable": 400,
  "request-unauthorized": 401,
  "request-forbidden": 403,
  "question-forbidden": 403,
  "request-unknown": 404,
  "run-missing": 404,
  "session-missing": 404,
  "request-method": 405,
  "turn-missing": 404,
  "call-missing": 404,
  "call-not-unknown": 409,
  "question-closed": 409,
  "question-other": 409,
  "question-unknown": 409,
  "question-answered": 409,
  "question-changed": 409,
  "question-expired": 409,
  "question-stale": 409,
  "question-stranded": 409,
  "signal-invalid": 400,
  "run-ended": 409,
  "run-differs": 409,
  "run-exists": 409,
  "run-claimed": 409,
  "run-moved": 409,
  "edit-invalid": 400,
  "session-busy": 409,
  "request-slow": 408,
  "request-too-large": 413,
  "request-compressed": 415,
  "run-unanswered": 422,
  "reply-began-anew": 422,
  "request-too-many": 429,
  "database-failed": 503,
  "postgres-unreachable": 503,
  "postgres-failed": 503,
  "server-leaving": 503,
};

/** An error by RFC 9457, with its code. Texts of the server's own faults stay with the server. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** The status of an error; undefined for an error that no caller can mend. */
export function statusOf(error: unknown): number | undefined {
  return isWritError(error) ? statuses[error.code] : undefined;
}

/**
 * An error as its caller may see it: it names the run by the id that the caller knows (in the store the name of the principal stands before it), and names
 * neither the machine nor the process that carries the run out.
 */
export function ownError(error: unknown, { prefix }: Pick<Caller, "prefix">): unknown {
  if (statusOf(error) === undefined || !isWritError(error)) return error;
  const { code, data } = error;
  const id: unknown = Reflect.get(data, "id");
  if (typeof id !== "string") return error;
  const own = id.startsWith(prefix) ? id.slice(prefix.length) : id;
  const owner = code === "run-claimed" ? { owner: "a process of the server" } : {};
  return new WritError(code, { ...data, id: own, ...owner }, { cause: error });
}

/** An error in the form that callers get. */
export function problemOf(error: unknown): Problem {
  const status = statusOf(error);
  if (status === undefined || !isWritError(error))
    return { type: "about:blank", title: "the server failed", status: 500, code: "server-failed" };
  const { code, message, hint } = error;
  if (ofDatabases.has(code)) return told("database-failed", status);
  return { ...told(code, status), detail: message, hint };
}

/** Errors whose texts name hosts and files of a database: callers are not told which it is. */
const ofDatabases: ReadonlySet<ErrorCode> = new Set([
  "database-failed",
  "postgres-unreachable",
  "postgres-failed",
]);

const told = (code: ErrorCode, status: number): Problem => ({
  type: `urn:writ:${code}`,
  title: code.replaceAll("-", " "),
  status,
  code,
});

/** The headers that tell a client what it may do after a failure. */
export function problemHeaders(error: unknown): Record<string, string> {
  const { status } = problemOf(error);
  if (status === 415) return { "accept-encoding": "identity" };
  if (status === 401) return { "www-authenticate": "Bearer" };
  if (isWritError(error, "request-method")) return { allow: String(error.data.allow) };
  if (status !== 429 && status !== 503) return {};
  const wait = isWritError(error) ? error.retryAfterMs : undefined;
  return { "retry-after": String(Math.max(1, Math.ceil((wait ?? 1000) / 1000))) };
}

/** The answer to a request that failed. */
export function problemResponse(error: unknown): Response {
  const problem = problemOf(error);
  const headers = { "content-type": "application/problem+json", ...problemHeaders(error) };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
