import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { nodeHost } from "../../src/adapters/clock.ts";
import { bounded } from "../../src/inspect/bounded.ts";
import { loadRun } from "../../src/inspect/load-run.ts";
import { runAsTest } from "../../src/inspect/run-as-test.ts";
import type { InspectedCall, InspectedRun } from "../../src/inspect/view.ts";
import { clerkProgram } from "../unit/inspect/programs.ts";
import { makeProject } from "./command-line.ts";
import { answered, waitingRun } from "../unit/inspect/scene.ts";

const root = join(import.meta.dirname, "../..");

async function view(approved: boolean): Promise<InspectedRun> {
  const store = await waitingRun();
  await answered(store, approved);
  return loadRun("mail-1", { store, agents: [], host: nodeHost, known: new Map() });
}

function textOf(run: InspectedRun, call?: InspectedCall): string {
  const test = runAsTest(run, call);
  if ("cannot" in test) throw new Error(test.cannot);
  return test.text;
}

/** Runs tests in a project whose agent is that of the scene. Gives what vitest says; throws where one fails. */
async function runTests(texts: readonly string[], program = clerkProgram): Promise<string> {
  const { folder, file, remove } = makeProject();
  onTestFinished(remove);
  symlinkSync(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"), "junction");
  file("agent.ts", program);
  texts.forEach((text, index) => file(`made-${index}.test.ts`, text));
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run", "--reporter=verbose"], {
    cwd: folder,
  });
  return stdout;
}

it("makes tests of a run and of its calls that pass when they are run", async () => {
  const [yes, no] = [await view(true), await view(false)];
  const last = yes.turns[1]?.calls[1];
  const said = await runTests([textOf(yes), textOf(no), textOf(yes, last)]);
  expect(said).toContain("clerk decides as in the run mail-1");
  expect(said).toContain("clerk decides about send_mail as in the run mail-1");
  expect(said).toMatch(/3 passed/);
});

it("makes a test that fails where the agent decides otherwise", async () => {
  const text = textOf(await view(true));
  const deny = 'model, policy: () => ({ verdict: "deny", rule: "quiet", reason: "no" }),';
  const other = clerkProgram.replace('shop.", model,', `shop.", ${deny}`);
  expect(other).not.toBe(clerkProgram);
  await expect(runTests([text], other)).rejects.toMatchObject({ code: 1 });
});

it("says why there is no test: of a reason that nobody knows, of texts that are not there in full", async () => {
  const run = await view(true);
  const unknown = run.turns.map((turn) => ({
    ...turn,
    calls: turn.calls.map(({ decision: _decision, ...call }) => call),
  }));
  expect(runAsTest({ ...run, turns: unknown })).toEqual({ cannot: expect.stringContaining("is not known") });
  expect(runAsTest({ ...run, input: bounded("long".repeat(6000)) })).toEqual({
    cannot: expect.stringContaining("too long"),
  });
});

it("writes out what is hidden in texts: a stranger's words could turn around the lines of the test", async () => {
  const run = await view(true);
  const text = textOf({ ...run, input: "gpj\u202E.exe", run: { ...run.run, id: "mail\u2066-1" } });
  expect(text).toContain(String.raw`"gpj\u202e.exe"`);
  expect(text).toContain(String.raw`mail\u2066-1"`);
  expect(text).not.toMatch(/\p{Cf}/u);
});
