import { inspect } from "node:util";
import { WritError } from "../../error/writ-error.ts";
import { resourceText } from "../../tool/capability.ts";
import type { Secret } from "../../tool/handles.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";
import { type Spelling, spellingsOf } from "./spellings.ts";

/** Texts that may contain secrets, as handles that send them take them. */
export type Sendable = string | Secret | readonly (string | Secret)[];

/** The length below which a value is not replaced: it would occur in unrelated texts. */
const shortest = 6;

// Register: the value of each secret, with its owner.
const values = new WeakMap<object, { readonly value: string; readonly owner: Lifetime }>();
/** Register: every value that was used in this process, with the mark that replaces it. */
const hidden = new Map<string, { readonly mark: string; readonly spellings: readonly Spelling[] }>();
/** Matches the places where one of these values can begin; undefined if none was used. Depends on: the values; it is remade with each new one. */
let beginnings: RegExp | undefined;

/** The handle of secrets of one call. */
export function makeSecrets(lifetime: Lifetime): (name: string) => Secret {
  return (name) =>
    lifetime.runNow("secret", () => {
      lifetime.use({ kind: "secret", name });
      const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
      if (value === undefined || value === "") throw new WritError("secret-missing", { name });
      const known = value.trim(); // HTTP drops blanks at both ends
      if (known.length < shortest)
        throw handleFailed(
          resourceText({ kind: "secret", name }),
          `its value has fewer than ${shortest} characters, and could not be kept out of records.`,
        );
      hide(name, known);
      return makeSecret(name, value, lifetime);
    });
}

function makeSecret(name: string, value: string, owner: Lifetime): Secret {
  const shown = (): string => markOf(name);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object gets its fields here, and a prototype never
  const secret = Object.defineProperties(Object.create(null) as Secret, {
    name: { value: name },
    toString: { value: shown },
    toJSON: { value: shown },
    [Symbol.toPrimitive]: { value: shown },
    [inspect.custom]: { value: shown },
  });
  values.set(secret, { value, owner });
  return Object.freeze(secret);
}

function markOf(name: string): string {
  return `[secret ${name}]`;
}

/**
 * The text that is sent. A secret works only in the call that took it.
 *
 * @throws WritError `handle-failed` for another call's secret, and for the mark of a secret in a text, which would be sent instead of its value
 */
export function reveal(sendable: Sendable, owner: Lifetime, resource: string): string {
  const parts: readonly unknown[] = Array.isArray(sendable) ? sendable : [sendable];
  return parts
    .map((part) => {
      if (typeof part === "string") return plain(part, resource);
      const known = typeof part === "object" && part !== null ? values.get(part) : undefined;
      if (known === undefined) throw handleFailed(resource, "only texts and secrets can be sent.");
      if (known.owner !== owner) throw handleFailed(resource, "a secret belongs to the call that took it.");
      return known.value;
    })
    .join("");
}

/** A text without secrets. @throws WritError `handle-failed` if a secret was converted to text */
export function plain(text: string, resource: string): string {
  if (/\[secret [A-Za-z_][A-Za-z0-9_]*\]/.test(text))
    throw handleFailed(
      resource,
      'a secret was made a text, which says nothing; give it in a list, like ["Bearer ", key], in a header or a variable.',
    );
  return text;
}

/** A text without the values of secrets that were used in this process, in every spelling of {@link spellingsOf}. */
export function scrub(text: string): string {
  const clean: string[] = [];
  let done = 0;
  for (let found = nextIn(text, 0); found !== undefined; found = nextIn(text, done)) {
    clean.push(text.slice(done, found.start), found.mark);
    done = found.end;
  }
  return done === 0 ? text : clean.join("") + text.slice(done);
}

/** More bytes than any spelling of a secret takes. */
export const mostSpelled = 65_536;

/** The place of the secret that a cut here would divide: half of a secret would not be found. */
export function secretOver(bytes: Buffer, at: number): Pick<Found, "start" | "end"> | undefined {
  if (beginnings === undefined) return undefined;
  const from = Math.max(0, at - mostSpelled);
  const text = bytes.toString("latin1", from, at + mostSpelled);
  for (
    let found = nextIn(text, 0);
    found !== undefined && from + found.start < at;
    found = nextIn(text, found.end)
  )
    if (from + found.end > at) return { start: from + found.start, end: from + found.end };
  return undefined;
}

function nextIn(text: string, from: number): Found | undefined {
  if (beginnings === undefined) return undefined;
  beginnings.lastIndex = from;
  for (let found = beginnings.exec(text); found !== null; found = beginnings.exec(text)) {
    const secret = longestAt(text, found.index);
    if (secret !== undefined) return secret;
    beginnings.lastIndex = found.index + 1;
  }
  return undefined;
}

/** The same for bytes: each byte is read as one character, so other bytes may stand between. */
export function scrubBytes(bytes: Uint8Array): Uint8Array {
  if (beginnings === undefined) return bytes;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const clean = scrub(text);
  return clean === text ? bytes : Buffer.from(clean, "latin1");
}

/** Register: the objects that are told once a secret was used in this process. Output of tools checks such a field, which needs no call. */
const told = new Set<{ holdsSecrets: boolean }>();

/** The same object; its field says from now on whether a secret was used in this process. */
export function toldOfSecrets<Told extends { holdsSecrets: boolean }>(object: Told): Told {
  object.holdsSecrets = beginnings !== undefined;
  told.add(object);
  return object;
}

interface Found {
  readonly mark: string;
  readonly start: number;
  readonly end: number;
}

/** The longest secret at a place, because one secret can be the beginning of another. */
function longestAt(text: string, at: number): Found | undefined {
  let longest: Found | undefined;
  for (const { mark, spellings } of hidden.values())
    for (const { endIn } of spellings) {
      const end = endIn(text, at);
      if (end !== undefined && (longest === undefined || end > longest.end))
        longest = { mark, start: at, end };
    }
  return longest;
}

function hide(name: string, value: string): void {
  if (hidden.has(value)) return;
  hidden.set(value, { mark: markOf(name), spellings: spellingsOf(value) });
  const all = [...hidden.values()].flatMap(({ spellings }) => spellings.map(({ beginning }) => beginning));
  beginnings = new RegExp([...new Set(all)].join("|"), "gi");
  for (const each of told) each.holdsSecrets = true;
}
