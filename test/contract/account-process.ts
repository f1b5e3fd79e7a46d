/**
 * A process that runs an agent on an account in a SQLite file or in PostgreSQL, for the tests of several at once. For each line `run <ms>` of its input it runs the
 * agent, whose model takes so long, and says how that ended.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { agent } from "../../src/index.ts";
import { account } from "../../src/policy.ts";
import { postgresAccounts } from "../../src/postgres.ts";
import { sqliteAccounts } from "../../src/sqlite.ts";

const [, , place = "", tokens = "", expiresMs = "600000"] = process.argv;
const [url = "", schema] = place.split("#");
const store = schema === undefined ? sqliteAccounts(place) : postgresAccounts(url, { schema });
const kim = account({
  store,
  key: "kim",
  limits: { tokens: Number(tokens) },
  per: "month",
  replyTokens: 80,
  expiresMs: Number(expiresMs),
});

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const ms = Number(line.split(" ")[1]);
  const clerk = agent({
    name: "clerk",
    async model() {
      console.log("asked");
      await sleep(ms);
      return { text: "done", usage: { inputTokens: 20, outputTokens: 80 } };
    },
  });
  const { outcome } = await clerk.run("hi", { account: kim });
  console.log(`${outcome.type} ${(await kim.used()).tokens}`);
}
await store.close();
