import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const main = new URL("../../../src/cli/main.ts", import.meta.url).pathname;
const index = JSON.stringify(new URL("../../../src/index.ts", import.meta.url).href);
const program = `
  import { agent, tool } from ${index};
  console.log("a program prints");
  const look = tool({
    name: "look", description: "Looks", effect: "read", inputSchema: { type: "object", properties: {} },
    execute() { console.info("a tool prints"); console.table([{ a: 1 }]); process.stdout.write("a tool writes\\n"); return "x"; },
  });
  const model = ({ messages }) => messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "look", arguments: {} }] };
  export default agent({ name: "noisy", tools: [look], model });`;

it("what programs print goes beside the answer, which has standard output for itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-noisy-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "agent.mjs");
  writeFileSync(file, program);
  const writ = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, ["--no-warnings", main, ...words]);
  const plain = await writ("run", file, "Hi");
  expect(plain.stdout).toBe("Done.\n");
  expect(plain.stderr).toMatch(/a program prints[^]*a tool prints[^]*a tool writes/);
  expect(JSON.parse((await writ("run", file, "Hi", "--json")).stdout)).toMatchObject({ result: "Done." });
  expect(JSON.parse((await writ("manifest", file)).stdout)).toMatchObject({ agent: "noisy" });
}, 60_000);

it.each([["--json"], ["--output-format", "stream-json"]])(
  "an error that nobody waits for is the object that %s promises too",
  async (...format) => {
    const folder = mkdtempSync(join(tmpdir(), "writ-late-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "agent.mjs");
    const late = `setTimeout(() => { throw new Error("too late"); }); return new Promise(() => undefined);`;
    writeFileSync(file, program.replace("console.info", `${late} console.info`));
    const failed: unknown = await promisify(execFile)(process.execPath, [
      "--no-warnings",
      main,
      "run",
      file,
      "Hi",
      ...format,
    ]).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("too late") });
    const { stdout } = failed as { readonly stdout: string };
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
      type: "result",
      outcome: "failed",
      error: { message: "too late" },
    });
  },
  60_000,
);
