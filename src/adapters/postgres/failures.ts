import { messageOf, WritError } from "../../error/writ-error.ts";
import { codeOf } from "../../util/thrown.ts";

/** A database as errors name it, without its password. */
export interface DatabaseName {
  /** The host, port and database. */
  readonly server: string;
  readonly role: string;
  /** The schema, quoted for statements. */
  readonly schema: string;
}

/** Codes of the system, and of a server that stops, crashes or starts, or that ended a transaction in which its client stood still. */
const away = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT|08|57P0[123]|25P03)/;

/** Codes of a server that answers but cannot work yet: it has no connection left, or is a replica whose primary is gone. */
const notYet = /^(53300|25006)/;

/** Codes of a statement that had no effect because of others: it was rolled back, waited too long for a lock, or took too long itself. */
const givenUp = /^(40001|40P01|55P03|57014)/;

/** Codes of the server for a wrong role, password or database. */
const refused = /^(28|3D000)/;
const forbidden = "42501";

/** True for a connection that broke, could not be made or cannot work now: the server may or may not have carried out the statement. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return /terminated|timeout|not queryable/i.test(messageOf(error)); // errors of `pg` itself have no codes
  return away.test(code) || notYet.test(code);
}

/** True for an error after which a repetition may succeed: the server is away, or gave the statement up for the sake of others. */
export function mayPass(error: unknown): boolean {
  return isAway(error) || givenUp.test(codeOf(error) ?? "");
}

/** An error of `pg` as an error of the catalogue. */
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

/** The reason of an error. A name with several addresses fails with several errors in one that has no message of its own. */
function reasonOf(error: unknown): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.map(messageOf).join("; ");
}
