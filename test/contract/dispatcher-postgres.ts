import { postgresRuns } from "../../src/postgres.ts";
import type { PostgresServer } from "../postgres-server.ts";
import type { DispatcherUnderTest, OpenDispatched } from "./dispatcher.ts";
import { postgresUnderTest } from "./run-store-postgres.ts";

/** An address is the one of the server with a schema behind `#`. */
export const openDispatched: OpenDispatched = (address) => {
  const [url, schema = ""] = address.split("#");
  return { store: postgresRuns(url, { schema, connections: 4 }) };
};

/** The workers of a PostgreSQL, which take the runs by themselves. */
export function postgresDispatched(server: () => PostgresServer): DispatcherUnderTest {
  return { module: import.meta.url, openDispatched, place: postgresUnderTest(server).place };
}
