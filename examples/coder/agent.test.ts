// Tests that a user of writ would write: the coder mends the fault, and cannot leave its bounds whatever its model proposes.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { scripted } from "writ/testing";
import { coderFor } from "./agent.ts";
import { boxFor } from "./box.ts";

const parent = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const project = join(parent, "project");
beforeEach(() => {
  rmSync(project, { recursive: true, force: true });
  cpSync(join(import.meta.dirname, "project"), project, { recursive: true });
});
after(() => rmSync(parent, { recursive: true }));

/** The coder with a model that proposes these calls, one a turn. */
const wanting = (...calls: readonly (readonly [name: string, args: object])[]) =>
  coderFor(project).with({
    model: scripted([
      ...calls.map(([name, args]) => ({ calls: [{ name, arguments: { ...args } }] })),
      "I did what I could.",
    ]),
  });
const statusesOf = ({ calls }: { readonly calls: readonly { readonly status: string }[] }): string[] =>
  calls.map(({ status }) => status);

test("mends the program, and its tests pass", async () => {
  const run = await coderFor(project).run("The tests fail. Mend the program.");
  assert.equal(run.text, "Ten are cheaper now; the tests pass.");
  assert.match(readFileSync(join(project, "src/price.mjs"), "utf8"), /count >= 10/);
});

test("changes no test, and reads nothing beside the project", async () => {
  const edit = { path: "test/price.test.mjs", old: "18", new: "20", all: true };
  const run = await wanting(["edit_file", edit], ["read_file", { path: "../../../etc/passwd" }]).run(
    "Mend it.",
  );
  assert.deepEqual(statusesOf(run), ["denied", "denied"]);
});

test("runs no program but the tests", async () => {
  const run = await wanting(["run_program", { program: "rm", args: ["-rf", "."] }]).run("Mend it.");
  assert.deepEqual(statusesOf(run), ["invalid"]);
});

const skip = boxFor(parent).length > 0 ? false : "bubblewrap makes no boxes here";
test("runs what it wrote in a box: it writes nowhere else", { skip }, async () => {
  const stolen = join(parent, "stolen.txt");
  const source = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(stolen)}, "x");`;
  const write = { path: "src/price.mjs", content: source, replace: true };
  const run = await wanting(["write_file", write], ["run_program", { program: "test" }]).run("Mend it.");
  assert.deepEqual(statusesOf(run), ["ok", "ok"]);
  assert.equal(existsSync(stolen), false);
});
