import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { agentChecks } from "../../../src/cli/doctor-agent.ts";

const entry = JSON.stringify(join(import.meta.dirname, "../../../src/index.ts"));

function agentFile(tools: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "doctor-")), "clerk.mjs");
  const inputSchema = "inputSchema: { type: 'object' }, needs: [], execute: () => 'x'";
  const text = `import { agent, tool } from ${entry};
export default agent({ name: "clerk", model: () => "x", tools: [${tools.replaceAll("REST", inputSchema)}] });`;
  writeFileSync(path, text);
  return path;
}

it("tells of an effect that nobody declared, and what to do", async () => {
  const file = agentFile("tool({ name: 'send', description: 'd', REST })");
  expect(await agentChecks(file)).toContainEqual({
    name: "agent-effect-undeclared",
    state: "note",
    text: expect.stringContaining(
      "send declares no effect: nothing guards it after untrusted data",
    ) as string,
    advice: expect.stringContaining("Declare `effect`") as string,
  });
});

it("says so where the audit finds nothing", async () => {
  const file = agentFile("tool({ name: 'add', description: 'd', effect: 'none', REST })");
  expect(await agentChecks(file)).toEqual([
    { name: "agent", state: "ok", text: "the audit of clerk finds nothing" },
  ]);
});
