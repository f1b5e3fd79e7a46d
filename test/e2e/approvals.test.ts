import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) console.log("skipped: questions at a terminal (util-linux `script` is not installed)");
let folder: string;
let file: string;

const source = (lib: string): string => `
import { agent, ask, policy, tool } from "${pathToFileURL(join(root, "dist/index.js")).href}";
import { scripted } from "${pathToFileURL(join(root, "dist/testing.js")).href}";
const inputSchema = { type: "object", properties: { to: { type: "string" }, euro: { type: "number" } }, required: ["to", "euro"] };
const pay = tool({ name: "pay", description: "Pay", inputSchema, effect: "irreversible", execute: ({ to, euro }) => "paid " + to + " " + euro });
const call = (to, euro) => ({ calls: [{ name: "pay", arguments: { to, euro } }] });
const model = scripted([call("ada", 5), call("bob", 7), call("eve", 9), call("ada", 5), "Done."]);
export default agent({ name: "payer", model, tools: [pay], policy: policy("money", [ask("pay").because("${lib}")]) });
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-approvals-"));
  file = join(folder, "payer.mjs");
  writeFileSync(file, source("money leaves"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the agent at a terminal of its own, and gives each line when something is asked. */
async function atTerminal(
  answers: readonly string[],
): Promise<{ readonly text: string; readonly code: number | null }> {
  const command = `${process.execPath} ${join(root, "dist/cli/main.js")} run ${file} 'Pay my debts'`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env: { ...process.env, NO_COLOR: "1" } });
  let text = "";
  let answered = 0;
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (piece.includes("> ") && answered < answers.length) {
      child.stdin.write(`${answers[answered]}\n`);
      answered += 1;
    }
  });
  const { promise, resolve: end } = Promise.withResolvers<number | null>();
  child.on("close", end);
  return { code: await promise, text };
}

describe.skipIf(!hasTerminal)("writ run at a terminal", () => {
  it("asks a person: for the run, what is no answer, with other arguments, no with a reason [Y20]", async () => {
    const answers = ["r", "perhaps", "e", '{"to":"bob","euro":1}', "n too much"];
    const { text, code } = await atTerminal(answers);
    expect(text).toContain("pay (irreversible) needs your approval: money leaves");
    expect(text).toContain('to: "ada"  (you did not say it)');
    expect(text).toContain("that is no answer; nothing was decided");
    expect(text).toContain("paid bob 1");
    expect(text).toContain("denied: too much");
    expect(text.match(/needs your approval/g)).toHaveLength(3); // the fourth call is the first again
    expect(text.match(/paid ada 5/g)).toHaveLength(2);
    expect(text).toContain("Done.");
    expect(code).toBe(0);
  }, 30_000);
});

it("without a terminal nothing is approved, and the run says why", () => {
  const main = join(root, "dist/cli/main.js");
  const { stderr, stdout, status } = spawnSync(process.execPath, [main, "run", file, "Pay"], {
    encoding: "utf8",
    input: "",
  });
  expect(stderr).toContain("there is no terminal to ask at");
  expect(stdout).toBe("Done.\n");
  expect(status).toBe(0);
});
