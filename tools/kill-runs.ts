/**
 * Kills runs at every point of their journal, and at random moments, and looks whether anything was lost or done twice: npm run kill -- --kills 200
 * --seed 7 --store postgres. A run is killed up to 4 times; in every second one each payment waits for an answer. PostgreSQL is a cluster that it
 * makes and removes; the default store is a SQLite file. Ends with 1 when something was.
 */
import { parseArgs } from "node:util";
import { postgresUnderTest } from "../test/contract/run-store-postgres.ts";
import { sqliteUnderTest } from "../test/contract/run-store-sqlite.ts";
import { startPostgres } from "../test/postgres-server.ts";
import { randomFrom } from "../test/random.ts";
import { killRun } from "./kill/kill-runs.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "sqlite" },
  },
});
const server = values.store === "postgres" ? await startPostgres() : undefined;
const store = server === undefined ? sqliteUnderTest : postgresUnderTest(() => server);
const next = randomFrom(Number(values.seed));
/** The places of a kill, and how many there are of each: a run has some 24 steps and takes a fifth of a second. */
const places = [
  ["in", 24],
  ["out", 24],
  ["kept", 24],
  ["ms", 200],
] as const;
function point(): string {
  const [place, most] = places[Math.floor(next() * places.length)] ?? places[0];
  return `${place}:${1 + Math.floor(next() * most)}`;
}

let kills = 0;
let runs = 0;
let unknown = 0;
let faults = 0;
try {
  while (kills < Number(values.kills)) {
    const points = Array.from({ length: 1 + Math.floor(next() * 4) }, point);
    const ended = await killRun(points, { waits: runs % 2 === 1, store });
    runs += 1;
    kills += ended.kills;
    unknown += ended.unknown;
    for (const complaint of ended.complaints) console.log(`${points.join(" ")}: ${complaint}`);
    faults += ended.complaints.length;
  }
} finally {
  server?.close();
}
console.log(
  `${kills} kills in ${runs} runs in ${values.store}, seed ${values.seed}: ${faults} faults, ${unknown} results unknown`,
);
process.exitCode = faults === 0 ? 0 : 1;
