import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeOllama, type FakeProvider, type FakeStep } from "../../src/testing.ts";
import { type Ended, makeProject, type Project, runNode, writ as writIn } from "./command-line.ts";

let project: Project;
beforeAll(() => {
  project = makeProject();
  project.file(
    "tools.ts",
    `import { tool } from "writ";
import { fakeTool } from "writ/testing";
export const look: unknown = fakeTool("look", 42);
export const others = [tool({ name: "erase", description: "", inputSchema: { type: "object" }, execute: () => "gone" })];
export const notATool = { name: "x" };
`,
  );
  project.file("no-tools.ts", "export const a = 1;\n");
  project.file(
    "agents/looker.md",
    `---
name: looker
description: Looks
model: ollama/m
driver: native
tools: [look]
---
You look.
`,
  );
  project.file("talker.json", '{ "name": "talker", "instructions": "You talk.", "driver": "native" }');
});
afterAll(() => project.remove());

async function writ(
  words: readonly string[],
  steps: readonly FakeStep[] = [],
): Promise<Ended & Pick<FakeProvider, "requests">> {
  await using server = await fakeOllama(steps);
  const ended = await writIn(words, { cwd: project.folder, env: { OLLAMA_HOST: server.url } });
  return { ...ended, requests: server.requests };
}

const answer = "It is 42.";
const calling = (name: string): FakeStep => ({ calls: [{ name }] });

describe("writ run with a definition", () => {
  it("runs an agent from Markdown with the tools of a program, and with no others [C40]", async () => {
    const words = ["run", "agents/looker.md", "--tools", "tools.ts", "what", "is", "it?"];
    const { code, stdout, stderr, requests } = await writ(words, [calling("erase"), calling("look"), answer]);
    expect(stderr).toContain("look = 42");
    expect(stderr).not.toContain("erase = gone");
    expect(stdout).toBe("It is 42.\n");
    expect(code).toBe(0);
    expect(requests[0]?.body).toMatchObject({
      model: "m",
      messages: [
        { role: "system", content: expect.stringContaining("You look.") as string },
        { role: "user", content: "what is it?" },
      ],
      tools: [{ function: { name: "look" } }],
    });
  });

  it("runs an agent from JSON that needs no tools, with the model of the command line [C40]", async () => {
    const { code, stdout, requests } = await writ(
      ["run", "talker.json", "hi", "-m", "ollama/other"],
      [answer],
    );
    expect(stdout).toBe("It is 42.\n");
    expect(code).toBe(0);
    expect(requests[0]?.body).toMatchObject({ model: "other" });
  });

  it.each([
    {
      of: "a name without its program",
      words: ["agents/looker.md", "hi"],
      error: "definition-file-invalid",
      says: 'agents/looker.md:6: tools[0]: there is no tool "look"',
    },
    {
      of: "a field that there is not",
      words: ["bad.md", "hi"],
      error: "definition-file-invalid",
      says: 'bad.md:3: tols: unknown; did you mean "tools"?',
    },
    {
      of: "no model",
      words: ["talker.json", "hi"],
      error: "agent-file-broken",
      says: "talker.json cannot be loaded: [model-missing]",
    },
    {
      of: "a program without tools",
      words: ["agents/looker.md", "--tools", "no-tools.ts", "hi"],
      error: "tools-missing",
      says: "no-tools.ts exports no tools. It exports: a.",
    },
    {
      of: "tools for a program",
      words: ["tools.ts", "--tools", "tools.ts", "hi"],
      error: "option-invalid",
      says: "It goes with a definition in Markdown or JSON",
    },
    {
      of: "a file that is not there",
      words: ["nowhere.md", "hi"],
      error: "file-missing",
      says: 'There is no file "nowhere.md"',
    },
    {
      of: "tools that are not there",
      words: ["agents/looker.md", "--tools", "nowhere.ts", "hi"],
      error: "file-missing",
      says: 'There is no file "nowhere.ts"',
    },
  ])("tells of $of, before anything runs, and exits with 2 [C40]", async ({ words, error, says }) => {
    project.file("bad.md", "---\nname: a\ntols: []\n---\n");
    const ended = await writ(["run", ...words]);
    expect(ended.stderr).toContain(`error[${error}] `);
    expect(ended.stderr).toContain(says);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
    expect(ended.stdout).toBe("");
    expect(ended.requests).toEqual([]);
    expect(ended.code).toBe(2);
  });
});

describe("the YAML parser", () => {
  it("is loaded with the first file that needs it, and not with writ", async () => {
    project.file("lazy.md", "---\nname: lazy\n---\nBe brief.\n");
    const script = `
      import { createRequire } from "node:module";
      const { cache } = createRequire(import.meta.url);
      const has = () => Object.keys(cache).some((path) => path.includes("/node_modules/yaml/"));
      const { loadAgent } = await import("writ/files");
      const before = has();
      await loadAgent("lazy.md");
      console.log(before, has());`;
    const ended = await runNode(["--input-type=module", "--eval", script], { cwd: project.folder });
    expect(ended).toMatchObject({ stdout: "false true\n", stderr: "" });
  });
});
