import { createHash } from "node:crypto";
import { WritError } from "../error/writ-error.ts";

/** Somebody who may use a server, with runs and sessions of their own. */
export interface Principal {
  /** Letters, digits, `.`, `_` and `-`. The ids of their runs begin with it in the store: `web/invoice-17`. */
  readonly name: string;
  /** Hashes of their tokens, as {@link hashToken} or `writ token` makes them. Several, so that one can take the place of another. */
  readonly tokens: readonly string[];
  /** The agents that they may use. Default: all. */
  readonly agents?: readonly string[];
}

/** Whoever made a request: the principal, or anybody where a server has none. */
export interface Caller {
  readonly name: string;
  /** The text with which the ids of their runs and sessions begin in the store. */
  readonly prefix: string;
  readonly mayUse: (agent: string) => boolean;
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
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}

const anybody: Caller = { name: "anybody", prefix: "", mayUse: () => true };

/** Makes what tells who makes a request, by its token. @throws WritError `request-unauthorized` */
export function callersOf(principals: readonly Principal[] | undefined): (request: Request) => Caller {
  if (principals === undefined) return () => anybody;
  const known = new Map(
    principals.flatMap(({ name, tokens, agents }) => {
      const caller: Caller = {
        name,
        prefix: `${name}/`,
        mayUse: (agent) => agents?.includes(agent) ?? true,
      };
      return tokens.map((token) => [token, caller] as const);
    }),
  );
  return (request) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const caller = token === undefined ? undefined : known.get(hashToken(token));
    if (caller === undefined) throw new WritError("request-unauthorized", {});
    return caller;
  };
}
