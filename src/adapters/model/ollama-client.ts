import type { Ollama } from "ollama/browser";
import { exactJson, isJsonObject } from "../../util/json.ts";
import { importInstalled, importPeer } from "../peer.ts";
import { bounded, refusalOf, RefusedRequest, UnreadableReply } from "./http-reply.ts";
import { readFault, shown } from "./provider-fault.ts";
import type { Connection } from "./ollama-address.ts";
import { withinOrigin } from "./within-origin.ts";

/**
 * Makes the official client for one request. Its `abort()` would end all requests of a client, and cannot end some at all: here the
 * signal ends the request itself. The client prints malformed replies and goes on, so these are checked before it gets them.
 *
 * @throws WritError `peer-missing`
 */
export async function openClient(connection: Connection, load: LoadClient = loadClient): Promise<Ollama> {
  const { Ollama } = await importPeer(load, { package: "ollama", purpose: "models on an Ollama server" });
  const { address } = connection;
  return new Ollama({ host: address.url, headers: { ...address.headers }, fetch: checkedFetch(connection) });
}

/** Imports the package. */
export type LoadClient = () => Promise<{ readonly Ollama: typeof Ollama }>;

/** The build for browsers: the same client, except that it never reads an image from the disk if its data looks like a path. */
const loadClient: LoadClient = () => importInstalled("ollama/browser");

function checkedFetch({ fetch, signal, maxReplyBytes, lines }: Connection): typeof fetch {
  const send = withinOrigin(fetch);
  return async (input, init) => {
    const response = await send(input, { ...init, signal });
    if (!response.ok) throw await refusalOf(response);
    if (response.body === null) throw new UnreadableReply("the answer has no body");
    return new Response(
      response.body.pipeThrough(bounded(maxReplyBytes)).pipeThrough(checkedJson(lines)),
      response,
    );
  };
}

/** Passes on whole JSON objects, one per line, without blank lines. */
function checkedJson(lines: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  function pass(text: string, controller: TransformStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    if (text.trim() !== "") controller.enqueue(encoder.encode(`${checkedObject(text)}\n`));
  }
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = lines ? text.lastIndexOf("\n") : -1;
      if (end === -1) {
        rest += text;
        return;
      }
      const whole = rest + text.slice(0, end);
      rest = text.slice(end + 1);
      for (const line of whole.split("\n")) pass(line, controller);
    },
    flush(controller) {
      pass(rest + decoder.decode(), controller);
    },
  });
}

/** The text of an object, which the client parses again. */
function checkedObject(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isJsonObject(value))
    throw new UnreadableReply(`a part of the answer is not a JSON object: ${shown(text)}`, {
      retryable: !/^\s*<(?:!doctype|html)/i.test(text), // a page comes from another address
    });
  const { error } = value;
  if (error !== undefined && error !== null && error !== "") throw new RefusedRequest(readFault(value));
  return exactJson(text.trim());
}
