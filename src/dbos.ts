/**
 * A dispatcher with which DBOS hands out durable runs to many machines. It needs the packages `@dbos-inc/dbos-sdk` and `pg`.
 *
 * @module writ/dbos
 */
export { type DbosDispatcher, dbosDispatcher } from "./adapters/dbos/dbos-dispatcher.ts";
export { type DbosOptions, type DbosQueue } from "./adapters/dbos/options.ts";
