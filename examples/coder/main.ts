// `npm start` mends a copy of the project beside this file. `node main.ts FOLDER "what to do"` works on a folder of yours.
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printRun } from "writ/cli";
import { coderFor } from "./agent.ts";
import { boxFor } from "./box.ts";

const [, , given, task = "The tests fail. Mend the program."] = process.argv;
const folder = given ?? join(mkdtempSync(join(tmpdir(), "coder-")), "project");
if (given === undefined) cpSync(join(import.meta.dirname, "project"), folder, { recursive: true });

const coder = coderFor(folder);
console.error(`Folder: ${folder}`);
for (const { tool, level, mechanism } of await coder.enforcement())
  console.error(`${tool}: ${level} (${mechanism})`);
console.error(
  boxFor(folder).length > 0 ? "Tests run in a box of bubblewrap." : "No bubblewrap here: tests run as you.",
);
process.exitCode = await printRun(coder, task);
