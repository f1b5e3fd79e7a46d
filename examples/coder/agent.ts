// A coder for one folder: it reads everything there, changes only `src`, and runs only the tests, in a box if the machine has one.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { agent, exec, fs } from "writ";
import { fileTools, shellTool } from "writ/workspace";
import { boxFor } from "./box.ts";
import { model } from "./model.ts";

/** Makes the coder of a folder that has the folders `src` and `test`. */
export function coderFor(folder: string) {
  const root = realpathSync(folder);
  const box = boxFor(root);
  const [program, ...words] = [...box, process.execPath, "--test"];
  return agent({
    name: "coder",
    instructions: "You mend programs. Run the tests first, change as little as you can, and run them again.",
    model,
    tools: [
      fileTools({ root, write: true, trusted: true }), // the files are your own: the coder may write after reading them without asking
      shellTool({
        programs: { test: [program, ...words] },
        cwd: root,
        effect: "read",
        trusted: true,
        timeMs: 60_000,
      }),
    ],
    grants: [fs.read(root), fs.write(join(root, "src")), exec(program)], // neither tests nor settings nor another folder
    budget: { turns: 12, toolCalls: 30 },
  });
}
