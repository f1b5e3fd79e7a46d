import { createHash } from "node:crypto";
import { checkShape, closed, checkArguments } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { list, optional, shapeOf, string } from "../util/shape.ts";

/**
 * Somebody who may use a server, with runs and sessions of their own.
 *
 * @example
 * ```ts
 * import type { Identity } from "writ/server";
 *
 * export const ada: Identity = { name: "ada@example.com", agents: ["clerk"] };
 * ```
 */
export interface Identity {
  /**
   * At most 200 characters, without `/`, spaces and control characters. The ids of their runs begin with it in the store: `web/invoice-17`. It
   * stays the same: who comes under another name does not find them.
   */
  readonly name: string;
  /** The agents that they may use. Default: all. */
  readonly agents?: readonly string[];
}

/** Somebody who may use a server with a token. */
export interface Principal extends Identity {
  /** Hashes of their tokens, as {@link hashToken} or `writ token` makes them. Several, so that one can take the place of another. */
  readonly tokens: readonly string[];
}

/**
 * Tells who makes a request by a sign-in of the author's own: the cookie of a session, the token of an identity provider. `undefined` is somebody
 * who may not use the server, and gets 401. What it throws is a fault of the server: 500, told to `onError`. It is asked before the body is read.
 *
 * @example
 * ```ts
 * import type { SignIn } from "writ/server";
 *
 * const sessions = new Map([["a-session", "ada@example.com"]]);
 * export const signIn: SignIn = ({ headers }) => {
 *   const name = sessions.get(/(?:^|; )session=([^;]+)/.exec(headers.get("cookie") ?? "")?.[1] ?? "");
 *   return name === undefined ? undefined : { name };
 * };
 * ```
 */
export type SignIn = (request: Request) => Identity | undefined | Promise<Identity | undefined>;

/** Whoever made a request: the principal, or anybody where a server has none. */
export interface Caller {
  readonly name: string;
  /** The text with which the ids of their runs and sessions begin in the store. */
  readonly prefix: string;
  readonly mayUse: (agent: string) => boolean;
  /** True where that is so of every agent. */
  readonly mayUseAll: boolean;
}

/**
 * The hash of a token, as principals have it: whoever reads the file of a server cannot use it.
 *
 * @example
 * ```ts
 * import { hashToken, type Principal } from "writ/server";
 *
 * export const web: Principal = { name: "web", tokens: [hashToken(process.env["WEB_TOKEN"] ?? "")], agents: ["clerk"] };
 * ```
 */
export function hashToken(token: string): string {
  checkArguments("hashToken()", { token }, { token: string });
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}

const identity = {
  name: shapeOf("at most 200 characters without `/` and spaces", (value) =>
    /^[^/\p{C}\p{Z}]{1,200}$/u.test(String(value)),
  ),
  agents: optional(list(string, "a list of names")),
};
const signedIn = closed(identity);
const principalList = list(
  closed({
    ...identity,
    tokens: list(
      shapeOf("`sha256:` and 64 hexadecimal digits, as hashToken() makes it", (value) =>
        /^sha256:[\da-f]{64}$/.test(String(value)),
      ),
      "a list of hashes of tokens",
    ),
  }),
  "a list of principals",
);
const where = "The principals of a server";

/** @throws WritError `definition-invalid` */
export function checkPrincipals(principals: readonly Principal[]): void {
  checkShape(where, principals, principalList);
  const name = twice(principals.map((one) => one.name));
  if (name !== undefined) refuse(`two have the name "${name}".`);
  if (twice(principals.flatMap(({ tokens }) => tokens)) !== undefined) refuse("two have the same token.");
}

const twice = (texts: readonly string[]): string | undefined =>
  texts.find((text, place) => texts.indexOf(text) !== place);

function refuse(reason: string): never {
  throw new WritError("definition-invalid", { where, reason });
}

/** Everybody, where a server has no principals. */
export const anybody: Caller = { name: "anybody", prefix: "", mayUse: () => true, mayUseAll: true };

/** The name of the agent that callers know, for one that works for it. */
type OwnerOf = (agent: string) => string;

function callerOf({ name, agents }: Identity, ownerOf: OwnerOf): Caller {
  const own = agents && new Set(agents); // the application may change its list
  return {
    name,
    prefix: `${name}/`,
    mayUse: (agent) => own?.has(ownerOf(agent)) ?? true,
    mayUseAll: own === undefined,
  };
}

/**
 * Makes what tells who makes a request.
 *
 * @throws WritError `definition-invalid`; `request-unauthorized` for a request
 */
export function callersOf(
  principals: readonly Principal[] | SignIn | undefined,
  ownerOf: OwnerOf,
): (request: Request) => Caller | Promise<Caller> {
  if (principals === undefined) return () => anybody;
  if (typeof principals === "function") return (request) => signIn(principals, request, ownerOf);
  checkPrincipals(principals);
  const known = new Map(
    principals.flatMap((principal) => {
      const caller = callerOf(principal, ownerOf);
      return principal.tokens.map((token) => [token, caller] as const);
    }),
  );
  return (request) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const caller = token === undefined ? undefined : known.get(hashToken(token));
    if (caller === undefined) throw new WritError("request-unauthorized", {});
    return caller;
  };
}

async function signIn(signInOf: SignIn, request: Request, ownerOf: OwnerOf): Promise<Caller> {
  const found = await signInOf(request);
  if (found === undefined) throw new WritError("request-unauthorized", {});
  checkShape("What the sign-in of a server gave", found, signedIn);
  return callerOf(found, ownerOf);
}
