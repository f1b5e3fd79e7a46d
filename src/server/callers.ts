import { createHash } from "node:crypto";
import { checkShape, closed, checkArguments } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { boolean, list, optional, shapeOf, string } from "../util/shape.ts";

/**
 * A person or program that may use a server, with runs and sessions of its own.
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
   * At most 200 characters, without `/`, spaces and control characters. In the store, the ids of the caller's runs begin with it: `web/invoice-17`. It
   * must stay the same: a caller with another name does not find these runs.
   */
  readonly name: string;
  /** The agents that the caller may use. Default: all. */
  readonly agents?: readonly string[];
  /** True for somebody who may read why a run or a tool failed, in the words of the provider or the tool. Others are told the code alone. Default: false. */
  readonly operator?: boolean;
}

/** A person or program that may use a server with a token. */
export interface Principal extends Identity {
  /** Hashes of its tokens, as {@link hashToken} or `writ token` makes them. Several, so that a new token can replace an old one. */
  readonly tokens: readonly string[];
}

/**
 * Identifies the caller of a request by a sign-in of the author's own: the cookie of a session, the token of an identity provider. For `undefined` the caller
 * may not use the server, and gets 401. An error that it throws is a fault of the server: 500, told to `onError`. It is asked before the body is read.
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

/** The caller of a request: a principal, or anybody if a server has no principals. */
export interface Caller {
  readonly name: string;
  /** The text that the ids of the caller's runs and sessions begin with in the store. */
  readonly prefix: string;
  readonly mayUse: (agent: string) => boolean;
  /** The names that the application gave. Undefined if the caller may use every agent. */
  readonly agents: ReadonlySet<string> | undefined;
  /** True if the caller is told why a run or a tool failed. */
  readonly isOperator: boolean;
}

/**
 * The hash of a token, for a principal: somebody who reads the configuration of a server cannot use the token.
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
  name: shapeOf(
    "at most 200 characters without `/` and spaces",
    (value) => typeof value === "string" && /^[^/\p{C}\p{Z}]{1,200}$/u.test(value),
  ),
  agents: optional(list(string, "a list of names")),
  operator: optional(boolean),
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

/** The caller of every request, if a server has no principals. */
export const anybody: Caller = {
  name: "anybody",
  prefix: "",
  mayUse: () => true,
  agents: undefined,
  isOperator: true,
};

/** The name that callers know of the agent that another agent works for. */
type OwnerOf = (agent: string) => string;

function callerOf({ name, agents, operator = false }: Identity, ownerOf: OwnerOf): Caller {
  const own = agents && new Set(agents); // the application may change its list
  return {
    name,
    prefix: `${name}/`,
    mayUse: (agent) => own?.has(ownerOf(agent)) ?? true,
    agents: own,
    isOperator: operator,
  };
}

/**
 * Makes the function that identifies the caller of a request.
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
