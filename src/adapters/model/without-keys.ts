import { inspect } from "node:util";
import { cleanError } from "../../run/secrets.ts";
import { beginningOf } from "./http-reply.ts";

/** The last part of a word that names a key: `apikey`, `PGPASSWORD`, `keyid`. `author`, `keyword` and `tokenizer` are none. */
const ofKey =
  /(?:auth(?:[nz]|orization|entication)?|key|token|secret|passw(?:or)?d|pass(?:phrase|code)|credential|cookie|signature|jwt)s?(?:id|value)?$/;
/** The words that name a key only as a whole: `compass` is none. */
const wholeWords: ReadonlySet<string> = new Set("pass pwd bearer sig otp pat assertion".split(" "));
/** The last words of names that tell something about a key: `tokenCount`. */
const aboutKeys: ReadonlySet<string> = new Set("count counts limit length type budget usage ttl".split(" "));
/** The password in an address: `postgres://app:PASSWORD@host/db`. */
const inAddress = /^[a-z][\w+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i;

/** True of the name of a header, variable or field that has a key of the sender, in any way of writing. `PWD` is the folder of a program. */
function hasKey(name: string): boolean {
  const words = name.replaceAll(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2 ").toLowerCase();
  const all = words.match(/[a-z]+/g) ?? [];
  if (name === "PWD" || aboutKeys.has(all.at(-1) ?? "")) return false;
  return all.some((word) => wholeWords.has(word) || ofKey.test(word));
}

/** The length below which a value is not replaced: it would occur in unrelated texts. */
const shortest = 8;

/** Takes the keys of a request out of a text. */
export type KeyScrub = (text: string) => string;

/** The function that takes the keys among the fields of a request out of its server's words of failure: some servers repeat them, and these words are told, kept and shown. */
export function keyScrub(sent: Iterable<readonly [string, unknown]>): KeyScrub {
  const found = [...sent].flatMap(([name, value]) => {
    if (typeof value !== "string") return [];
    // The key may stand behind a word, as `Bearer`, or beside others, as in a cookie.
    const keys = hasKey(name) ? [value.trim(), ...value.split(/[\s;=]+/)] : [];
    return [...keys, ...(inAddress.exec(value)?.slice(1) ?? [])].filter(({ length }) => length >= shortest);
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
