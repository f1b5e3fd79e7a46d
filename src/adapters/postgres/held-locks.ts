/** The advisory locks of this database, of all processes. */
export const heldLocks = `SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
