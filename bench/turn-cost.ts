/**
 * Counts what a turn, a delta and a run that waits cost where counting is exact: promises, bytes, and the files and functions that are
 * entered, each the same on a busy machine. Prints JSON. Run: npm run bench:turn-cost
 */
import { createHook } from "node:async_hooks";
import { Session } from "node:inspector/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { agent, type Agent, tool } from "../src/index.ts";
import type { Delta, ModelRequest, PlainReply } from "../src/models.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Calls `add` so many times, then answers. A tool that `waits` returns a promise. */
function adder(turns: number, waits = false): Agent<string, string> {
  const add = tool({
    name: "add",
    description: "Adds two numbers",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    execute: (args) => (waits ? Promise.resolve(sumOf(args)) : sumOf(args)),
  });
  let asked = 0;
  const model = (): { calls: { name: string; arguments: { a: number; b: number } }[] } | string =>
    (asked += 1) % (turns + 1) === 0 ? "done" : { calls: [{ name: "add", arguments: { a: asked, b: 1 } }] };
  return agent({ name: "adder", model, tools: [add], budget: { turns: turns + 1, toolCalls: turns + 1 } });
}

function sumOf(args: unknown): number {
  return (args as { a: number }).a + 1;
}

async function warm(run: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < 90; round += 1) await run();
}

/** The cost of 200 more turns, by a count that only grows. */
async function perTurn(
  count: (run: () => Promise<unknown>) => Promise<number>,
  waits = false,
): Promise<number> {
  const [short, long] = [adder(100, waits), adder(300, waits)];
  await warm(() => short.run("go"));
  await warm(() => long.run("go"));
  return ((await count(() => long.run("go"))) - (await count(() => short.run("go")))) / 200;
}

async function promisesOf(run: () => Promise<unknown>): Promise<number> {
  let promises = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === "PROMISE") promises += 1;
    },
  });
  hook.enable();
  await run();
  hook.disable();
  return promises;
}

/** The least of nine: other work of the machine only adds. */
async function bytesOf(run: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 9; round += 1) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    await run();
    least = Math.min(least, process.memoryUsage().heapUsed - before);
  }
  return least;
}

/** The cost of 1 000 more deltas for a run that is read event by event. */
async function promisesADelta(): Promise<number> {
  async function* deltas(count: number): AsyncGenerator<Delta> {
    for (let index = 0; index < count; index += 1) yield { type: "text-delta", text: `word${index}` };
    yield { type: "end", finishReason: "stop" };
  }
  let size = 0;
  const writer = agent({ name: "writer", model: () => deltas(size) });
  const read = async (count: number): Promise<number> => {
    size = count;
    const events = writer.stream("go");
    return promisesOf(async () => {
      while ((await events.next()).done !== true);
    });
  };
  await read(1000);
  return ((await read(2000)) - (await read(1000))) / 1000;
}

/** The memory that each of so many runs holds while all wait in their first tool. */
async function bytesOfAWaitingRun(count = 500): Promise<number> {
  const waiting: (() => void)[] = [];
  let isWarm = false;
  const look = tool({
    name: "look",
    description: "Looks",
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => (isWarm ? new Promise<void>((resolve) => waiting.push(resolve)) : undefined),
  });
  const model = ({ messages }: ModelRequest): PlainReply =>
    messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [{ name: "look", arguments: {} }] };
  const waiter = agent({ name: "waiter", model, tools: [look] });
  await warm(() => waiter.run("go"));
  isWarm = true;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const runs = Array.from({ length: count }, (_, index) => waiter.run(`go ${index}`));
  while (waiting.length < count) await new Promise(setImmediate);
  collectGarbage();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  for (const goOn of waiting) goOn();
  await Promise.all(runs);
  return bytes;
}

interface Entered {
  readonly files: number;
  readonly functions: number;
}

/** The files of src, and the named functions in them, that one run enters. */
async function entered(turns: number): Promise<Entered> {
  const one = adder(turns);
  await one.run("go");
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await one.run("go");
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const own = result
    .filter(({ url }) => url.includes("/src/"))
    .map(({ functions }) =>
      functions.filter(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0),
    )
    .filter((functions) => functions.length > 0);
  return { files: own.length, functions: own.flat().length };
}

const cost = {
  promisesATurn: await perTurn(promisesOf),
  promisesWhereAToolWaits: await perTurn(promisesOf, true),
  bytesATurn: Math.round(await perTurn(bytesOf)),
  promisesADelta: await promisesADelta(),
  bytesOfAWaitingRun: Math.round(await bytesOfAWaitingRun()),
  answer: await entered(0),
  call: await entered(1),
};
console.log(JSON.stringify(cost));
