import { messageOf, WritError } from "../../error/writ-error.ts";
import { codeOf } from "../../util/thrown.ts";

/** A database as errors name it: never with its password. */
export interface DatabaseName {
  /** Host, port and database. */
  readonly server: string;
  readonly role: string;
  /** Quoted, as statements need it. */
  readonly schema: string;
}

/** Codes of the system and of a server that goes, crashes or comes. */
const away = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT|08|57P0[123])/;

/** Codes of a server that answers and cannot yet: it has no connection left, or is the replica of one that is gone. */
const notYet = /^(53300|25006)/;

/** Codes of a statement that did nothing since others were at work: it was undone, had a lock wait too long, or took too long itself. */
const givenUp = /^(40001|40P01|55P03|57014)/;

/** Codes of the server for a role, a password or a database that do not fit. */
const refused = /^(28|3D000)/;
const forbidden = "42501";

/** True for a connection that broke, could not be made or serves for nothing now: the server has carried out the statement, or has not. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return /terminated|timeout|not queryable/i.test(messageOf(error)); // of `pg` itself, which has no codes
  return away.test(code) || notYet.test(code);
}

/** True for what may go well when it is said again: the server is away, or gave the statement up for the sake of others. */
export function mayPass(error: unknown): boolean {
  return isAway(error) || givenUp.test(codeOf(error) ?? "");
}

/** An error of `pg` as one of the catalogue. */
export function failureOf(cause: unknown, { server, role, schema }: DatabaseName): WritError {
  if (cause instanceof WritError) return cause;
  const code = codeOf(cause) ?? "";
  const reason = reasonOf(cause);
  if (isAway(cause) && !notYet.test(code))
    return new WritError("postgres-unreachable", { server, reason }, { cause });
  if (refused.test(code) || (code === "" && reason.startsWith("SASL")))
    return new WritError("postgres-refused", { server, role, reason }, { cause });
  if (code === forbidden)
    return new WritError("postgres-forbidden", { server, role, schema, reason }, { cause });
  return new WritError("postgres-failed", { server, reason }, { cause });
}

/** A name with several addresses fails with an error of several, which has no message of its own. */
function reasonOf(error: unknown): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.map(messageOf).join("; ");
}
