/**
 * A log of runs in a file: one line of JSON for each fact. It has no content of messages and calls unless you ask for it.
 *
 * @module writ/audit
 */
export { type AuditLog, auditLog, type AuditLogOptions } from "./adapters/audit-log.ts";
