#!/usr/bin/env node
import { nodeIsNewEnough, oldestNode } from "../adapters/node-version.ts";
import { asProcess } from "./as-process.ts";

await asProcess(run);

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
