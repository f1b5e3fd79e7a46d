/**
 * Attempts of code to reach more than it was given, each one function. The same file runs as a tool of a process, as a module in a box, and as text in QuickJS:
 * so it imports nothing before an attempt, and treats every name of Node's as one that may be missing.
 */

/** What the attempts must not reach, and where it is. */
export interface Targets {
  readonly secret: string;
  /** A file with the secret, which was not granted. */
  readonly secretFile: string;
  /** The folder that was granted, where code is given one. */
  readonly folder: string;
  /** In the folder: links to the file, and to the folder around it. */
  readonly fileLink: string;
  readonly folderLink: string;
  /** A path that climbs out of the folder. */
  readonly climbing: string;
  readonly newFile: string;
  readonly newDatabase: string;
  readonly newReport: string;
  /** A library that can be loaded into a process. */
  readonly library: string;
  readonly variable: string;
  readonly httpPort: number;
  /** A server that was granted, where code is given one: it sends on to the other. */
  readonly redirectPort: number;
  readonly udpPort: number;
  readonly unixSocket: string;
  readonly parentPid: number;
  /** A process with the secret in its environment. */
  readonly witnessPid: number;
}

/** `reached`: the code got out. `inside`: the attempt worked, and reached only what was given. `held`: the attempt failed. */
export type Found = "reached" | "inside" | "held";

type Attempt = (targets: Targets) => Found | Promise<Found>;

const reachedIf = (isReached: boolean): Found => (isReached ? "reached" : "held");

/** A function taken when this file was loaded, before a wrapper could replace it. */
const early = typeof process === "undefined" ? undefined : process.getBuiltinModule("node:fs");

/** Work for a timer that was started when this file was loaded. */
const jobs: (() => void)[] = [];
if (typeof setInterval === "function") setInterval(() => jobs.shift()?.(), 5).unref();

async function reads(path: string, { secret }: Targets): Promise<Found> {
  const { readFileSync } = await import("node:fs");
  return reachedIf(readFileSync(path, "utf8").includes(secret));
}

/** An environment that is empty, or holds nothing but where the process is, gives nothing away. */
async function readsEnvironment(pid: string | number, { secret }: Targets): Promise<Found> {
  const { readFileSync } = await import("node:fs");
  const text = readFileSync(`/proc/${pid}/environ`, "utf8");
  return text.includes(secret) ? "reached" : "inside";
}

async function connects(to: { readonly port: number } | { readonly path: string }): Promise<Found> {
  const { connect } = await import("node:net");
  return new Promise((resolve) => {
    const socket = connect({ ...to, timeout: 2_000 }, () => resolve("reached"));
    socket.on("error", () => resolve("held")).on("timeout", () => resolve("held"));
  });
}

type NewMemory = new (pages: { readonly initial: number }) => { readonly buffer: ArrayBuffer };

const loadText = (text: string): Promise<{ readonly text: string }> => import(`data:text/javascript,${text}`);

