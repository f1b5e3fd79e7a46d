import { afterAll, beforeAll, describe } from "vitest";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { runMovesContract } from "./run-moves.ts";
import { runStoreContract } from "./run-store.ts";
import { postgresUnderTest } from "./run-store-postgres.ts";

describe.skipIf(postgresMissing() !== undefined)("runs in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  const underTest = postgresUnderTest(() => server);
  runStoreContract("PostgreSQL", underTest);
  runMovesContract("PostgreSQL", underTest);
});
