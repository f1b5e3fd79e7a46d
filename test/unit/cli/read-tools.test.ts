import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readAnswers } from "../../../src/cli/draft-answers.ts";
import { readTools } from "../../../src/cli/read-tools.ts";
import { readHashed } from "../../../src/eval/injection/suite.ts";

const folder = mkdtempSync(join(tmpdir(), "read-tools-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("reads files that begin with a byte-order mark, as some editors write them", async () => {
  const tools = join(folder, "tools.json");
  writeFileSync(tools, '\uFEFF[{ "name": "look" }]');
  expect(await readTools(tools)).toMatchObject({ name: "tools", tools: [{ name: "look" }] });
  expect(readHashed(tools).text).toBe('[{ "name": "look" }]');
  const answers = join(folder, "answers.json");
  writeFileSync(answers, '\uFEFF{ "look": { "stranger": false } }');
  expect(() => readAnswers(answers, ["look"])).not.toThrow();
});
