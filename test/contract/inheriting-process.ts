/** A process in which somebody left file 20 open. Tells what an isolated tool and a program read of it. */
import { readFileSync } from "node:fs";
import { openHandles } from "../unit/adapters/capability/open-handles.ts";
import { exec } from "../../src/index.ts";
import { hasBoxes, toolOf } from "./isolate-context.ts";

async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return `failed: ${(error as Error).message}`;
  }
}

const own = readFileSync("/proc/self/fd/20", "utf8");
const isolated = (await hasBoxes())
  ? await outcome(async () => (await toolOf("hostile", "readsOpen"))({ fd: 20 }))
  : undefined;
const { exec: run } = openHandles([exec("cat")]);
const program = await outcome(async () => (await run("cat", ["/proc/self/fd/20"])).stdout);
console.log(JSON.stringify({ own, isolated, program }));
process.exit(0);
