/**
 * A log of runs in a file: one line of JSON for each fact, without content unless the author wants it.
 *
 * @module writ/audit
 */
export { type AuditLog, auditLog, type AuditLogOptions } from "./adapters/audit-log.ts";
