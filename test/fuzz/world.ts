import { AsyncResource } from "node:async_hooks";
import { hash } from "node:crypto";
import { nodePowers } from "../../src/adapters/capability/node-powers.ts";
import type { Host } from "../../src/journal/host.ts";
import { type Capability, type Resource, resourceText } from "../../src/tool/capability.ts";
import type { HandleRequest, OpenHandles, PowerPort } from "../../src/tool/power-port.ts";

/** The environment variable of the one secret, and its value: nothing that a run tells anybody may contain it once a tool has used it. */
export const secretName = "WRIT_FUZZ_SECRET";
export const secretValue = "sk-fuzz-4Jx9/Qv2+Lp7==Zt";

/** A run without this many timers is no run: it starts them for ever. */
const maxTimers = 20_000;

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** A clock that stands still until nothing else can happen, then jumps to the next timer: a run of days takes no time, and one that hangs is seen at once. */
export interface Clock {
  now(): number;
  timer(afterMs: number, fire: () => void): () => void;
  /** Lets time pass without anything happening in it: a thread that is held up, or a clock that is set. */
  skip(ms: number): void;
  /** Whether the work settled; false when nothing is left that could make it. */
  drive(work: Promise<unknown>): Promise<boolean>;
  /** Lets everything happen that still can. */
  drain(): Promise<void>;
  /** What was wrong with timers that were started. */
  readonly faults: string[];
}

export function virtualClock(): Clock {
  const timers: Timer[] = [];
  const faults: string[] = [];
  let now = 1_700_000_000_000;
  let fired = 0;
  function fireNext(): boolean {
    let next: Timer | undefined;
    for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer;
    if (next === undefined || fired > maxTimers) return false;
    fired += 1;
    timers.splice(timers.indexOf(next), 1);
    now = Math.max(now, next.at);
    next.fire();
    return true;
  }
  return {
    faults,
    now: () => now,
    skip: (ms) => (now += ms),
    timer(afterMs, fire) {
      if (Number.isNaN(afterMs)) faults.push("a timer of NaN milliseconds");
      // As with timers of Node, what fires runs inside what started it.
      const timer = {
        at: now + Math.min(Math.max(0, afterMs), 2_147_483_647),
        fire: AsyncResource.bind(fire),
      };
      timers.push(timer);
      return () => {
        const place = timers.indexOf(timer);
        if (place !== -1) timers.splice(place, 1);
      };
    },
    async drive(work) {
      let isDone = false;
      const waiting = async (): Promise<void> => {
        await work.catch(() => undefined);
        isDone = true;
      };
      void waiting();
      for (let idle = 0; idle < 3;) {
        await tick();
        if (isDone) return true;
        if (!fireNext()) idle += 1;
      }
      return false;
    },
    async drain() {
      do await tick();
      while (fireNext());
      await tick();
    },
  };
}

/** Everything that waits for no timer and no machine has happened after this; rejections that nobody took have been told. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A thing that a tool reached, or was kept from. */
export interface Access {
  readonly tool: string;
  readonly resource: Resource;
}

/** What was reached through handles, and what was wrong about it. */
export interface PowerLog {
  readonly reached: Access[];
  readonly faults: string[];
}

/**
 * A machine of which every handle is a record: asking for a thing asks the runtime whether it may be used, and writes down what it said. Secrets and
 * scrubbing are the real ones.
 */
export function recordingPowers(log: PowerLog): PowerPort {
  return {
    inside: (scope, work) => nodePowers.inside(scope, work),
    context: () => nodePowers.context(),
    current: () => nodePowers.current(),
    scrub: (text) => nodePowers.scrub(text),
    get holdsSecrets() {
      return nodePowers.holdsSecrets;
    },
    open: (request) => openRecorded(request, log),
  };
}

function openRecorded(request: HandleRequest, log: PowerLog): OpenHandles {
  const { scope, kinds } = request;
  let isOpen = true;
  const real = nodePowers.open({
    ...request,
    kinds: new Set([...kinds].filter((kind) => kind === "secret")),
  });
  function use(resource: Resource): void {
    request.use(resource);
    if (!isOpen) log.faults.push(`${scope.tool} used ${resourceText(resource)} after its end`);
    log.reached.push({ tool: scope.tool, resource });
  }
  async function fetch(url: string | URL): Promise<Response> {
    const { protocol, hostname: host, port } = new URL(url);
    const isPlain = protocol === "http:";
    use({
      kind: "net",
      protocol: isPlain ? "http:" : "https:",
      host,
      port: Number(port || (isPlain ? 80 : 443)),
    });
    return new Response("from outside");
  }
  const files = {
    ...(kinds.has("fs.read")
      ? { readText: async (path: string) => (use({ kind: "fs.read", path }), "a file") }
      : {}),
    ...(kinds.has("fs.write") ? { writeText: async (path: string) => use({ kind: "fs.write", path }) } : {}),
  };
  const handles: Record<string, unknown> = {
    ...real.handles,
    ...(kinds.has("net") ? { fetch } : {}),
    ...(kinds.has("fs.read") || kinds.has("fs.write") ? { fs: files } : {}),
    ...(kinds.has("env") ? { env: (name: string) => (use({ kind: "env", name }), "a value") } : {}),
    ...(kinds.has("exec")
      ? { exec: async (program: string) => (use({ kind: "exec", program }), { exitCode: 0 }) }
      : {}),
  };
  return {
    handles,
    close() {
      isOpen = false;
      real.close();
    },
  };
}

/** A machine for one run: no real clock, no real world. */
export function fuzzHost(clock: Clock, log: PowerLog): Host {
  let ids = 0;
  return {
    now: () => clock.now(),
    timer: (afterMs, fire) => clock.timer(afterMs, fire),
    randomId: () => `run-${(ids += 1)}`,
    digest: (text) => hash("sha256", text, "hex"),
    powers: recordingPowers(log),
  };
}

/** Whether a list covers a resource: written down once more, for the few kinds of names that scenes use. */
export function coveredBy(list: readonly Capability[], resource: Resource): boolean {
  return list.some(({ kind, scope }) => {
    if (kind !== resource.kind) return false;
    switch (resource.kind) {
      case "net":
        return resource.protocol === "https:" && resource.port === 443 && hostCovered(scope, resource.host);
      case "fs.read":
      case "fs.write":
        return resource.path === scope || resource.path.startsWith(`${scope}/`);
      case "env":
      case "secret":
        return scope.endsWith("*") ? resource.name.startsWith(scope.slice(0, -1)) : scope === resource.name;
      case "exec":
        return scope === resource.program;
      case "llm":
        return true;
      default:
        return false;
    }
  });
}

function hostCovered(scope: string, host: string): boolean {
  return scope === host || (scope.startsWith("*.") && host.endsWith(scope.slice(1)));
}
