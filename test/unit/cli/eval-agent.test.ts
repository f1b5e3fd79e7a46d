import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { evalAgent } from "../../../src/cli/eval-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "eval-agent-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("writ eval agent", () => {
  it("says before anything runs that a report cannot be written", async () => {
    const file = join(folder, "agent.mjs");
    writeFileSync(file, "throw new Error('it was loaded');");
    const cases = join(folder, "case.yaml");
    writeFileSync(cases, "input: Hello\nreplies: [Hi]\n");
    const evaluated = (junit: string): Promise<number> => evalAgent(file, { cases, junit });
    for (const path of [join(folder, "none/report.xml"), folder])
      await expect(evaluated(path)).rejects.toMatchObject({
        code: "option-invalid",
        message: expect.stringContaining("--junit"),
      });
    mkdirSync(join(folder, "case.recorded.json"));
    await expect(evalAgent(file, { cases, record: true })).rejects.toThrow("--record");
    await expect(evaluated(join(folder, "report.xml"))).rejects.toThrow("it was loaded");
  });

  it("says before anything runs that a recording cannot be read, of which other cases are to stay", async () => {
    const file = join(folder, "agent.mjs");
    writeFileSync(file, "throw new Error('it was loaded');");
    const cases = join(folder, "torn.yaml");
    writeFileSync(cases, "input: Hello\nreplies: [Hi]\n");
    writeFileSync(join(folder, "torn.recorded.json"), '<<<<<<< HEAD\n{ "cases": {} }\n');
    await expect(evalAgent(file, { cases, record: true })).rejects.toMatchObject({
      code: "eval-cases-invalid",
      message: expect.stringContaining("torn.recorded.json") as string,
    });
  });
});
