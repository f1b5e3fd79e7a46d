import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProject, type Project, runNode } from "./command-line.ts";

const packages = join(import.meta.dirname, "../../node_modules");

/** A test of a user: an honest tool passes, one that takes a file or a variable is found, and the test itself is free. */
const test = `
import fs from "node:fs"; // by names, a vm pool gives what was there before the guard
import { expect, it } from "vitest";
import { agent, tool } from "writ";
import { powerGuard, scripted } from "writ/testing";

async function told(execute) {
  const work = tool({ name: "work", description: "", inputSchema: { type: "object" }, execute });
  const model = scripted([{ calls: [{ name: "work" }] }, "done"]);
  const { transcript } = await agent({ name: "a", model, tools: [work] }).run("x");
  return transcript.messages.filter(({ role }) => role === "tool").map(({ status, text }) => status + " " + text).join();
}

it("finds what a tool takes, and lets tests be", async () => {
  const before = powerGuard().found.length;
  expect(powerGuard().isOn).toBe(true);
  expect(await told(() => "honest")).toBe("ok honest");
  expect(await told(() => process.env["HOME"])).toMatch(/used the environment \\(HOME\\)/);
  expect(await told(() => fs.readFileSync(import.meta.filename))).toMatch(/used the file system \\(readFileSync\\)/);
  expect(await told(() => fetch("http://127.0.0.1:1"))).toMatch(/used the network \\(fetch\\)/);
  expect(powerGuard().found.length).toBe(before + 3);
  expect(fs.readFileSync(import.meta.filename, "utf8")).toContain("lets tests be");
  for (const value of ["1", "2"]) {
    process.env["SET_BY_TEST"] = value;
    expect(process.env["SET_BY_TEST"]).toBe(value);
  }
  delete process.env["SET_BY_TEST"];
});
`;

describe("the guard of writ/testing", () => {
  let project: Project;
  beforeAll(() => {
    project = makeProject();
    symlinkSync(join(packages, "vitest"), join(project.folder, "node_modules/vitest"), "junction");
    for (const name of ["one", "two", "three"]) project.file(`${name}.test.js`, test);
  });
  afterAll(() => project.remove());

  it.each(["forks", "threads", "vmForks", "vmThreads"])(
    "works in every file of a worker, in the pool %s of Vitest",
    async (pool) => {
      const words = ["run", `--pool=${pool}`, "--maxWorkers=1"];
      const { code, stdout, stderr } = await runNode([join(packages, "vitest/vitest.mjs"), ...words], {
        cwd: project.folder,
        env: { NO_COLOR: "1" },
      });
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).toMatch(/Tests +3 passed \(3\)/);
    },
  );
});
