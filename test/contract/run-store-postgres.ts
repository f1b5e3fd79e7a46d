import { postgresRuns } from "../../src/postgres.ts";
import type { PostgresServer } from "../postgres-server.ts";
import type { OpenRuns, SharedStoreUnderTest } from "./run-store.ts";

/** An address is the one of the server with a schema behind `#`. */
export const openRuns: OpenRuns = async (address) => {
  const [url, schema = ""] = address.split("#");
  return postgresRuns(url, { schema, connections: 4 });
};

/** Stores in a PostgreSQL, each in a schema of its own. */
export function postgresUnderTest(server: () => PostgresServer): SharedStoreUnderTest {
  let places = 0;
  return {
    module: import.meta.url,
    openRuns,
    place() {
      places += 1;
      return Promise.resolve({ address: `${server().url}#runs "${places}"`, remove: () => undefined });
    },
  };
}
