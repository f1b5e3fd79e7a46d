import { endUnread, writeOut } from "../adapters/own-output.ts";

/** The time for which the user's code (an open connection) may keep the process after the command ended. */
const graceMs = 1000;

/** Runs a command line as this process: its exit code becomes the process's, and an error that nobody catches is printed and ends it. */
export async function asProcess(run: () => Promise<number>): Promise<void> {
  process.stdout.on("error", (error) => unwritten(error, () => void fail(error, "text")));
  process.stderr.on("error", (error) => unwritten(error, () => undefined));
  process.on("uncaughtException", (error) => void fail(error));
  process.exitCode = await run();
  writeOut("", () => setTimeout(() => process.exit(), graceMs).unref());
}

/** Prints an error in the form that is asked for, or as `text`, for which standard output is not needed. */
async function fail(error: unknown, asked?: "text"): Promise<never> {
  const { printFailure } = await import("./print-run.ts");
  const { wantsJson } = await import("./error-text.ts");
  const { argv } = process;
  const format = asked ?? (wantsJson(argv) ? "json" : "text");
  process.exit(await printFailure(error, { format, verbose: argv.includes("--verbose") }));
}

/**
 * Ends the command if the reader of its output has gone (`| head`). If a terminal was closed (EIO), its signal ends the work in order. In another case, like a
 * full disk, an answer that is not written is a failure, and progress that is not written is lost.
 */
function unwritten({ code }: NodeJS.ErrnoException, otherwise: () => void): void {
  if (code === "EPIPE") endUnread();
  else if (code !== "EIO") otherwise();
}
