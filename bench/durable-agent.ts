/** The agents of bench/durable.ts, and, started as a program, a worker of them. Arguments: the address of the store, and `idle` to tell its memory, or `ten` to carry out ten runs at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { agent, type Policy, tool } from "writ";
import { dbosDispatcher } from "writ/dbos";
import { type Dispatcher, durableRuns, type RunStore } from "writ/durable";
import type { ModelRequest } from "writ/models";
import { postgresRuns } from "writ/postgres";
import { sqliteRuns } from "writ/sqlite";

/** A file, or the address of a PostgreSQL with a schema behind `#`. */
export function openStore(address: string): RunStore & { readonly close: () => unknown } {
  const [url, schema] = address.split("#");
  return schema === undefined ? sqliteRuns(address) : postgresRuns(url, { schema });
}

/** The dispatcher that hands out the runs of a store: DBOS where the schema's name ends with `_dbos`; undefined for the store itself. */
function dispatcherOf(address: string): Dispatcher | undefined {
  const [url = "", schema] = address.split("#");
  return schema?.endsWith("_dbos") === true ? dbosDispatcher(url, { schema: `${schema}_tables` }) : undefined;
}

const tell = (text: string): void => {
  process.stdout.write(`${text} ${Date.now()}\n`);
};

const pay = tool({
  name: "pay",
  description: "",
  inputSchema: { type: "object", properties: {} },
  effect: "irreversible",
  execute: () => {
    tell("paid");
    return "paid";
  },
});
const look = tool({
  name: "look",
  description: "",
  inputSchema: { type: "object", properties: { turn: { type: "number" } } },
  effect: "read",
  execute: async () => {
    tell("looked");
    await sleep(100);
    return "seen";
  },
});

const policy: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "money", reason: "money leaves" }
    : { verdict: "allow", rule: "free", reason: "" };

const turnsSoFar = ({ messages }: Pick<ModelRequest, "messages">): number =>
  messages.filter(({ role }) => role === "assistant").length;

/** Asks once whether it may pay, then answers. */
export const payer = agent({
  name: "payer",
  model: (request) => (turnsSoFar(request) === 0 ? { calls: [{ name: "pay", arguments: {} }] } : "paid"),
  tools: [pay],
  policy,
});

/** Looks sixty times, one turn after another: a worker beside it may take long to start. */
export const looker = agent({
  name: "looker",
  budget: { turns: 100, toolCalls: 100 },
  model: (request) => {
    const turn = turnsSoFar(request);
    return turn < 60 ? { calls: [{ name: "look", arguments: { turn } }] } : "seen";
  },
  tools: [look],
  policy,
});

if (import.meta.main) {
  const [, , address = "", role = ""] = process.argv;
  const store = openStore(address);
  const dispatcher = dispatcherOf(address);
  const runs = durableRuns({ store, agents: [payer, looker], ...(dispatcher && { dispatcher }) });
  const worker = runs.work({ concurrency: role === "ten" ? 10 : 20 });
  tell("ready");
  if (role === "idle")
    setTimeout(() => {
      globalThis.gc?.();
      tell(`memory ${process.memoryUsage.rss()}`);
    }, 3000);
  process.once("SIGTERM", () => void worker.drain().then(() => process.exit()));
}
