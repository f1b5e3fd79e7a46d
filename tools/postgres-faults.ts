/**
 * Disturbs runs in a PostgreSQL that it makes and removes: npm run faults:postgres -- --rounds 40 --seed 7. In each round the connection that holds
 * a run is cut while its process lives, the server dies and comes back in the middle of a run, two begin the same run at once, and a process is
 * stopped, loses its run and is woken. Ends with 1 when something was lost, or done twice.
 */
import { parseArgs } from "node:util";
import "./compile-cache.ts";
import { startPostgres } from "../test/postgres-server.ts";
import { randomFrom } from "../test/random.ts";
import { postgresUnderTest } from "../test/contract/run-store-postgres.ts";
import { wakeOwner } from "./kill/kill-runs.ts";
import { crashServer, cutClaims, cutOwner, type FaultyScene, startTwice } from "./kill/postgres-faults.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "20" }, seed: { type: "string", default: "1" } },
});
const scenes = [
  ["the connection of an owner that lives is cut", cutOwner],
  ["the server dies and comes back", crashServer],
  ["two begin the same run", startTwice],
  ["an owner is stopped, loses its run and is woken", stopOwner],
] as const;
const next = randomFrom(Number(values.seed));
const server = await startPostgres();
const store = postgresUnderTest(() => server);

async function stopOwner(_server: unknown, _schema: string, after: number): Promise<FaultyScene> {
  const point = `${after % 2 === 0 ? "in" : "out"}:${1 + (after % 20)}`;
  return { ...(await wakeOwner(point, { store, loses: () => cutClaims(server) })), wasTaken: true };
}

let faults = 0;
try {
  for (const [what, scene] of scenes) {
    const count = { taken: 0, unknown: 0, faults: 0 };
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const afterMs = Math.floor(next() * 150);
      const { complaints, wasTaken, unknown } = await scene(server, `${scene.name} ${round}`, afterMs);
      for (const complaint of complaints) console.log(`${what}, after ${afterMs} ms: ${complaint}`);
      count.taken += wasTaken ? 1 : 0;
      count.unknown += unknown;
      count.faults += complaints.length;
    }
    console.log(
      `${values.rounds} × ${what}: ${count.faults} faults, ${count.taken} taken over, ${count.unknown} results unknown`,
    );
    faults += count.faults;
  }
} finally {
  server.close();
}
process.exitCode = faults === 0 ? 0 : 1;
