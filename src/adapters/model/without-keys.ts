import { beginningOf } from "./http-reply.ts";

/** Headers that have a key of the sender. */
const withKey = /auth|key|token|secret/i;
/** The length below which a value is not replaced: it would occur in unrelated texts. */
const shortest = 8;

/** A refusal without the keys that were sent: some servers repeat them, and its words are told, kept and shown. */
export async function withoutKeys(response: Response, sent: Headers): Promise<Response> {
  const { body, status, headers } = response;
  const keys = [...sent].flatMap(([name, value]) =>
    withKey.test(name) ? [value.replace(/^(?:Bearer|Basic) +/i, "")] : [],
  );
  const found = keys.filter((key) => key.length >= shortest);
  if (body === null || found.length === 0) return response;
  const clean = (text: string): string => found.reduce((told, key) => told.replaceAll(key, "[key]"), text);
  const text = clean(await beginningOf(body));
  return new Response(text, { status, statusText: clean(response.statusText), headers });
}
