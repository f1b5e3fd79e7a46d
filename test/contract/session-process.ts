import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A program that writes to the sessions of an address. */
export const writer = join(import.meta.dirname, "session-store-writer.ts");

/** A program that has runs of a session of an address. */
export const payer = join(import.meta.dirname, "session-run-process.ts");

const opened: SessionProcess[] = [];

/** Another process with the same sessions open: it does what it is told in a line, and says how that ended. */
export class SessionProcess {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly lines: AsyncIterator<string>;
  private errors = "";

  constructor(program: string, address: string, ...more: readonly string[]) {
    const args = ["--disable-warning=ExperimentalWarning", program, address, ...more];
    this.process = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.process.stderr.on("data", (data: Buffer) => (this.errors += String(data)));
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    opened.push(this);
  }

  /** The next line that it says. */
  async line(): Promise<string> {
    const next = await this.lines.next();
    if (next.done === true) throw new Error(`the process ended: ${this.errors}`);
    return next.value;
  }

  ask(command: string): Promise<string> {
    this.process.stdin.write(`${command}\n`);
    return this.line();
  }

  async kill(): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await ended;
  }

  async end(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.stdin.end();
    await ended;
  }
}

/** Ends all that were begun. */
export async function endProcesses(): Promise<void> {
  await Promise.all(opened.splice(0).map((one) => one.end()));
}
