/**
 * Kills runs at every point of their journal, and at random moments, and checks that nothing was lost, done twice or told otherwise: npm run kill --
 * --kills 200 --seed 7 --store postgres. Prints a line for each run that has ended. A run is killed up to 4 times; every second one has no process while
 * a payment waits. Stores: memory (one process, in which a killed run stands still), sqlite, postgres, dbos (postgres, where DBOS hands the run out), all
 * (a quarter of the kills each), and restate (sqlite, where a Restate of the folder `WRIT_RESTATE` hands the run out). Servers are made and removed.
 * Ends with 1 when something was wrong.
 */
import { parseArgs } from "node:util";
import "./compile-cache.ts";
import { postgresUnderTest } from "../test/contract/run-store-postgres.ts";
import { sqliteUnderTest } from "../test/contract/run-store-sqlite.ts";
import { type PostgresServer, startPostgres } from "../test/postgres-server.ts";
import { randomFrom } from "../test/random.ts";
import { type RestateServer, restateMissing, startRestate } from "../test/restate-server.ts";
import { dbosDispatched } from "../test/contract/dispatcher-dbos.ts";
import { restateDispatched } from "../test/contract/dispatcher-restate.ts";
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
let startedRestate: RestateServer | undefined;
const restateServer = (): RestateServer => {
  if (startedRestate === undefined) throw new Error("no Restate was started");
  return startedRestate;
};
const dbos = dbosDispatched(server);
const restate = restateDispatched(restateServer, ["boss"]);
const postgres = postgresUnderTest(server);
const stores: Readonly<Record<string, Kill>> = {
  memory: (points) => killInMemory(points),
  sqlite: (points, waits) => killRun(points, { waits, store: sqliteUnderTest }),
  postgres: (points, waits) => killRun(points, { waits, store: postgres }),
  dbos: (points, waits) => killRun(points, { waits, store: dbos }),
  restate: (points, waits) => killRun(points, { waits, store: restate }),
};
const chosen = Object.entries(stores).filter(
  ([name]) => values.store === name || (values.store === "all" && name !== "restate"),
);
if (chosen.length === 0) throw new Error(`no store is called "${values.store}"`);
const next = randomFrom(Number(values.seed));
/** How many steps a run has, about, and how many milliseconds it takes; a process whose run waits early takes a seventh of them. */
const [steps, ms, msUntilWaiting] = [55, 350, 50];
type Draw = { readonly among: number; readonly hasTime: boolean; readonly waits: boolean };
/** A random point of a run. Each of `among` points comes so soon after the one before that all have room. */
function point({ among, hasTime, waits }: Draw): string {
  const place = ["in", "out", "kept", "ms"][Math.floor(next() * (hasTime ? 4 : 3))] ?? "in";
  const most = place !== "ms" ? steps / among : waits ? msUntilWaiting : ms / among;
  return `${place}:${1 + Math.floor(next() * most)}`;
}

const seconds = (): number => Math.round(performance.now() / 1000);

/** Kills runs in a store, and prints what was wrong. */
async function killed(store: string, kill: Kill): Promise<number> {
  const sum = { kills: 0, runs: 0, unknown: 0, faults: 0 };
  const most = Math.ceil(Number(values.kills) / chosen.length);
  while (sum.kills < most) {
    const waits = sum.runs % 2 === 1;
    const among = 1 + Math.floor(next() * 4);
    const draw = { among, hasTime: store !== "memory", waits: waits && store !== "memory" };
    const points = Array.from({ length: among }, () => point(draw));
    const ended = await kill(points, waits);
    sum.runs += 1;
    sum.kills += ended.kills;
    sum.unknown += ended.unknown;
    for (const complaint of ended.complaints) console.log(`${points.join(" ")}: ${complaint}`);
    sum.faults += ended.complaints.length;
    console.log(
      `${store}: ${sum.kills} of ${most} kills, ${sum.runs} runs, ${sum.faults} faults, ${seconds()} s`,
    );
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
  if (values.store === "restate" && restateMissing() === undefined) startedRestate = await startRestate();
  for (const [name, kill] of chosen) faults += await killed(name, kill);
} finally {
  started?.close();
  await startedRestate?.close();
}
process.exit(faults === 0 ? 0 : 1); // a run that was killed in memory stands still, and its clocks still tick
