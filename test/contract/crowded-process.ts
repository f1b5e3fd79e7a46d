/** A process in which no file can be opened any more. Tells how a program and an isolated tool end there, and goes on. */
import { openSync } from "node:fs";
import { end, openHandles } from "../unit/adapters/capability/open-handles.ts";
import { exec } from "../../src/index.ts";
import { hasBoxes, toolOf } from "./isolate-context.ts";

const { exec: run } = openHandles([exec("echo")]);
await run("echo", ["what is loaded with the first program is loaded now"]);
const call = (await hasBoxes()) ? await toolOf("honest", "execute", { fresh: true }) : undefined;
await call?.({ words: ["a"] }); // later calls need a new process

let isFull = false;
while (!isFull)
  try {
    openSync("/dev/null", "r");
  } catch {
    isFull = true;
  }
const program = await end(() => run("echo", ["a"]));
const isolated = call && (await end(() => call({ words: ["b"] })));
process.stdout.write(JSON.stringify({ program, isolated }), () => process.exit(0));
