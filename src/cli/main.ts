#!/usr/bin/env node
import { nodeIsNewEnough, oldestNode } from "../adapters/node-version.ts";
import { asProcess } from "./as-process.ts";

await asProcess(run);

async function run(): Promise<number> {
  if (!nodeIsNewEnough(process.versions.node)) return outdated(process.versions.node);
  process.getBuiltinModule("node:module").enableCompileCache();
  const { runProgram } = await import("./program.ts");
  return runProgram(process.argv.slice(2));
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
