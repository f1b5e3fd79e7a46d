/**
 * 1 000 runs at a time, each read as server-sent events: how long a piece of an answer takes from the model to its reader, what the server's memory is, and whether
 * anything was lost; some readers are slow. The same with `streamText` of `ai` behind hono and with Mastra's server (`npm run bench:install -- mastra`), for ratios. Prints JSON. Run: npm run load -- --runs 1000
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { parseArgs } from "node:util";
import { EventSourceParserStream } from "eventsource-parser/stream";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    pieces: { type: "string", default: "20" },
    every: { type: "string", default: "500" },
    slow: { type: "string", default: "50" },
    only: { type: "string" },
  },
});
const [runs, pieces, slow] = [Number(values.runs), Number(values.pieces), Number(values.slow)];

interface Read {
  readonly delays: number[];
  /** Facts that were missing, came twice or in another order, and answers that are not whole. */
  readonly lost: number;
}

/** An event as writ, `ai` or Mastra sends it. */
interface Told {
  readonly type: string;
  readonly text?: string;
  readonly delta?: string;
  readonly payload?: { readonly text?: string };
}

const textOf = ({ text, delta, payload }: Told): string => text ?? delta ?? payload?.text ?? "";

/** The memory of a server, and the processor time that it took. */
interface Used {
  readonly bytes: number;
  readonly microseconds: number;
}

/** A server as a process of its own. */
class Served {
  private readonly child: ChildProcess;
  private readonly lines: Interface;

  constructor(kind: string) {
    const program = join(import.meta.dirname, "load-server.ts");
    const options = ["--no-warnings", "--expose-gc", program, kind, values.pieces, values.every];
    this.child = spawn(process.execPath, options, { stdio: ["pipe", "pipe", "inherit"] });
    if (this.child.stdout === null) throw new Error("no output");
    this.lines = createInterface(this.child.stdout);
  }

  async line(): Promise<string> {
    const [text] = (await once(this.lines, "line")) as [string];
    return text;
  }

  async used(): Promise<Used> {
    const line = this.line();
    this.child.stdin?.write("used\n");
    const [bytes = 0, microseconds = 0] = (await line).split(" ").map(Number);
    return { bytes, microseconds };
  }

  end(): void {
    this.child.stdin?.end();
  }
}

/** Starts a run and reads it to its end; a slow reader waits between the events. */
async function read(url: string, isSlow: boolean): Promise<Read> {
  const body = JSON.stringify({ agent: "clock", input: "Go" });
  const headers = { accept: "text/event-stream", "content-type": "application/json" };
  const response = await fetch(`${url}/runs`, { method: "POST", headers, body });
  const delays: number[] = [];
  let lost = 0;
  let seq = 0;
  let isEnded = false;
  let text = "";
  if (response.body === null) throw new Error(`answered with ${response.status}`);
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data, id } of events) {
    const at = performance.timeOrigin + performance.now();
    if (data === "[DONE]") continue;
    const event = JSON.parse(data) as Told;
    if (id !== undefined) {
      seq += 1;
      if (Number(id) !== seq) lost += 1;
    }
    if (event.type === "text-delta") {
      const piece = textOf(event);
      text += piece;
      for (const written of piece.trim().split(" ")) delays.push(at - Number(written));
    }
    if (event.type === "run-end" || event.type === "finish") isEnded = true;
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1500));
  }
  // A slow reader may find the message whole in place of its pieces.
  const isWhole = isSlow || text.trim().split(" ").length === pieces;
  return { delays, lost: lost + (isEnded && isWhole ? 0 : 1) };
}

const at = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);

async function measured(kind: string, slowReaders: number) {
  const server = new Served(kind);
  const url = `http://127.0.0.1:${await server.line()}`;
  await read(url, false); // warms up
  const before = await server.used();
  let highest = before.bytes;
  const watch = setInterval(() => {
    void server.used().then(({ bytes }) => (highest = Math.max(highest, bytes)));
  }, 2000);
  const begun = performance.now();
  const reads = Array.from({ length: runs + slowReaders }, (_, place) => read(url, place >= runs));
  const quick = await Promise.all(reads.slice(0, runs));
  const seconds = (performance.now() - begun) / 1000;
  const waiting = await Promise.all(reads.slice(runs));
  clearInterval(watch);
  const after = await server.used();
  server.end();
  const delays = quick.flatMap(({ delays: own }) => own).toSorted((a, b) => a - b);
  const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
  return {
    kind,
    runs,
    slowReaders,
    seconds: Math.round(seconds),
    delayMs: { p50: at(delays, 0.5), p99: at(delays, 0.99), most: at(delays, 1) },
    lost: [...quick, ...waiting].reduce((sum, { lost }) => sum + lost, 0),
    memoryMB: { before: megabytes(before.bytes), highest: megabytes(highest) },
    kilobytesARun: Math.round((highest - before.bytes) / runs / 1000),
    processorMsARun: Number(
      ((after.microseconds - before.microseconds) / (runs + slowReaders) / 1000).toFixed(2),
    ),
  };
}

const arms: readonly [string, number][] = [
  ["writ", 0],
  ["writ", slow],
  ["ai", 0],
  ["mastra", 0],
];
const hasMastra = existsSync(join(import.meta.dirname, "peers/mastra/node_modules/@mastra/hono"));
if (!hasMastra) console.error("mastra is left out: it is not installed (npm run bench:install -- mastra)");
const wanted = arms.filter(
  ([kind]) => (values.only === undefined || values.only === kind) && (kind !== "mastra" || hasMastra),
);
const all: Awaited<ReturnType<typeof measured>>[] = [];
for (const [kind, slowReaders] of wanted) {
  const one = await measured(kind, slowReaders);
  all.push(one);
  console.log(JSON.stringify(one));
}
const [own, ...others] = all.filter(({ slowReaders }) => slowReaders === 0);
const ratio = (peer: number, mine: number): number => Number((peer / mine).toFixed(2));
const peers = own?.kind === "writ" ? others.filter(({ kind }) => kind !== "writ") : [];
for (const { kind, delayMs, kilobytesARun, processorMsARun } of peers)
  console.log(
    JSON.stringify({
      ratio: `${kind} / writ`,
      delayP99: ratio(delayMs.p99, own?.delayMs.p99 ?? 0),
      memoryARun: ratio(kilobytesARun, own?.kilobytesARun ?? 0),
      processorTime: ratio(processorMsARun, own?.processorMsARun ?? 0),
    }),
  );
process.exit();
