/**
 * A process that has runs in the sessions of an address, for the tests of several at once. For each line of its input it begins a run that pays, and says
 * how it ended and whether its model was told of a payment before. Paying writes its beginning and its end to a ledger.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, session, tool } from "../../src/index.ts";
import { openSessions } from "./open-sessions.ts";

const [, , address = "", ledger = "", name = ""] = process.argv;
const store = openSessions(address);

const pay = tool({
  name: "pay",
  description: "",
  effect: "irreversible",
  inputSchema: { type: "object", properties: { ms: { type: "number" } } },
  async execute({ ms }) {
    appendFileSync(ledger, `${name} begins\n`);
    await sleep(Number(ms));
    appendFileSync(ledger, `${name} ends\n`);
    return `paid by ${name}`;
  },
});

await store.list(); // has its connection
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [ms, whenBusy = "wait"] = line.split(" ");
  const requests: string[] = [];
  const payer = agent({
    name: "payer",
    tools: [pay],
    model({ messages }) {
      requests.push(JSON.stringify(messages));
      return requests.length === 1 ? { calls: [{ name: "pay", arguments: { ms: Number(ms) } }] } : "done";
    },
  });
  const talk = session(store, "s", { whenBusy: whenBusy as "wait" | "refuse" });
  const end = await payer.run("Pay", { session: talk, approve: () => true }).then(
    ({ text }) => text,
    (error: { readonly code: string }) => error.code,
  );
  const told = requests[0]?.match(/paid by \w+/g) ?? [];
  console.log([end, ...told].join(" | "));
}
await store.close();
