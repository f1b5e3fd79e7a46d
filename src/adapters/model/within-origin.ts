import { WritError } from "../../error/writ-error.ts";
import { keyScrub, refusalWithoutKeys } from "./without-keys.ts";

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/**
 * Sends requests as `send` does, but follows a redirect only within the origin, with the same request. Another
 * origin is a server that the author did not name: it would read the conversation and the headers. A refusal comes without the keys that were sent.
 *
 * @throws WritError `provider-redirected`
 */
export function withinOrigin(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let followed = 0; ; followed += 1) {
      const response = await send(followed === 0 ? input : url.href, { ...init, redirect: "manual" });
      const target = targetOf(response, url);
      if (target === undefined || followed === maxRedirects)
        return response.ok ? response : refusalWithoutKeys(response, keyScrub(sentFields(url, input, init)));
      await response.body?.cancel();
      if (target.origin !== url.origin) throw redirected(url, target);
      url = target;
    }
  };
}

function sentFields(url: URL, ...[input, init]: Parameters<typeof fetch>): Iterable<[string, string]> {
  return [
    ...url.searchParams,
    ...new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined)),
  ];
}

function targetOf({ status, headers }: Response, url: URL): URL | undefined {
  const location = redirects.has(status) ? headers.get("location") : null;
  return location === null ? undefined : (URL.parse(location, url.href) ?? undefined);
}

/** Makes the error of a redirect. It leaves out the query of both addresses, which may hold a key. */
function redirected(url: URL, target: URL): WritError {
  return new WritError("provider-redirected", {
    url: `${url.origin}${url.pathname}`,
    target: `${target.origin}${target.pathname}`,
    from: url.origin,
    to: target.origin,
  });
}
