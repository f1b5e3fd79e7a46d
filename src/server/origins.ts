import { WritError } from "../error/writ-error.ts";
import { type Shape, shapeOf } from "../util/shape.ts";
import { problemResponse } from "./problems.ts";

interface Guarding {
  readonly origins: readonly string[];
  /** Undefined if any name is allowed. */
  readonly hosts: readonly string[] | undefined;
}

/** The origin of pages: `https://app.example`. */
export const originShape: Shape<unknown> = shapeOf("an origin like `https://app.example`", (value) =>
  /^https?:\/\/[^/\s]+$/.test(String(value)),
);

/**
 * Makes the check in front of a server: a page may use it if it comes from the server itself or from one of the origins, and a request must name one of the
 * hosts (DNS rebinding). Answers the preflight requests of browsers.
 */
export function originGuard({
  origins,
  hosts,
}: Guarding): (request: Request, next: () => Promise<Response>) => Promise<Response> {
  return async (request, next) => {
    const url = new URL(request.url);
    const origin = request.headers.get("origin");
    if (hosts?.includes(url.hostname) === false)
      return refusal(`it is not reached by the name "${url.hostname}"`);
    if (origin === null || origin === url.origin) return next();
    if (!origins.includes(origin)) return refusal(`pages of "${origin.slice(0, 200)}" may not use it`);
    return request.method === "OPTIONS" ? preflight(request, origin) : allowing(await next(), origin);
  };
}

function refusal(reason: string): Response {
  return problemResponse(new WritError("request-forbidden", { reason }));
}

/** The answer to a preflight request: a page that may use the server may send the headers of any client. */
function preflight({ headers: asked }: Request, origin: string): Response {
  const headers = {
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-headers": asked.get("access-control-request-headers") ?? "",
    "access-control-max-age": "600",
  };
  return allowing(new Response(null, { status: 204, headers }), origin);
}

/** The headers of answers that pages may read, beside those that browsers always allow. */
const shown = "location, mcp-session-id, retry-after, www-authenticate";

function allowing(response: Response, origin: string): Response {
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", shown);
  headers.append("vary", "origin");
  return new Response(response.body, { status: response.status, headers });
}
