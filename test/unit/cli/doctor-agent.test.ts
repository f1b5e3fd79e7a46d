import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { agentChecks } from "../../../src/cli/doctor-agent.ts";

const entry = JSON.stringify(join(import.meta.dirname, "../../../src/index.ts"));

afterEach(() => void vi.unstubAllEnvs());

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "doctor-")), "clerk.mjs");
  writeFileSync(path, text);
  return path;
}

function agentFile(tools: string): string {
  const inputSchema = "inputSchema: { type: 'object' }, needs: [], execute: () => 'x'";
  return file(`import { agent, tool } from ${entry};
export default agent({ name: "clerk", model: () => "x", tools: [${tools.replaceAll("REST", inputSchema)}] });`);
}

it("tells of an effect that nobody declared, and what to do", async () => {
  const path = agentFile("tool({ name: 'send', description: 'd', REST })");
  expect(await agentChecks(path)).toContainEqual({
    name: "agent-effect-undeclared",
    state: "note",
    text: expect.stringContaining(
      "send declares no effect: nothing guards it after untrusted data",
    ) as string,
    advice: expect.stringContaining("Declare `effect`") as string,
  });
});

it("says so where the audit finds nothing", async () => {
  const path = agentFile("tool({ name: 'add', description: 'd', effect: 'none', REST })");
  expect(await agentChecks(path)).toEqual([
    { name: "agent", state: "ok", text: "the audit of clerk finds nothing" },
  ]);
});

it("says which model the agent asks, and whether its key is there", async () => {
  vi.stubEnv("OPENAI_API_KEY", undefined);
  const path = file(`import { agent } from ${entry};
export default agent({ name: "clerk", model: "openai/gpt-5-mini" });`);
  expect(await agentChecks(path)).toContainEqual({
    name: "named-model",
    state: "note",
    text: expect.stringMatching(/^clerk: openai\/gpt-5-mini goes .*, and has no key$/) as string,
    advice: "set OPENAI_API_KEY",
  });
});

it("says of a composition that its agents are looked at one by one", async () => {
  const compose = entry.replace("index.ts", "compose.ts");
  const path = file(`import { agent } from ${entry};
import { pipe } from ${compose};
const one = agent({ name: "one", model: () => "x" });
export default pipe(one, one).with({ name: "both" });`);
  expect(await agentChecks(path)).toMatchObject([{ name: "agent", state: "note" }]);
});
