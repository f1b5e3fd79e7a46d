import { inspect } from "node:util";
import { WritError } from "../../error/writ-error.ts";
import { resourceText } from "../../tool/capability.ts";
import type { Secret } from "../../tool/handles.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";

/** Texts in which secrets can stand, as the handles that send them take them. */
export type Sendable = string | Secret | readonly (string | Secret)[];

/** A shorter value would be found in texts that have nothing to do with it. */
const shortest = 6;

const values = new WeakMap<object, { readonly value: string; readonly owner: Lifetime }>();
/** Every spelling of every value that was used in this process, with what is written in its place. */
const spellings = new Map<string, string>();
let pattern: RegExp | undefined;

/** The handle of secrets of one call. */
export function makeSecrets(lifetime: Lifetime): (name: string) => Secret {
  return (name) =>
    lifetime.runNow("secret", () => {
      lifetime.use({ kind: "secret", name });
      const value = Object.hasOwn(process.env, name) ? process.env[name] : undefined;
      if (value === undefined || value === "") throw new WritError("secret-missing", { name });
      if (value.length < shortest)
        throw handleFailed(
          resourceText({ kind: "secret", name }),
          `its value has fewer than ${shortest} characters, and could not be kept out of records.`,
        );
      hide(name, value);
      return makeSecret(name, value, lifetime);
    });
}

function makeSecret(name: string, value: string, owner: Lifetime): Secret {
  const shown = (): string => markOf(name);
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
 * The text that is sent. Secrets belong to the call that took them.
 *
 * @throws WritError `handle-failed` for another call's secret, and for the mark of one in a text, which would be sent instead of it
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

/** A text without secrets. @throws WritError `handle-failed` when somebody made a text of a secret */
export function plain(text: string, resource: string): string {
  if (/\[secret [A-Za-z_][A-Za-z0-9_]*\]/.test(text))
    throw handleFailed(
      resource,
      'a secret was made a text, which says nothing; give it in a list, like ["Bearer ", key], in a header or a variable.',
    );
  return text;
}

/** A text without the values of secrets that were used in this process: plain, in JSON, percent-encoded, and in base64 at any place. */
export function scrub(text: string): string {
  return pattern === undefined ? text : text.replace(pattern, (found) => spellings.get(found) ?? "[secret]");
}

/** Whether a secret was used in this process. */
export function holdsSecrets(): boolean {
  return pattern !== undefined;
}

function hide(name: string, value: string): void {
  if (spellings.has(value)) return;
  for (const spelling of spellingsOf(value)) spellings.set(spelling, markOf(name));
  const longestFirst = [...spellings.keys()].toSorted((one, other) => other.length - one.length);
  pattern = new RegExp(longestFirst.map(literally).join("|"), "g");
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

function spellingsOf(value: string): ReadonlySet<string> {
  const found = new Set([value]);
  let quoted = value;
  for (let depth = 0; depth < 3; depth += 1) found.add((quoted = JSON.stringify(quoted).slice(1, -1)));
  const wellFormed = value.toWellFormed();
  for (const encoded of [
    encodeURIComponent(wellFormed),
    encodeURI(wellFormed),
    new URLSearchParams({ a: wellFormed }).toString().slice(2),
  ]) {
    found.add(encoded);
    found.add(encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  }
  for (let before = 0; before < 3; before += 1) {
    const middle = base64At(value, before);
    found.add(middle);
    found.add(middle.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return found;
}

/** The characters that the value alone decides when so many bytes stand before it (by their number divided by 3). */
function base64At(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}
