/**
 * A process that carries out one run from a store, and may kill itself at a point of its journal. Each effect writes its beginning and
 * its end to a ledger. Prints how the run ended, as JSON. Arguments: the module of the store, its address, the ledger, the run, the point as `in:7`
 * (the 7th work is about to begin), `out:7` (it has ended, and has no record), `kept:7` (it has its record) or `ms:70` (the run is so many
 * milliseconds old), behind which `:SIGSTOP` stops it in place of killing it, and `waits` where each payment waits for an answer.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, isWritError, type Journal, type Policy, tool } from "../../src/index.ts";
import type { Step } from "../../src/doors.ts";
import type { ModelRequest } from "../../src/models.ts";
import type { RunJournal } from "../../src/durable.ts";
import type { OpenRuns } from "../../test/contract/run-store.ts";

const [, , module = "", address = "", ledger = "", runId = "", point = "", waits = ""] = process.argv;

/** An effect that the ledger knows. */
function acting(name: string, effect: "read" | "write" | "irreversible", more: object = {}) {
  return tool({
    name,
    description: "",
    effect,
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    async execute({ to }: { to?: unknown }, { idempotencyKey }) {
      const done = `${name} ${typeof to === "string" ? to : ""}`;
      const line = `${done} ${idempotencyKey}\n`;
      appendFileSync(ledger, `begin ${line}`);
      await sleep(3);
      appendFileSync(ledger, `end ${line}`);
      return done;
    },
    ...more,
  });
}

/** Payments wait for an answer, or are approved at once. */
const policy: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "pay", reason: "it is money" }
    : { verdict: "allow", rule: "free", reason: "" };
const people = waits === "waits" ? {} : { approve: () => true };

type PlannedCall = readonly [name: string, to: string];

/** A model that makes the planned calls, turn by turn, then answers. Only the conversation decides, so that a process can go on anywhere. */
function planned(turns: readonly (readonly PlannedCall[])[]) {
  return ({ messages }: Pick<ModelRequest, "messages">) => {
    const calls = turns[messages.filter(({ role }) => role === "assistant").length];
    if (calls === undefined) return "done";
    return {
      calls: calls.map(([name, to]) => ({
        name,
        arguments: { [name.startsWith("helper") ? "input" : "to"]: to },
      })),
    };
  };
}

const pay = acting("pay", "irreversible");
const note = acting("note", "write", { retry: "keyed" });
const look = acting("look", "read");
const helper = (name: string) =>
  agent({
    name,
    model: planned([[["look", name]], [["pay", name]]]),
    tools: [look, pay],
    policy,
  }).asTool();

const boss = agent({
  name: "boss",
  model: planned([
    [
      ["look", "a"],
      ["look", "b"],
      ["pay", "kim"],
    ],
    [
      ["helper1", "x"],
      ["helper2", "y"],
    ],
    [
      ["note", "lee"],
      ["pay", "lee"],
      ["look", "c"],
    ],
  ]),
  tools: [look, pay, note, helper("helper1"), helper("helper2")],
  policy,
});

/** Kills or stops the process at the point that was asked for. */
function dying(journal: Journal): Journal {
  const [where = "", wanted = "", signal = "SIGKILL"] = point.split(":");
  const counts: Record<string, number> = {};
  const reach = (place: string): void => {
    counts[place] = (counts[place] ?? 0) + 1;
    if (place === where && counts[place] === Number(wanted)) process.kill(process.pid, signal);
  };
  const around =
    <Result>(work: () => Promise<Result>) =>
    async (): Promise<Result> => {
      reach("in");
      const result = await work();
      reach("out");
      return result;
    };
  const within = <Result>(step: Step<Result>): Step<Result> => ({
    ...step,
    run: around(step.run),
    ...(step.lost === undefined ? {} : { lost: around(step.lost) }),
  });
  const step = async <Result>(given: Step<Result>): Promise<Result> => {
    const result = await journal.step(within(given));
    reach("kept");
    return result;
  };
  return {
    ...journal,
    step,
    async all(steps) {
      const ended = await Promise.allSettled(steps.map(step));
      return ended.map((each) => {
        if (each.status === "rejected") throw each.reason;
        return each.value;
      });
    },
  };
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the module of a store under test
const { openRuns } = (await import(module)) as { readonly openRuns: OpenRuns };
const runs = await openRuns(address);

/** A server needs a moment to see that the process before is dead. */
async function open(triesLeft = 200): Promise<RunJournal> {
  try {
    return await runs.open(runId);
  } catch (error) {
    if (!isWritError(error, "run-claimed") || triesLeft === 0) throw error;
    await sleep(10);
    return open(triesLeft - 1);
  }
}

const journal = await open();
const [unit, age] = point.split(":");
if (unit === "ms") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(age)).unref();
const result = await boss.run("Go", {
  journal: dying(journal),
  runId,
  ...people,
});
const results = result.transcript.messages.flatMap((message) =>
  message.role === "tool" ? [{ name: message.name, status: message.status, text: message.text }] : [],
);
await journal.close();
await runs.close();
console.log(JSON.stringify({ outcome: result.outcome.type, results }));
