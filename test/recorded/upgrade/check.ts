/** A program that looks which runs of the file that it is given cannot go on with its agents. The test bundles and minifies it. */
import { readFileSync } from "node:fs";
import { durableRuns, memoryRuns } from "writ/durable";
import { agents } from "./agents.ts";

const [, , file = ""] = process.argv;
const kept: unknown = JSON.parse(readFileSync(file, "utf8"));
const runs = durableRuns({ store: memoryRuns(), agents });
for (const text of Object.values(kept as Readonly<Record<string, string>>)) await runs.import(text);
console.log(JSON.stringify({ runs: (await runs.list()).length, stranded: await runs.check() }));
