import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const main = new URL("../../../src/cli/main.ts", import.meta.url).pathname;

interface Told {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line in an empty folder. */
function writ(...words: readonly string[]): Promise<Told> {
  const cwd = mkdtempSync(join(tmpdir(), "writ-words-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  return new Promise((resolve) => {
    execFile(process.execPath, ["--no-warnings", main, ...words], { cwd }, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    );
  });
}

describe("words that no command takes", () => {
  it.each([
    ["unknown option '--modle' (Did you mean --model?)", "run", "agent.ts", "Hi", "--modle", "x", "--json"],
    ["option '--max-turns <n>' argument missing", "run", "agent.ts", "--json", "--max-turns"],
    ["missing required argument 'file'", "run", "--output-format=stream-json"],
    ["unknown command 'rnu'", "rnu", "--json"],
    ["unknown option '--json'", "runs", "--json"],
  ])("are told as the object that JSON is asked for with: %s", async (reason, ...words) => {
    const { code, stdout, stderr } = await writ(...words);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "result",
      outcome: "failed",
      result: null,
      error: { code: "command-invalid", message: expect.stringContaining(reason), retryable: false },
      run_id: null,
    });
    expect(stderr).not.toBe("");
  });

  it("are told to people alone without it", async () => {
    expect(await writ("run", "agent.ts", "--modle", "x")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("unknown option '--modle'"),
    });
  });

  it("are no fault where they ask for help", async () => {
    expect(await writ("runs", "--help", "--json")).toMatchObject({
      code: undefined,
      stdout: expect.stringContaining("Usage: writ runs"),
    });
  });
});

it("`writ runs erase` says what is missing", async () => {
  const { code, stderr } = await writ("runs", "erase");
  expect(code).toBe(2);
  expect(stderr).toContain("needs the id of a run, or `--session`");
  expect(stderr).not.toContain('cannot be ""');
});
