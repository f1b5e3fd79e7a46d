/**
 * Counts the bytes that an ended run leaves after a minor collection, the same on a busy machine. What is left moves into V8's old generation, where
 * it costs a copy and lives until a full collection, with all that it can see. V8 keeps there: functions that are written directly into a field,
 * getters of object literals, and values of a WeakMap that hold their key. Prints JSON. Run: npm run bench:left-by-runs
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { agent, type Agent, allow, memoryJournal, policy, type RunOptions, tool } from "../src/index.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;

const look = tool({
  name: "look",
  description: "Looks",
  inputSchema: { type: "object" },
  effect: "read",
  execute: () => "a page",
});
const pay = tool({
  name: "pay",
  description: "Pays",
  inputSchema: { type: "object" },
  effect: "irreversible",
  execute: () => "paid",
});

const guard = policy({ name: "guard", rules: [allow("look")] });

/** Looks, pays, and answers; the policy denies the payment. */
function clerk(): Agent<string, string> {
  let asked = 0;
  const replies = [
    { calls: [{ name: "look", arguments: {} }] },
    { calls: [{ name: "pay", arguments: {} }] },
    "done",
  ];
  const model = () => replies[asked++ % replies.length] ?? "done";
  return agent({ name: "clerk", model, tools: [look, pay], policy: guard });
}

/** Has a clerk work, and answers. */
function desk(): Agent<string, string> {
  let asked = 0;
  const model = () =>
    asked++ % 2 === 0 ? { calls: [{ name: "clerk", arguments: { input: "go" } }] } : "done";
  return agent({
    name: "desk",
    model,
    tools: [clerk().asTool()],
    policy: policy({ name: "open", rules: [allow("clerk")] }),
  });
}

function newSpaceUsed(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_used_size ?? 0;
}

/** The bytes that each of 100 runs leaves, the median of nine rounds. */
async function leftBy(
  subject: Agent<string, string>,
  options: () => RunOptions = () => ({}),
): Promise<number> {
  const runs = 100;
  for (let round = 0; round < 2000; round += 1) await subject.run("go", options());
  const rounds: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    collectGarbage();
    const before = newSpaceUsed();
    for (let run = 0; run < runs; run += 1) await subject.run("go", options());
    await new Promise(setImmediate);
    collectGarbage({ type: "minor" });
    rounds.push((newSpaceUsed() - before) / runs);
  }
  return Math.round(rounds.toSorted((one, other) => one - other)[4] ?? 0);
}

console.log(
  JSON.stringify({
    plain: await leftBy(clerk()),
    recorded: await leftBy(clerk(), () => ({ journal: memoryJournal() })),
    delegating: await leftBy(desk()),
  }),
);