const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** The attempts, by the names of their rows. The parent also checks from outside what was reached. */
export const attempts: Readonly<Record<string, Attempt>> = {
  "read a file outside": (targets) => reads(targets.secretFile, targets),
  "read with `../`": (targets) => reads(targets.climbing, targets),
  "read through a link to a file": (targets) => reads(targets.fileLink, targets),
  "read through a link to a folder": (targets) => reads(`${targets.folderLink}/secret`, targets),
  "read /proc/self/environ": (targets) => readsEnvironment("self", targets),
  "read /proc/1/environ, and another's": async (targets) => {
    const all = await Promise.allSettled(
      [1, targets.witnessPid].map((pid) => readsEnvironment(pid, targets)),
    );
    const found = new Set(all.map((each) => (each.status === "fulfilled" ? each.value : "held")));
    return found.has("reached") ? "reached" : found.has("inside") ? "inside" : "held";
  },
  "write a file outside": async ({ newFile }): Promise<Found> => {
    const { writeFileSync } = await import("node:fs");
    writeFileSync(newFile, "escaped");
    return "inside";
  },
  "node:sqlite on a path outside": async ({ newDatabase }): Promise<Found> => {
    const { DatabaseSync } = await import("node:sqlite");
    new DatabaseSync(newDatabase).exec("create table escaped (at)");
    return "inside";
  },
  "a report written outside": ({ newReport }) => {
    process.report.writeReport(newReport);
    return "inside";
  },
  "process.env": ({ variable, secret }) => reachedIf(process.env[variable] === secret),
  "fetch a host that was not granted": async ({ httpPort, secret }) => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/`);
    return reachedIf((await response.text()).includes(secret));
  },
  "a redirect from a host that was": async ({ redirectPort, secret }) => {
    const response = await fetch(`http://127.0.0.1:${redirectPort}/`);
    return reachedIf((await response.text()).includes(secret));
  },
  "node:http": async ({ httpPort }) => {
    const { get } = await import("node:http");
    return new Promise((resolve) => {
      get({ port: httpPort, host: "127.0.0.1" }, () => resolve("reached")).on("error", () => resolve("held"));
    });
  },
  "a socket": ({ httpPort }) => connects({ port: httpPort }),
  "a socket file": ({ unixSocket }) => connects({ path: unixSocket }),
  "a question to DNS": async ({ udpPort }): Promise<Found> => {
    const { Resolver } = await import("node:dns/promises");
    const resolver = new Resolver({ timeout: 300, tries: 1 });
    resolver.setServers([`127.0.0.1:${udpPort}`]);
    await resolver.resolve4("escape.invalid").catch(() => undefined);
    return "held";
  },
  "a datagram": async ({ udpPort }): Promise<Found> => {
    const { createSocket } = await import("node:dgram");
    const socket = createSocket("udp4");
    await new Promise((resolve, reject) => {
      socket.on("error", reject).send("escaped", udpPort, "127.0.0.1", resolve);
    });
    await after(50);
    return "held";
  },
  "child_process: a program": async () => {
    const { spawnSync } = await import("node:child_process");
    return reachedIf(spawnSync("/bin/sh", ["-c", "true"]).status === 0);
  },
  "child_process: Node itself": async () => {
    const { spawnSync } = await import("node:child_process");
    return reachedIf(spawnSync(process.execPath, ["--version"]).status === 0);
  },
  "the binding `spawn_sync`": () => {
    const { binding } = process as unknown as {
      binding: (name: string) => { spawn: (options: object) => object };
    };
    const stdio = [0, 1, 2].map(() => ({ type: "ignore" }));
    const options = { file: "/bin/sh", args: ["sh", "-c", "true"], stdio };
    return reachedIf("status" in binding("spawn_sync").spawn(options));
  },
  "the binding `tcp_wrap`": async ({ httpPort }) => {
    const { binding } = process as unknown as { binding: (name: string) => Record<string, never> };
    const { TCP, constants } = binding("tcp_wrap") as unknown as {
      TCP: new (type: number) => { connect: (request: object, host: string, port: number) => number };
      constants: { SOCKET: number };
    };
    const { TCPConnectWrap } = binding("tcp_wrap") as unknown as { TCPConnectWrap: new () => object };
    const code = new TCP(constants.SOCKET).connect(new TCPConnectWrap(), "127.0.0.1", httpPort);
    await after(50);
    return code === 0 ? "inside" : "held";
  },
  "a worker with `execArgv: []`": async (targets) => {
    const { Worker } = await import("node:worker_threads");
    const code = `require("node:worker_threads").parentPort.postMessage(require("node:fs").readFileSync(${JSON.stringify(targets.secretFile)}, "utf8"))`;
    return new Promise((resolve) => {
      const worker = new Worker(code, { eval: true, execArgv: [] });
      worker.on("message", (text: string) => resolve(reachedIf(text.includes(targets.secret))));
      worker.on("error", () => resolve("inside"));
    });
  },
  "process.dlopen": ({ library }) => {
    try {
      process.dlopen({ exports: {} }, library);
      return "reached";
    } catch (error) {
      // The library was loaded, and is not one of Node's.
      return reachedIf(String(error).includes("self-register"));
    }
  },
  'import("data:…")': async ({ secretFile, secret }) => {
    const code = `export const text = process.getBuiltinModule("node:fs").readFileSync(${JSON.stringify(secretFile)}, "utf8")`;
    const { text: harmless } = await loadText('export const text = "loaded"');
    const { text } = await loadText(code).catch(() => ({ text: "" }));
    return text.includes(secret) ? "reached" : harmless === "loaded" ? "inside" : "held";
  },
  "process.getBuiltinModule": (targets) =>
    reachedIf(
      process.getBuiltinModule("node:fs").readFileSync(targets.secretFile, "utf8").includes(targets.secret),
    ),
  "the inspector": async () => {
    const { open, close, url } = await import("node:inspector");
    open(0, "127.0.0.1");
    const isOpen = url() !== undefined;
    close();
    return reachedIf(isOpen);
  },
  WASI: async (targets) => {
    const { WASI } = await import("node:wasi");
    const { Memory } = (globalThis as unknown as { readonly WebAssembly: { readonly Memory: NewMemory } })
      .WebAssembly;
    const memory = new Memory({ initial: 1 });
    const outside = targets.secretFile.slice(0, targets.secretFile.lastIndexOf("/"));
    const wasi = new WASI({ version: "preview1", preopens: { "/": outside } });
    wasi.initialize({ exports: { memory } });
    const call = wasi.wasiImport as Record<string, (...args: unknown[]) => number>;
    new TextEncoder().encodeInto("secret", new Uint8Array(memory.buffer, 0));
    const opened = call["path_open"]?.(3, 0, 0, 6, 0, 2n, 0n, 0, 16);
    return reachedIf(opened === 0);
  },
  "signal the parent": ({ parentPid }) => {
    if (parentPid === process.pid) return "held";
    return reachedIf(process.kill(parentPid, 0));
  },
  "a timer made when it was loaded": async (targets) => {
    if (typeof setInterval !== "function") return "held";
    return new Promise((resolve) => {
      jobs.push(() => {
        const { readFileSync } = process.getBuiltinModule("node:fs");
        try {
          resolve(reachedIf(readFileSync(targets.secretFile, "utf8").includes(targets.secret)));
        } catch {
          resolve("held");
        }
      });
    });
  },
  "a function taken before": ({ secretFile, secret }) =>
    reachedIf(early !== undefined && early.readFileSync(secretFile, "utf8").includes(secret)),
  "change built-in objects": () => {
    Reflect.set(Object.prototype, "escaped", true);
    return "inside";
  },
};

/** Makes one attempt. An attempt that throws was held. */
export async function execute({
  row,
  targets,
}: {
  readonly row: string;
  readonly targets: Targets;
}): Promise<Found> {
  try {
    return (await attempts[row]?.(targets)) ?? "held";
  } catch {
    return "held";
  }
}
