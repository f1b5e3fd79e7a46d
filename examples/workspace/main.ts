// node examples/workspace/main.ts
//
// A model that works on a folder: it searches, reads, edits and runs programs. Each limit tells it what to do instead.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, exec, fs } from "writ";
import { scripted } from "writ/testing";
import { fileTools, shellTool } from "writ/workspace";

const root = await realpath(await mkdtemp(join(tmpdir(), "workspace-")));
await mkdir(join(root, "src"));
await writeFile(join(root, "src/prices.txt"), "tea 3\nmilk 1\ntea to go 4\n");

const call = (name: string, args: object) => ({ calls: [{ name, arguments: JSON.stringify(args) }] });
const model = scripted([
  call("search_files", { text: "tea" }),
  call("edit_file", { path: "src/prices.txt", old: "tea", new: "green tea" }), // fails: the text stands twice in the file
  call("edit_file", { path: "src/prices.txt", old: "tea 3", new: "green tea 3" }),
  call("run_program", { program: "count", args: ["src/prices.txt"] }),
  call("read_file", { path: "../outside.txt" }), // is denied: outside the folder
  call("run_program", { program: "rm", args: ["-rf", "."] }), // is invalid: the list does not have this program
  "Green tea costs 3.",
]);

const clerk = agent({
  name: "clerk",
  model,
  tools: [
    fileTools({ root, write: true, trusted: true }), // the files are your own: writing does not need a person
    shellTool({ programs: { count: ["wc", "-l"] }, cwd: root, effect: "read", trusted: true }),
  ],
  grants: [fs.read(root), fs.write(root), exec("wc")],
});

try {
  const statuses: string[] = [];
  for await (const event of clerk.stream("Rename tea to green tea."))
    if (event.type === "tool-end") {
      statuses.push(event.result.status);
      console.log(`${event.name}: ${event.result.status}\n  ${event.result.text.split("\n").join("\n  ")}`);
    } else if (event.type === "run-end" && event.outcome.type === "answered")
      console.log(event.outcome.content);
  assert.deepEqual(statuses, ["ok", "error", "ok", "ok", "denied", "invalid"]);
  assert.equal(await readFile(join(root, "src/prices.txt"), "utf8"), "green tea 3\nmilk 1\ntea to go 4\n");
} finally {
  await rm(root, { recursive: true });
}
