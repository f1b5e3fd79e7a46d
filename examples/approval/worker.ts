// A worker of the example: it carries out the runs of a file until it is killed or told to end. With the argument `next` it is a worker of the next release,
// which continues runs that began before its new tool.
import { durableRuns } from "writ/durable";
import { sqliteRuns } from "writ/sqlite";
import clerk from "./agent.ts";
import nextClerk from "./next-release.ts";

const [, , file = "runs.db", release] = process.argv;
const store = sqliteRuns(file);
const runs =
  release === "next"
    ? durableRuns({ store, agents: [nextClerk], accept: ["tools"] })
    : durableRuns({ store, agents: [clerk] });
const worker = runs.work();
process.once("SIGTERM", () => void worker.drain().then(() => process.exit()));
