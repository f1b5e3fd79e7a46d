/**
 * The cost of handles: a mediated fetch compared with the global one, to a server on this machine, and a mediated read of a file compared with `readFile`. Each
 * pair is measured in turns, so that other work of the machine affects both; the median of the single differences is the added time.
 *
 * Run: npx node bench/handles.ts [--rounds 2000]. Exits with 1 when more than 0.2 ms is added.
 */
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { nodePowers } from "../src/adapters/capability/node-powers.ts";
import { WritError } from "../src/error/writ-error.ts";
import { whyNot } from "../src/policy/powers.ts";
import { type Capability, fs, net, resourceText } from "../src/tool/capability.ts";
import type { Handles } from "../src/tool/handles.ts";

/** The most that a handle may add, in milliseconds. */
const limitMs = 0.2;

const { values } = parseArgs({ options: { rounds: { type: "string", default: "2000" } } });
const rounds = Number(values.rounds);

const server = `
  const { createServer } = require("node:http");
  const { parentPort } = require("node:worker_threads");
  const answer = JSON.stringify({ weather: "sunny", degrees: 21 });
  const server = createServer((_request, response) => response.end(answer));
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

/** Opens handles as a run does, with the same judge. */
function open(capabilities: readonly Capability[]): {
  readonly handles: Partial<Handles>;
  readonly close: () => void;
} {
  const scope = { tool: "bench", callId: "call_1", powers: [capabilities, capabilities] };
  return nodePowers.open({
    scope,
    kinds: new Set(capabilities.map(({ kind }) => kind)),
    signal: new AbortController().signal,
    use(resource) {
      const reason = whyNot(scope.powers, resource);
      if (reason !== undefined)
        throw new WritError("capability-denied", { resource: resourceText(resource), reason });
    },
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** Measures both in turns, after a tenth of the rounds for warming up; returns what the second adds. */
async function compare(
  name: string,
  plain: () => Promise<unknown>,
  mediated: () => Promise<unknown>,
): Promise<number> {
  const pairs: (readonly [plain: number, mediated: number])[] = [];
  for (let round = -rounds / 10; round < rounds; round += 1) {
    // The first of a pair alternates, because the second finds everything warm.
    const first = round % 2 === 0 ? plain : mediated;
    const one = await timed(first);
    const other = await timed(first === plain ? mediated : plain);
    if (round >= 0) pairs.push(first === plain ? [one, other] : [other, one]);
  }
  const [before, after] = [middle(pairs.map(([ms]) => ms)), middle(pairs.map(([, ms]) => ms))];
  const added = middle(pairs.map(([one, other]) => other - one));
  console.log(
    `${name.padEnd(44)} ${before.toFixed(3)} ms  ${after.toFixed(3)} ms  ${(after / before).toFixed(2)}×  ${added >= 0 ? "+" : ""}${added.toFixed(3)} ms`,
  );
  return added;
}

const worker = new Worker(server, { eval: true });
const port = await new Promise<number>((resolve) => worker.once("message", resolve));
const origin = `http://127.0.0.1:${port}`;
const folder = await realpath(await mkdtemp(join(tmpdir(), "writ-bench-")));
const file = join(folder, "notes.txt");
await writeFile(file, "A file of some four thousand letters. ".repeat(108));

const needs = [net(origin), fs.read(folder)];
const { handles, close } = open(needs);
const { fetch: mediatedFetch, fs: files } = handles;
if (mediatedFetch === undefined || files === undefined) throw new Error("the handles are missing");

console.log(
  `${"".padEnd(44)} ${"plain".padEnd(9)} ${"handle".padEnd(9)} ratio  added (medians of ${rounds})`,
);
const added = [
  await compare(
    "fetch beside the global fetch",
    async () => (await fetch(origin)).text(),
    async () => (await mediatedFetch(origin)).text(),
  ),
  await compare(
    "fs.readText beside readFile",
    () => readFile(file, "utf8"),
    () => files.readText(file),
  ),
  await compare(
    "the same, with handles opened for each read",
    () => readFile(file, "utf8"),
    async () => {
      const opened = open(needs);
      await opened.handles.fs?.readText(file);
      opened.close();
    },
  ),
];
close();
await worker.terminate();
await rm(folder, { recursive: true });
if (added.some((ms) => !(ms <= limitMs))) {
  console.error(`More than ${limitMs} ms is added.`);
  process.exitCode = 1;
}
