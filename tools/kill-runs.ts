/**
 * Kills runs at every point of their journal, and at random moments, and looks whether anything was lost, done twice or told otherwise: npm run kill --
 * --kills 200 --seed 7 --store postgres. A run is killed up to 4 times; in every second one each payment waits for an answer. Stores: memory (one process, in
 * which a killed run stands still), sqlite, postgres, dbos (postgres, where DBOS hands the run out), all (a quarter of the kills each). PostgreSQL is a
 * cluster that it makes and removes. Ends with 1 when something was.
 */
import { parseArgs } from "node:util";
import "./compile-cache.ts";
import { postgresUnderTest } from "../test/contract/run-store-postgres.ts";
import { sqliteUnderTest } from "../test/contract/run-store-sqlite.ts";
import { type PostgresServer, startPostgres } from "../test/postgres-server.ts";
import { randomFrom } from "../test/random.ts";
import { dbosDispatched } from "../test/contract/dispatcher-dbos.ts";
import { killInMemory, killRun, type KilledRun } from "./kill/kill-runs.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    store: { type: "string", default: "sqlite" },
  },
});
type Kill = (points: readonly string[], waits: boolean) => Promise<KilledRun>;

let started: PostgresServer | undefined;
const server = (): PostgresServer => {
  if (started === undefined) throw new Error("no PostgreSQL was started");
  return started;
};
const dbos = dbosDispatched(server);
const postgres = postgresUnderTest(server);
const stores: Readonly<Record<string, Kill>> = {
  memory: (points) => killInMemory(points),
  sqlite: (points, waits) => killRun(points, { waits, store: sqliteUnderTest }),
  postgres: (points, waits) => killRun(points, { waits, store: postgres }),
  dbos: (points) => killRun(points, { waits: true, store: dbos }), // a worker has nobody to ask
};
const chosen = Object.entries(stores).filter(([name]) => values.store === "all" || values.store === name);
if (chosen.length === 0) throw new Error(`no store is called "${values.store}"`);
const next = randomFrom(Number(values.seed));
/** The places of a kill, and how many there are of each: a run has some 55 steps and takes a third of a second. */
const places = [
  ["in", 55],
  ["out", 55],
  ["kept", 55],
  ["ms", 350],
] as const;
function point(hasTime: boolean): string {
  const [place, most] = places[Math.floor(next() * (places.length - (hasTime ? 0 : 1)))] ?? places[0];
  return `${place}:${1 + Math.floor(next() * most)}`;
}

/** Kills runs in a store, and says what was wrong. */
async function killed(store: string, kill: Kill): Promise<number> {
  const sum = { kills: 0, runs: 0, unknown: 0, faults: 0 };
  while (sum.kills < Number(values.kills) / chosen.length) {
    const points = Array.from({ length: 1 + Math.floor(next() * 4) }, () => point(store !== "memory"));
    const ended = await kill(points, sum.runs % 2 === 1);
    sum.runs += 1;
    sum.kills += ended.kills;
    sum.unknown += ended.unknown;
    for (const complaint of ended.complaints) console.log(`${points.join(" ")}: ${complaint}`);
    sum.faults += ended.complaints.length;
  }
  const { kills, runs, unknown, faults } = sum;
  console.log(
    `${kills} kills in ${runs} runs in ${store}, seed ${values.seed}: ${faults} faults, ${unknown} results unknown`,
  );
  return faults;
}

let faults = 0;
try {
  if (chosen.some(([name]) => name === "postgres" || name === "dbos")) started = await startPostgres();
  for (const [name, kill] of chosen) faults += await killed(name, kill);
} finally {
  started?.close();
}
process.exit(faults === 0 ? 0 : 1); // a run that was killed in memory stands still, and its clocks go on
