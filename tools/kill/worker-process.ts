/**
 * A worker of durable runs that may be killed at any time. Each effect takes a moment, and writes its beginning and its end to a ledger. Arguments: the
 * file of the runs and the ledger.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { durableRuns } from "../../src/durable.ts";
import { agent, type Policy, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";
import { sqliteRuns } from "../../src/sqlite.ts";

const [, , file = "", ledger = ""] = process.argv;
const effectMs = 50;

function acting(name: string, effect: "read" | "irreversible") {
  return tool({
    name,
    description: "",
    effect,
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    async execute({ to = "" }: { readonly to?: string }, { idempotencyKey }) {
      const line = `${name} ${to} ${idempotencyKey}\n`;
      appendFileSync(ledger, `begin ${line}`);
      await sleep(effectMs);
      appendFileSync(ledger, `end ${line}`);
      return "done";
    },
  });
}

const policy: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "pay", reason: "it is money" }
    : { verdict: "allow", rule: "free", reason: "" };

type PlannedCall = readonly [name: string, to: string];

/** A model that makes the planned calls, turn by turn, then tells how they ended. Only the conversation decides. */
function planned(turns: readonly (readonly PlannedCall[])[]) {
  return ({ messages }: Pick<ModelRequest, "messages">) => {
    const calls = turns[messages.filter(({ role }) => role === "assistant").length];
    if (calls !== undefined)
      return {
        calls: calls.map(([name, to]) => ({ name, arguments: { [name === "helper" ? "input" : "to"]: to } })),
      };
    return messages
      .flatMap((message) => (message.role === "tool" ? [`${message.name} ${message.status}`] : []))
      .join(", ");
  };
}

const [look, pay] = [acting("look", "read"), acting("pay", "irreversible")];
const helper = agent({
  name: "helper",
  model: planned([[["look", "x"]], [["pay", "lee"]]]),
  tools: [look, pay],
  policy,
});

/** The agent whose runs are disturbed. */
export const boss = agent({
  name: "boss",
  model: planned([
    [
      ["look", "a"],
      ["pay", "kim"],
    ],
    [["helper", "x"]],
    [
      ["look", "b"],
      ["look", "c"],
    ],
  ]),
  tools: [look, pay, helper.asTool()],
  policy,
});

if (import.meta.main) {
  const worker = durableRuns({ store: sqliteRuns(file), agents: [boss] }).work({ concurrency: 5 });
  process.once("SIGTERM", () => void worker.drain().then(() => process.exit()));
}
