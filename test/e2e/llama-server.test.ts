import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { llamaServerMissing, type LlamaServer, startLlamaServer } from "../contract/llama-server.ts";
import { playedServer } from "../contract/played-server.ts";
import { makeProject, type Project, writ } from "./command-line.ts";

const missing = llamaServerMissing();

const calculator = `
import { agent, tool } from "writ";

const add = tool({
  name: "math.add",
  description: "Add two numbers",
  inputSchema: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } }, required: ["a", "b"] },
  execute: ({ a, b }) => Number(a) + Number(b),
});

export default agent({
  name: "calculator",
  model: "ollama/none",
  tools: [add],
  settings: { seed: 3, maxOutputTokens: 400 },
  budget: { turns: 3 },
});
`;

describe.skipIf(missing !== undefined)("writ run on llama.cpp's own server", () => {
  let server: LlamaServer;
  let project: Project;
  beforeAll(async () => {
    server = await startLlamaServer();
    project = makeProject();
    project.file("calculator.ts", calculator);
  });
  afterAll(async () => {
    project?.remove();
    await server?.close();
  });

  it("falls back to JSON by itself, and carries out the calls of a model of random weights", async () => {
    const words = ["run", "calculator.ts", "1 + 2?", "--model", "openai-compatible/random"];
    const { stderr } = await writ(words, {
      cwd: project.folder,
      env: { OPENAI_BASE_URL: `${server.url}/v1` },
    });
    expect(stderr).toContain("calculator with openai-compatible/random, driver native");
    expect(stderr).toContain("calculator with openai-compatible/random, driver json");
    expect(stderr).toMatch(/→ 1 math\.add \{"a":/);
    expect(stderr).toContain("✓ 1 math.add = ");
  });

  it("says what to do when there is no address, and when nothing is there", async () => {
    const words = ["run", "calculator.ts", "1 + 2?", "--model", "openai-compatible/random"];
    const unset = await writ(words, { cwd: project.folder, env: { OPENAI_BASE_URL: "" } });
    expect(unset.code).not.toBe(0);
    expect(unset.stderr).toContain("OPENAI_BASE_URL");
    const closed = await playedServer();
    await closed.close();
    const gone = await writ(words, {
      cwd: project.folder,
      env: { OPENAI_BASE_URL: `${closed.url}/v1` },
    });
    expect(gone.stderr).toContain("error[provider-unreachable]");
    expect(gone.stderr).toContain(`${closed.url}/v1`);
  });
});
