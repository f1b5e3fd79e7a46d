import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crashServer, cutClaims, cutOwner, startTwice } from "../../tools/kill/postgres-faults.ts";
import { killRun, wakeOwner } from "../../tools/kill/kill-runs.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { postgresUnderTest } from "./run-store-postgres.ts";

const delays = [3, 25, 60, 110];

describe.skipIf(postgresMissing() !== undefined)("runs in a PostgreSQL that is disturbed", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());
  const store = postgresUnderTest(() => server);

  it.each(delays)(
    "lose nothing when their owner's connection is cut after %i ms, and pay nothing twice",
    async (afterMs) => {
      const { complaints } = await cutOwner(server, `cut ${afterMs}`, afterMs);
      expect(complaints).toEqual([]);
    },
  );

  it.each(delays)(
    "lose nothing when the server dies after %i ms: not even the result of the call at work",
    async (afterMs) => {
      const { complaints, unknown } = await crashServer(server, `crash ${afterMs}`, afterMs);
      expect([complaints, unknown]).toEqual([[], 0]);
    },
  );

  it.each(delays)("are carried out by one of two who begin them at once (%i)", async (afterMs) => {
    const { complaints, unknown } = await startTwice(server, `two ${afterMs}`, afterMs);
    expect([complaints, unknown]).toEqual([[], 0]);
  });

  it.each(["in:6", "out:6"])(
    "are lost by an owner that was stopped at %s, and paid once when it is woken",
    async (point) => {
      const { complaints } = await wakeOwner(point, { store, loses: () => cutClaims(server) });
      expect(complaints).toEqual([]);
    },
  );

  it.each([
    { name: "when a payment is about to begin, and when it has ended", points: ["in:6", "out:3"] },
    { name: "in an agent inside", points: ["out:9", "in:4", "kept:2"] },
    { name: "at any moment", points: ["ms:5", "ms:15", "ms:8"] },
    { name: "while payments wait for answers", points: ["kept:3", "in:4", "out:2"], waits: true },
  ])("lose nothing and pay nothing twice when they are killed $name", async ({ points, waits }) => {
    const { complaints, kills } = await killRun(points, { waits, store });
    expect(complaints).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(2);
  }); // many processes, one after the other
});
