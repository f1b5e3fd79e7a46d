/**
 * 1 000 runs at a time, each read as server-sent events: how long a piece of an answer takes from the model to its reader, what the server's memory is, and whether
 * anything was lost; some readers are slow. The same with `streamText` of `ai` behind hono, for a ratio. Prints JSON. Run: npm run load -- --runs 1000
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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
  /** Facts that did not come, came twice or in another order, and answers that are not whole. */
  readonly lost: number;
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

  async line(): Promise<number> {
    const [text] = (await once(this.lines, "line")) as [string];
    return Number(text);
  }

  memory(): Promise<number> {
    const line = this.line();
    this.child.stdin?.write("memory\n");
    return line;
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
    const event = JSON.parse(data) as { type: string; text?: string; delta?: string };
    if (id !== undefined) {
      seq += 1;
      if (Number(id) !== seq) lost += 1;
    }
    if (event.type === "text-delta") {
      const piece = event.text ?? event.delta ?? "";
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
  const before = await server.memory();
  let highest = before;
  const watch = setInterval(() => {
    void server.memory().then((bytes) => (highest = Math.max(highest, bytes)));
  }, 2000);
  const begun = performance.now();
  const reads = Array.from({ length: runs + slowReaders }, (_, place) => read(url, place >= runs));
  const quick = await Promise.all(reads.slice(0, runs));
  const seconds = (performance.now() - begun) / 1000;
  const waiting = await Promise.all(reads.slice(runs));
  clearInterval(watch);
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
    memoryMB: { before: megabytes(before), highest: megabytes(highest) },
    kilobytesARun: Math.round((highest - before) / runs / 1000),
  };
}

const arms: readonly [string, number][] = [
  ["writ", 0],
  ["writ", slow],
  ["ai", 0],
];
for (const [kind, slowReaders] of arms)
  if (values.only === undefined || values.only === kind)
    console.log(JSON.stringify(await measured(kind, slowReaders)));
process.exit();
