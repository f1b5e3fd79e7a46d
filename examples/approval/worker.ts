// A worker of the example: carries out the runs of a file until it is killed or told to end.
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import clerk from "./agent.ts";

const [, , file = "runs.db"] = process.argv;
const worker = durableRuns({ store: sqliteRuns(file), agents: [clerk] }).work();
process.once("SIGTERM", () => void worker.drain().then(() => process.exit()));
