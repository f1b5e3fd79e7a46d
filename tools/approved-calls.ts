/**
 * Kills the processes of runs at each of their questions, and has another process answer before, during and after: npm run approvals:killed -- --runs 100
 * --store sqlite. Stores: sqlite, postgres (a cluster that it makes and removes). Ends with 1 when a call ran that was not approved, or ran twice.
 */
import { parseArgs } from "node:util";
import "./compile-cache.ts";
import { postgresUnderTest } from "../test/contract/run-store-postgres.ts";
import { sqliteUnderTest } from "../test/contract/run-store-sqlite.ts";
import { startPostgres } from "../test/postgres-server.ts";
import { approvedCalls } from "./approvals/approved-calls.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "100" }, store: { type: "string", default: "sqlite" } },
});
const server = values.store === "postgres" ? await startPostgres() : undefined;
try {
  const store = server === undefined ? sqliteUnderTest : postgresUnderTest(() => server);
  const { complaints, kills, paid, codes } = await approvedCalls(Number(values.runs), store);
  for (const complaint of complaints) console.log(complaint);
  const came = Object.entries(codes).map(([code, times]) => `${times} ${code}`);
  console.log(
    `${values.runs} runs in ${values.store}, killed at ${kills} questions: ${complaints.length} faults, ${paid} payments; answers: ${came.join(", ")}`,
  );
  process.exitCode = complaints.length === 0 ? 0 : 1;
} finally {
  server?.close();
}
