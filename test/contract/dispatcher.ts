import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Dispatcher, durableRuns, type DurableRuns, type RunStore } from "../../src/durable.ts";
import { walker } from "./dispatcher-process.ts";

/** Opens a store with its dispatcher at an address, as one process of several. A module that a test names exports it as `openDispatched`. */
export type OpenDispatched = (address: string) => {
  readonly store: RunStore & { readonly close: () => unknown };
  readonly dispatcher?: Dispatcher & AsyncDisposable;
};

/** A kind of dispatcher under test. */
export interface DispatcherUnderTest {
  /** The URL of the module that exports `openDispatched`, for processes of their own. */
  readonly module: string;
  readonly openDispatched: OpenDispatched;
  /** Makes an empty place and gives its address, and what removes it. */
  readonly place: () => Promise<{ readonly address: string; readonly remove: () => unknown }>;
}

const program = fileURLToPath(new URL("dispatcher-process.ts", import.meta.url));
/** Processes start, die and are found dead meanwhile, on a machine that may be busy. */
const patience = { timeout: 90_000, interval: 50 };

/** Registers the tests of the port in src/durable/dispatcher.ts. */
export function dispatcherContract(name: string, under: DispatcherUnderTest): void {
  describe(`dispatcher contract: ${name}`, () => {
    let at: Awaited<ReturnType<DispatcherUnderTest["place"]>>;
    let here: ReturnType<OpenDispatched>;
    /** A process without agents: it starts, answers and looks. */
    let runs: DurableRuns;
    let gates = "";
    let ledger = "";
    const children: ChildProcess[] = [];
    beforeEach(async () => {
      at = await under.place();
      gates = mkdtempSync(join(tmpdir(), "writ-dispatch-"));
      ledger = join(gates, "ledger");
      writeFileSync(ledger, "");
      here = under.openDispatched(at.address);
      runs = durableRuns(here);
    });
    afterEach(async () => {
      await Promise.all(children.splice(0).map((child) => ended(child, "SIGKILL")));
      await here.dispatcher?.[Symbol.asyncDispose]();
      await here.store.close();
      await at.remove();
      rmSync(gates, { recursive: true, force: true });
    });

    async function work(concurrency = 10, ...names: readonly string[]): Promise<ChildProcess> {
      const given = [under.module, at.address, ledger, gates, String(concurrency)];
      const child = spawn(process.execPath, ["--no-warnings", program, ...given, ...names], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.push(child);
      await once(child.stdout, "data");
      return child;
    }
    const start = (id: string, words: string, agent = "a") =>
      runs.start(walker(agent, ledger, gates), words, { id });
    const openGate = (): void => writeFileSync(join(gates, "open"), "");
    const lines = (): readonly string[] => readFileSync(ledger, "utf8").split("\n").slice(0, -1);
    const begun = (what = "pass"): readonly string[] =>
      lines().flatMap((line) => (line.startsWith(`begin ${what} `) ? line.split(" ").slice(2) : []));
    const typeOf = async (id: string) => (await runs.result(id)).outcome.type;
    const status = async (id: string) => (await runs.show(id))?.status;
    async function approve(id: string): Promise<void> {
      await expect.poll(() => status(id), patience).toBe("waiting");
      for (const { key, request } of await runs.waiting(id))
        await runs.answer(id, key, { approved: true, hash: request.hash });
    }

    it("hands a run to a worker that comes later, and to one that is there, once each", async () => {
      openGate();
      await start("early", "pass pass");
      await work(10, "a");
      expect(await typeOf("early")).toBe("answered");
      await Promise.all(["b", "c", "d"].map((id) => start(id, "pass")));
      expect(await Promise.all(["b", "c", "d"].map(typeOf))).toEqual(["answered", "answered", "answered"]);
      expect(begun().toSorted()).toEqual(["b", "c", "d", "early", "early"]);
    });

    it("hands a run out again after each of its answers, from a process that has no agents", async () => {
      await work(10, "a");
      await start("r", "ask ask");
      await approve("r");
      await expect.poll(() => lines().filter((line) => line === "end ask r"), patience).toHaveLength(1);
      await approve("r");
      expect(await typeOf("r")).toBe("answered");
      expect(begun("ask")).toEqual(["r", "r"]);
    });

    it("hands a run out again that is tried again", async () => {
      writeFileSync(join(gates, "down"), "");
      openGate();
      await work(10, "a");
      await start("r", "pass fail");
      expect(await typeOf("r")).toBe("failed");
      rmSync(join(gates, "down"));
      await runs.retry("r");
      expect(await typeOf("r")).toBe("answered");
      expect(begun()).toEqual(["r"]);
    });

    it("leaves a run to the workers that have its agent", async () => {
      openGate();
      await work(10, "b");
      await start("a", "pass", "a");
      await start("b", "pass", "b");
      expect(await typeOf("b")).toBe("answered");
      expect(await status("a")).toBe("ready");
      await work(10, "a");
      expect(await typeOf("a")).toBe("answered");
    });

    it("gives a worker no more runs at a time than it wants, and the rest to others", async () => {
      for (let id = 0; id < 8; id += 1) await start(String(id), "pass", id % 2 === 0 ? "a" : "b");
      await work(3, "a", "b");
      await expect.poll(() => begun().length, patience).toBe(3);
      await work(2, "a", "b");
      await expect.poll(() => begun().length, patience).toBe(5);
      openGate();
      for (let id = 0; id < 8; id += 1) expect(await typeOf(String(id))).toBe("answered");
      expect(begun().toSorted()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    });

    it.each(["SIGKILL", "SIGTERM"] as const)(
      "gives the runs of a worker to others after %s",
      async (signal) => {
        const [first] = [await work(10, "a"), await work(1, "a")];
        for (const id of ["r", "s", "t"]) await start(id, "pass pass");
        await expect.poll(() => begun().length, patience).toBeGreaterThanOrEqual(3);
        const gone = ended(first, signal);
        openGate();
        await gone;
        expect(await Promise.all(["r", "s", "t"].map(typeOf))).toEqual(["answered", "answered", "answered"]);
        expect(await here.store.list({ status: "running" })).toEqual([]);
      },
    );

    it("does nothing for a run that is told of twice, has ended, waits, or is not there", async () => {
      openGate();
      await work(10, "a");
      const run = await start("r", "pass ask pass");
      await here.dispatcher?.wake(run);
      await here.dispatcher?.wake({ id: "nobody", agent: "a" });
      await expect.poll(() => status("r"), patience).toBe("waiting");
      await here.dispatcher?.wake(run);
      await approve("r");
      expect(await typeOf("r")).toBe("answered");
      await here.dispatcher?.wake(run);
      await start("after", "pass");
      expect(await typeOf("after")).toBe("answered");
      expect(begun()).toEqual(["r", "r", "after"]);
      expect(await here.store.list()).toHaveLength(2);
    });

    it("finds a run by itself whose starter died before it could tell", async () => {
      openGate();
      await work(10, "a");
      await here.store.begin({ id: "r", agent: "a", input: "pass", options: {}, protocol: 1 });
      expect(await typeOf("r")).toBe("answered");
    });
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
