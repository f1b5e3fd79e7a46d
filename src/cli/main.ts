#!/usr/bin/env node
import { nodeIsNewEnough, oldestNode } from "./node-version.ts";

/** What the user's code leaves behind (an open connection) may keep the process for so long after the command ended. */
const graceMs = 1000;

process.stdout.on("error", leaveWhenUnread);
process.stderr.on("error", leaveWhenUnread);
process.on("uncaughtException", (error) => void fail(error));
process.exitCode = await run();
process.stdout.write("", () => setTimeout(() => process.exit(), graceMs).unref());

async function run(): Promise<number> {
  if (nodeIsNewEnough(process.versions.node) || process.argv[2] === "doctor") {
    const { runProgram } = await import("./program.ts");
    return runProgram(process.argv.slice(2));
  }
  const { printFailure } = await import("./print-run.ts");
  const { WritError } = await import("../error/writ-error.ts");
  return printFailure(
    new WritError("node-outdated", { found: process.versions.node, needed: oldestNode }),
    {},
  );
}

/** What the user's code throws where nobody waits for it. */
async function fail(error: unknown): Promise<never> {
  const { printFailure } = await import("./print-run.ts");
  process.exit(await printFailure(error, { verbose: process.argv.includes("--verbose") }));
}

/** Whoever read the output has gone (`| head`): there is nobody left to work for. Other faults of a stream are real. */
function leaveWhenUnread(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit();
  throw error;
}
