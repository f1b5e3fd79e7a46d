import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

const program = join(import.meta.dirname, "account-process.ts");
const spenders: Spender[] = [];

/** Kills all of them. */
export async function endSpenders(): Promise<void> {
  await Promise.all(spenders.splice(0).map((one) => one.kill()));
}

/** Another process that spends from the same account: in a SQLite file, or in `<address of PostgreSQL>#<schema>`. */
export class Spender {
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
