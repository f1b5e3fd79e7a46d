// A coder for one folder: it reads everything there, changes `src` alone, and runs the tests alone, in a box where there is one.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { agent, exec, fs } from "writ";
import { fileTools, shellTool } from "writ/workspace";
import { boxFor } from "./box.ts";
import { model } from "./model.ts";

/** The coder of a folder with the folders `src` and `test`. */
export function coderFor(folder: string) {
  const root = realpathSync(folder);
  const box = boxFor(root);
  const [program, ...words] = [...box, process.execPath, "--test"];
  return agent({
    name: "coder",
    instructions: "You mend programs. Run the tests first, change as little as you can, and run them again.",
    model,
    tools: [
      fileTools({ root, write: true, trusted: true }), // the files are your own: after reading them writing asks nobody
      shellTool({
        programs: { test: [program, ...words] },
        cwd: root,
        effect: "read",
        trusted: true,
        timeMs: 60_000,
      }),
    ],
    grants: [fs.read(root), fs.write(join(root, "src")), exec(program)], // no test, no setting, no other folder
    budget: { turns: 12, toolCalls: 30 },
  });
}
