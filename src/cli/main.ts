#!/usr/bin/env node
import { nodeIsNewEnough, oldestNode } from "../adapters/node-version.ts";
import { takeOutput } from "../adapters/own-output.ts";
import { asProcess } from "./as-process.ts";
import { packageVersion } from "./package-version.ts";

await asProcess(run);

async function run(): Promise<number> {
  if (!nodeIsNewEnough(process.versions.node)) return outdated(process.versions.node);
  const words = process.argv.slice(2);
  if (words.length === 1 && /^(?:-V|--version|version)$/.test(words[0] ?? "")) return tellVersion();
  // Standard output is for the answer, or for a client: output of programs goes to standard error, where people read it.
  takeOutput();
  hideSqliteWarning();
  globalThis.console = new console.Console(process.stderr, process.stderr);
  process.getBuiltinModule("node:module").enableCompileCache?.(); // Deno has none
  const { runProgram } = await import("./program.ts");
  return runProgram(words);
}

/** Prints the version without loading the commands, because scripts ask for it again and again. */
function tellVersion(): number {
  process.stdout.write(`${packageVersion()}\n`);
  return 0;
}

/** Reports an old version of Node, with code that it can load. */
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

/** Keeps Node 22 from printing into a conversation that its SQLite is experimental: the stores are tried on that Node too. */
function hideSqliteWarning(): void {
  for (const print of process.listeners("warning")) {
    process.off("warning", print);
    process.on("warning", (warning) => {
      if (!warning.message.startsWith("SQLite is an experimental feature")) print(warning);
    });
  }
}
