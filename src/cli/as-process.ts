import { endUnread, writeOut } from "../adapters/own-output.ts";

/** The time for which the user's code (an open connection) may keep the process after the command ended. */
const graceMs = 1000;

/** Runs a command line as this process: its exit code becomes the process's, and an error that nobody catches is printed and ends it. */
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
 * Ends the command if the reader of its output has gone (`| head`). If a terminal was closed (EIO), its signal ends the work
 * in order. Other errors of a stream are real.
 */
function leaveWhenUnread(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") endUnread();
  else if (error.code !== "EIO") throw error;
}
