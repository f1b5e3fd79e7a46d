import { keyScrub, refusalWithoutKeys } from "./model/without-keys.ts";

/** The most bytes of an answer, or of one message of an event stream: more than any message needs. */
const maxBytes = 10_000_000;

/**
 * Makes a function that sends a request, follows no redirect by itself, and stops reading an answer that is too long. The author's headers are sent to one
 * origin only: a sign-in asks others. A refusal comes without the keys that were sent.
 */
export function boundedFetch(
  origin: string,
  own: Readonly<Record<string, string>>,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    if (new URL(url).origin === origin)
      for (const [name, value] of Object.entries(own)) headers.set(name, value);
    const sent = [...headers, ...(init?.body instanceof URLSearchParams ? init.body : [])];
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    return boundedResponse(
      response.ok ? response : await refusalWithoutKeys(response, keyScrub(sent)),
      response.url,
    );
  };
}

function boundedResponse(response: Response, url: string): Response {
  if (response.body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
  const { status, statusText, headers } = response;
  const body = response.body.pipeThrough(bounded(isStream));
  const read = new Response(body, { status, statusText, headers });
  Object.defineProperty(read, "url", { value: url });
  return read;
}

/** Bounds the bytes of an answer; in a stream of events, the bytes of each event. */
function bounded(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let count = 0;
  let last = "";
  return new TransformStream({
    transform(chunk, controller) {
      count += chunk.length;
      if (isStream) {
        const text = last + new TextDecoder("latin1").decode(chunk);
        if (/\n\n|\r\r|\n\r\n/.test(text)) count = chunk.length;
        last = text.slice(-2);
      }
      if (count > maxBytes)
        controller.error(new Error(`the server sent more than ${maxBytes} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}
