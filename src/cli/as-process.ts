import { endUnread, writeOut } from "../adapters/own-output.ts";

/** Time for which the user's code (an open connection) may keep the process after the command ended. */
const graceMs = 1000;

/** Runs a command line as this process: its exit code is the process's, and what is thrown where nobody waits for it is told and ends it. */
export async function asProcess(run: () => Promise<number>): Promise<void> {
  process.stdout.on("error", leaveWhenUnread);
  process.stderr.on("error", leaveWhenUnread);
  process.on("uncaughtException", (error) => void fail(error));
  process.exitCode = await run();
  writeOut("", () => setTimeout(() => process.exit(), graceMs).unref());
}

async function fail(error: unknown): Promise<never> {
  const { printFailure } = await import("./print-run.ts");
  const { wantsJson } = await import("./error-text.ts");
  const { argv } = process;
  const format = wantsJson(argv) ? "json" : "text";
  process.exit(await printFailure(error, { format, verbose: argv.includes("--verbose") }));
}

/**
 * Whoever read the output has gone (`| head`), which ends the command. A terminal that was closed (EIO) sends a signal, which ends what goes on
 * in order. Other faults of a stream are real.
 */
function leaveWhenUnread(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") endUnread();
  else if (error.code !== "EIO") throw error;
}
