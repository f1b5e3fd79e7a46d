import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";

const program = join(import.meta.dirname, "account-process.ts");
const spenders: Spender[] = [];

/** Kills all of them. */
export async function endSpenders(): Promise<void> {
  await Promise.all(spenders.splice(0).map((one) => one.kill()));
}

/** Another process that spends from the same account: in a SQLite file, or in `<address of PostgreSQL>#<schema>`. */
class Spender {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly lines: AsyncIterator<string>;

  constructor(store: string, ...more: readonly string[]) {
    const args = ["--disable-warning=ExperimentalWarning", program, store, ...more];
    this.process = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    spenders.push(this);
  }

  async line(): Promise<string> {
    const next = await this.lines.next();
    return next.done === true ? "ended" : next.value;
  }

  /** Begins a run whose model takes so many milliseconds. */
  run(ms: number): void {
    this.process.stdin.write(`run ${ms}\n`);
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await gone;
  }
}

/** The tests of an account that several processes share. `place` names a store without accounts; the tags are those of cases that the tests prove. */
export function sharedAccountContract(place: () => string, tags = ""): void {
  it(`gives the last bit to one of two processes${tags}`, async () => {
    const at = place();
    const pair = [new Spender(at, "100"), new Spender(at, "100")];
    for (const one of pair) expect(await one.line()).toBe("ready");
    for (const one of pair) one.run(300);
    const said = await Promise.all(pair.map((one) => one.line()));
    expect(said.filter((line) => line === "asked").length).toBe(1);
    expect(said.filter((line) => line.startsWith("exhausted")).length).toBe(1);
    const winner = pair[said.indexOf("asked")];
    expect(await winner?.line()).toBe("answered 100");
  });

  it(`frees what a process had reserved that died, once that expires${tags}`, async () => {
    const at = place();
    const [first, second] = [new Spender(at, "100", "1500"), new Spender(at, "100", "1500")];
    for (const one of [first, second]) expect(await one.line()).toBe("ready");
    first.run(60_000);
    expect(await first.line()).toBe("asked");
    await first.kill();
    second.run(0);
    expect(await second.line()).toMatch(/^exhausted/);
    await sleep(1600);
    second.run(0);
    expect(await second.line()).toBe("asked");
    expect(await second.line()).toBe("answered 100");
  });
}
