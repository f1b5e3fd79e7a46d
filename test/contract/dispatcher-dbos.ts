import { dbosDispatcher, type DbosOptions } from "../../src/dbos.ts";
import { postgresRuns } from "../../src/postgres.ts";
import type { PostgresServer } from "../postgres-server.ts";
import type { DispatcherUnderTest, OpenDispatched } from "./dispatcher.ts";

/** An address is the one of the server with a schema behind `#`. */
export const openDispatched: OpenDispatched = (address) => open(address);

function open(address: string, queues?: DbosOptions["queues"]): ReturnType<OpenDispatched> {
  const [url = "", schema = ""] = address.split("#");
  return {
    store: postgresRuns(url, { schema, connections: 4 }),
    dispatcher: dbosDispatcher(url, { schema: `${schema}_dbos`, queues }),
  };
}

let places = 0;

/** Workers that DBOS serves in a PostgreSQL, each place in schemas of its own. */
export function dbosDispatched(
  server: () => PostgresServer,
  queues?: DbosOptions["queues"],
): DispatcherUnderTest {
  return {
    module: import.meta.url,
    openDispatched: queues === undefined ? openDispatched : (address) => open(address, queues),
    place() {
      places += 1;
      return Promise.resolve({ address: `${server().url}#runs_${places}`, remove: () => undefined });
    },
  };
}
