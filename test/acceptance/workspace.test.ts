import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, exec, fs, memoryJournal, type Capability } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { fileTools, shellTool } from "../../src/workspace.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "writ-project-")));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/add.sh"), "#!/bin/sh\necho $(($1 - $2))\n");
  symlinkSync("/etc", join(root, "etc"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const call = (name: string, args: object) => ({ calls: [{ name, arguments: { ...args } }] });
const editing = call("edit_file", { path: "src/add.sh", old: "$1 - $2", new: "$1 + $2" });
const script = (...steps: readonly object[]) =>
  scripted([
    call("search_files", { text: "$1" }),
    call("read_file", { path: "src/add.sh" }),
    ...steps,
    "Done.",
  ] as never);

function coder(
  model: ReturnType<typeof scripted>,
  trusted: boolean,
  grants: readonly Capability[] = [fs.read(root), fs.write(root), exec("sh")],
) {
  return agent({
    name: "coder",
    model,
    tools: [
      fileTools({ root, write: true, trusted }),
      shellTool({ programs: { test: ["sh", "src/add.sh", "2", "3"] }, cwd: root, effect: "read", trusted }),
    ],
    grants,
  });
}

describe("an agent with file tools and a shell tool [C38]", () => {
  it("finds, reads, mends and tries, and is told what to do better", async () => {
    const model = script(
      call("edit_file", { path: "src/add.sh", old: "$", new: "#" }),
      editing,
      call("run_program", { program: "test" }),
      call("read_file", { path: "etc/passwd" }),
      call("run_program", { program: "rm", args: ["-rf", "/"] }),
    );
    const seen: string[] = [];
    for await (const event of coder(model, true).stream("Mend the sum"))
      if (event.type === "tool-end")
        seen.push(`${event.result.status} ${event.result.text.split("\n")[0] ?? ""}`);
    expect(seen).toEqual([
      "ok src/add.sh:2: echo $(($1 - $2))",
      "ok 1\t#!/bin/sh",
      expect.stringContaining("error Tool 'edit_file' failed: The text stands 3 times in \"src/add.sh\""),
      "ok Replaced it in line 2 of src/add.sh.",
      "ok 5",
      expect.stringContaining("denied Tool 'read_file' was denied: Capability not granted: \"etc/passwd\""),
      expect.stringContaining("invalid Tool 'run_program' received invalid arguments"),
    ]);
    expect(readFileSync(join(root, "src/add.sh"), "utf8")).toContain("$1 + $2");
  });

  it("asks before it writes after it read what strangers may have written", async () => {
    const { transcript, label } = await coder(script(editing), false).run("Mend the sum");
    const results = transcript.messages.filter((message) => message.role === "tool");
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "denied"]);
    expect(results.at(-1)?.text).toContain("needs an approval");
    expect(label).toMatchObject({ integrity: "untrusted", sources: ["tool/search_files", "tool/read_file"] });
    expect(readFileSync(join(root, "src/add.sh"), "utf8")).toContain("$1 - $2");
    await coder(script(editing), false).run("Mend the sum", { approve: () => true });
    expect(readFileSync(join(root, "src/add.sh"), "utf8")).toContain("$1 + $2");
  });

  it("does nothing twice when its run is played again", async () => {
    const journal = memoryJournal();
    const first = await coder(script(editing), true).run("Mend the sum", { journal });
    writeFileSync(join(root, "src/add.sh"), "other");
    const second = await coder(script(editing), true).run("Mend the sum", {
      journal: memoryJournal(journal.records),
    });
    expect(second.transcript.toJSON()).toEqual(first.transcript.toJSON());
    expect(readFileSync(join(root, "src/add.sh"), "utf8")).toBe("other");
  });

  it("cannot use a tool beyond what it was granted", async () => {
    const model = scripted([
      call("read_file", { path: "src/add.sh" }),
      call("write_file", { path: "x", content: "" }),
      "Done.",
    ] as never);
    const { transcript } = await coder(model, true, [fs.read(join(root, "src"))]).run("Try");
    const results = transcript.messages.filter((message) => message.role === "tool");
    expect(results.map(({ status }) => status)).toEqual(["ok", "denied"]);
  });
});
