import { inspect } from "node:util";
import { cleanError } from "../../run/secrets.ts";
import { beginningOf } from "./http-reply.ts";

/** The names of fields that have a key of the sender: one of these words, or a word that ends with one (`apikey`, `PGPASSWORD`). `author` is none. */
const withKey = /(?:auth(?:orization|entication)?|key|token|secret|password|cookie)s?(?![a-z])/i;
/** The length below which a value is not replaced: it would occur in unrelated texts. */
const shortest = 8;

/** Takes the keys of a request out of a text. */
export type KeyScrub = (text: string) => string;

/** The function that takes the keys among the fields of a request out of its server's words of failure: some servers repeat them, and these words are told, kept and shown. */
export function keyScrub(sent: Iterable<readonly [string, unknown]>): KeyScrub {
  const found = [...sent].flatMap(([name, value]) => {
    if (typeof value !== "string" || !withKey.test(name)) return [];
    const keys = [value.trim(), ...value.split(/[\s;=]+/)]; // the key may stand behind a word, as `Bearer`, or beside others, as in a cookie
    return keys.filter(({ length }) => length >= shortest);
  });
  return (text) => found.reduce((told, key) => told.replaceAll(key, "[key]"), text);
}

/** A refusal without the keys that were sent. */
export async function refusalWithoutKeys(response: Response, scrub: KeyScrub): Promise<Response> {
  const { body, status, headers } = response;
  if (body === null) return response;
  const text = scrub(await beginningOf(body));
  return new Response(text, { status, statusText: scrub(response.statusText), headers });
}

/** An error without the keys that were sent, and its causes. One without keys stays as it is. */
export function errorWithoutKeys(thrown: unknown, scrub: KeyScrub): unknown {
  try {
    const shown = inspect(thrown, { depth: 8, maxStringLength: Infinity });
    if (scrub(shown) === shown) return thrown;
  } catch {
    // an error that cannot be looked at may have them
  }
  return cleanError(thrown, scrub);
}

/** Something that receives messages of JSON-RPC. */
interface Receiver<Message> {
  onmessage?: ((message: Message, ...more: never[]) => void) | undefined;
}

/** Has failures in the messages that come from now on told without keys: errors, and results of tools that failed. */
export function receiveWithoutKeys<Message extends object>(
  receiver: Receiver<Message>,
  scrub: KeyScrub,
): void {
  const { onmessage } = receiver;
  const receive: typeof onmessage = (message, ...more) => {
    const { error, result } = message as {
      readonly error?: unknown;
      readonly result?: { isError?: unknown };
    };
    const isFailure = error !== undefined || (result?.isError ?? false) !== false;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same message, with other words
    const told = isFailure ? (JSON.parse(scrub(JSON.stringify(message))) as Message) : message;
    onmessage?.call(receiver, told, ...more);
  };
  Object.assign(receiver, { onmessage: receive });
}
