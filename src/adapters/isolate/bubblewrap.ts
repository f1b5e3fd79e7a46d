import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../error/writ-error.ts";
import type { Probe } from "../../tool/enforcement.ts";
import { boolean, fits, list, object, string } from "../../util/shape.ts";
import { atRest, startCell } from "./cell.ts";
import type { Targets } from "./child/canaries.ts";
import { cellProgram, findBwrap } from "./launch.ts";

/** The result of trying boxes of bubblewrap on this machine. */
export type Boxes =
  | {
      readonly works: true;
      readonly bwrap: string;
      readonly probes: readonly Probe[];
      /** The memory that Node reserves in a box before it loads a module. */
      readonly dataBytes: number;
    }
  | { readonly works: false; readonly reason: string; readonly probes: readonly Probe[] };

// Depends on: the machine.
let tried: Promise<Boxes> | undefined;

/** Checks once per process whether a box starts, and whether it prevents everything that is tried inside it. Never throws. */
export function boxes(): Promise<Boxes> {
  tried ??= atRest(tryBoxes);
  return tried;
}

async function tryBoxes(): Promise<Boxes> {
  const bwrap = findBwrap();
  if (bwrap === undefined) {
    const reason =
      process.platform === "linux"
        ? "bubblewrap (bwrap) is not installed"
        : `there is no bubblewrap for ${process.platform}`;
    return { works: false, reason, probes: [] };
  }
  try {
    const { probes, dataBytes } = await withTargets((targets, folder) =>
      tryCanaries(targets, { bwrap, folder }),
    );
    const open = probes.filter(({ held }) => !held).map(({ name }) => name);
    if (open.length === 0) return { works: true, bwrap, probes, dataBytes };
    return { works: false, reason: `its box does not hold: ${open.join(", ")}`, probes };
  } catch (error) {
    const fault = messageOf(error);
    const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : "";
    const detail = fault.includes(cause) ? "" : ` (${cause})`;
    return { works: false, reason: `bubblewrap makes no box here: ${fault}${detail}`, probes: [] };
  }
}

const probesOf = list(object({ name: string, held: boolean }));

interface Tried {
  readonly probes: readonly Probe[];
  readonly dataBytes: number;
}

/** Runs the canaries in a box like those of tools, with one folder. */
async function tryCanaries(
  targets: Reached,
  { bwrap, folder }: { readonly bwrap: string; readonly folder: string },
): Promise<Tried> {
  const program = cellProgram();
  const canaries = program.replace(/main\.(ts|js)$/, "canaries.$1");
  const cell = await startCell({
    layout: {
      binds: [{ from: folder, to: "/tool" }],
      inBox: `file:///box/writ/canaries${canaries.slice(-3)}`,
      onHost: canaries,
    },
    bwrap,
    memoryBytes: 128_000_000,
    dataBytes: undefined,
    export: "execute",
    handles: [],
  });
  const patience = setTimeout(() => cell.kill(), 15_000);
  try {
    const { reached, ...sent } = targets;
    const call = { args: { ...sent, link: "/tool/link" }, callId: "canaries", idempotencyKey: "canaries" };
    const found = await cell.run({ ...call, handles: {}, progress: () => undefined });
    if (!fits(probesOf, found)) throw new Error("the canaries say nothing that can be read");
    const seen = reached();
    return {
      dataBytes: cell.dataBytes,
      probes: found.map(({ name, held }) => ({ name, held: held && !seen.has(name) })),
    };
  } finally {
    clearTimeout(patience);
    cell.kill();
  }
}

/** The targets, with those that were reached, as the parent saw it. */
interface Reached extends Omit<Targets, "link"> {
  readonly reached: () => ReadonlySet<string>;
}

/** Prepares the targets that a box must not reach, and removes them after the work. */
async function withTargets<Value>(
  work: (targets: Reached, folder: string) => Promise<Value>,
): Promise<Value> {
  const outside = mkdtempSync(join(tmpdir(), "writ-canaries-"));
  const at = (name: string): string => join(outside, name);
  const secret = `canary ${process.pid} ${performance.now()}`;
  const seen = new Set<string>();
  const tcp = createServer(() => seen.add("connect to the host"));
  const unix = createServer(() => seen.add("connect to a socket file"));
  const given = createServer(() => seen.add("connect to a socket file"));
  const udp = createSocket("udp4", () => seen.add("send a datagram"));
  try {
    mkdirSync(at("tool"));
    writeFileSync(at("secret"), secret);
    symlinkSync(at("secret"), at("tool/link"));
    await Promise.all([
      once(tcp.listen(0, "127.0.0.1"), "listening"),
      once(unix.listen(at("socket")), "listening"),
      once(given.listen(at("tool/socket")), "listening"),
      once(udp.bind(0, "127.0.0.1"), "listening"),
    ]);
    const address = tcp.address();
    const targets: Reached = {
      secretFile: at("secret"),
      secret,
      newFile: at("new"),
      newDatabase: at("database"),
      tcpPort: typeof address === "object" && address !== null ? address.port : 0,
      udpPort: udp.address().port,
      unixSockets: [at("socket"), "/tool/socket"],
      parentPid: process.pid,
      reached() {
        if (existsSync(at("new"))) seen.add("write outside");
        if (existsSync(at("database"))) seen.add("write through SQLite");
        return seen;
      },
    };
    return await work(targets, at("tool"));
  } finally {
    tcp.close();
    unix.close();
    given.close();
    udp.close();
    rmSync(outside, { recursive: true, force: true });
  }
}
