/**
 * Disturbs runs in a PostgreSQL that it makes and removes: npm run faults:postgres -- --rounds 40 --seed 7. In each round the connection that holds
 * a run is cut while its process lives, the server dies and comes back in the middle of a run, and two begin the same run at once. Ends with 1
 * when something was lost, or done twice.
 */
import { parseArgs } from "node:util";
import { startPostgres } from "../test/postgres-server.ts";
import { randomFrom } from "../test/random.ts";
import { crashServer, cutOwner, startTwice } from "./kill/postgres-faults.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "20" }, seed: { type: "string", default: "1" } },
});
const scenes = [
  ["the connection of an owner that lives is cut", cutOwner],
  ["the server dies and comes back", crashServer],
  ["two begin the same run", startTwice],
] as const;
const next = randomFrom(Number(values.seed));
const server = await startPostgres();
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
