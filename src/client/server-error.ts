/** The body of an error by RFC 9457, as a server of writ sends it. */
interface Told {
  readonly status?: number;
  readonly title?: string;
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
}

/**
 * The error of a request that a server refused or failed at. `code` is the code in the list of errors (`run-missing`, `question-answered`, …), or `http` if
 * something before the server answered.
 *
 * @example
 * ```ts
 * import { runsClient, ServerError } from "writ/client";
 *
 * const runs = runsClient({ url: "https://agents.example" });
 * const isThere = await runs.show("order-17").then(
 *   () => true,
 *   (error: unknown) => !(error instanceof ServerError && error.code === "run-missing"),
 * );
 * ```
 */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly status: number;
  readonly code: string;
  /** The server's advice. */
  readonly hint: string | undefined;
  /** Milliseconds after which the server wants to be asked again: comes with 429 and 503. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, told: Told, retryAfterMs?: number) {
    super(told.detail ?? told.title ?? `the server answered with ${status}`);
    this.status = status;
    this.code = told.code ?? "http";
    this.hint = told.hint;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The error that a response reports. */
export async function errorOf(response: Response): Promise<ServerError> {
  const text = await response.text().catch(() => "");
  return new ServerError(response.status, toldIn(text), waitIn(response.headers.get("retry-after") ?? ""));
}

/** The longest wait. A timer for more than about 24 days fires at once. */
const longestMs = 2e9;

/** The milliseconds of a wait, which is given in seconds, or as the date of its end. */
function waitIn(said: string): number | undefined {
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestMs);
}

/** The message in the text of an error; empty for the page of a proxy. */
export function toldIn(text: string): Told {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field is read as one that may be absent
    return Object(JSON.parse(text)) as Told;
  } catch {
    return {};
  }
}
