/**
 * A worker of durable runs that lives until it is told to go or is killed. Arguments: the module of the dispatcher, its address, the ledger, the
 * folder of gates, the concurrency and the names of its agents. An agent asks whether it may pay, then passes a gate: a file that has to be there.
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, type Agent, type Policy, tool } from "../../src/index.ts";
import { durableRuns } from "../../src/durable.ts";
import type { OpenDispatched } from "./dispatcher.ts";

const policy: Policy = ({ tool: name }) =>
  name === "ask"
    ? { verdict: "ask", rule: "asks", reason: "a person decides" }
    : { verdict: "allow", rule: "free", reason: "" };

/** Does what its input says, word by word: `pass` waits for the gate, `ask` for an answer. Then it answers, or fails once where the gate `up` is shut. */
export function walker(name: string, ledger: string, gates: string): Agent<string, string> {
  const step = (what: "pass" | "ask", during: () => Promise<unknown>) =>
    tool({
      name: what,
      description: "",
      effect: what === "pass" ? "read" : "irreversible",
      inputSchema: { type: "object", properties: { run: { type: "string" } } },
      async execute(_given, { run }) {
        appendFileSync(ledger, `begin ${what} ${run.runId}\n`);
        await during();
        appendFileSync(ledger, `end ${what} ${run.runId}\n`);
        return "done";
      },
    });
  const gate = async (): Promise<void> => {
    while (!existsSync(join(gates, "open"))) await sleep(10);
  };
  return agent({
    name,
    tools: [step("pass", gate), step("ask", async () => undefined)],
    policy,
    model({ messages }) {
      const words = messages.flatMap((message) =>
        message.role === "user"
          ? message.parts.flatMap((part) => ("text" in part ? part.text.split(" ") : []))
          : [],
      );
      const word = words[messages.filter(({ role }) => role === "assistant").length];
      if (word === "fail" && existsSync(join(gates, "down"))) throw new Error("the provider is down");
      return word === undefined || word === "fail" ? "done" : { calls: [{ name: word, arguments: {} }] };
    },
  });
}

if (import.meta.main) {
  const [, , module = "", address = "", ledger = "", gates = "", concurrency = "", ...names] = process.argv;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the module of a dispatcher under test
  const { openDispatched } = (await import(module)) as { readonly openDispatched: OpenDispatched };
  const agents = names.map((name) => walker(name, ledger, gates));
  const worker = durableRuns({ ...openDispatched(address), agents }).work({
    concurrency: Number(concurrency),
  });
  process.once("SIGTERM", () => void worker.drain().then(() => process.exit()));
  setInterval(() => undefined, 1000);
  console.log("ready");
}
