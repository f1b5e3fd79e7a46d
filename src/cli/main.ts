#!/usr/bin/env node

import { nodeIsNewEnough, oldestNode } from "../adapters/node-version.ts";
import { packageVersion } from "./package-version.ts";

/** Time for which the user's code (an open connection) may keep the process after the command ended. */
const graceMs = 1000;

/** Runs a command line as this process: its exit code is the process's, and what is thrown where nobody waits for it is told and ends it. */
export async function asProcess(run: () => Promise<number>): Promise<void> {
  process.stdout.on("error", leaveWhenUnread);
  process.stderr.on("error", leaveWhenUnread);
  process.on("uncaughtException", (error) => void fail(error));
  process.exitCode = await run();
  process.stdout.write("", () => setTimeout(() => process.exit(), graceMs).unref());
}

async function fail(error: unknown): Promise<never> {
  const { printFailure } = await import("./print-run.ts");
  process.exit(await printFailure(error, { verbose: process.argv.includes("--verbose") }));
}

/** Whoever read the output has gone (`| head`): there is nobody left to work for. Other faults of a stream are real. */
function leaveWhenUnread(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  throw error;
}

await asProcess(run);

async function run(): Promise<number> {
  if (!nodeIsNewEnough(process.versions.node)) return outdated(process.versions.node);
  const words = process.argv.slice(2);
  if (words.length === 1 && /^(?:-V|--version|version)$/.test(words[0] ?? "")) return tellVersion();
  // Standard output is the answer's, or a client's: what programs print goes where people read it.
  globalThis.console = new console.Console(process.stderr, process.stderr);
  process.getBuiltinModule("node:module").enableCompileCache();
  const { runProgram } = await import("./program.ts");
  return runProgram(words);
}

/** Says it without the commands: scripts ask for it again and again. */
function tellVersion(): number {
  process.stdout.write(`${packageVersion()}\n`);
  return 0;
}

/** Says so with what an older Node can load. */
async function outdated(found: string): Promise<number> {
  const [{ errorText }, { WritError }, { processOutput }, { exitCodes }] = await Promise.all([
    import("./error-text.ts"),
    import("../error/writ-error.ts"),
    import("./output.ts"),
    import("./exit-code.ts"),
  ]);
  const error = new WritError("node-outdated", { found, needed: oldestNode });
  process.stderr.write(errorText(error, processOutput));
  return exitCodes.failed;
}
