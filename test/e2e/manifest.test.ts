import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ended, makeProject, type Project, writ as writIn } from "./command-line.ts";

let project: Project;
beforeAll(() => (project = makeProject()));
afterAll(() => project.remove());

const writ = (...words: readonly string[]): Promise<Ended> => writIn(words, { cwd: project.folder });
const inProject = (path: string): string => join(project.folder, path);

/** An agent with these tools and grants. */
function program(path: string, { tools = "", rest = "" }: { tools?: string; rest?: string } = {}): string {
  return project.file(
    path,
    `import { agent, net, policy, tool } from "writ";
const named = (name: string, effect: "read" | "write") =>
  tool({ name, description: "", inputSchema: { type: "object" }, effect, needs: [net("mail.example")], execute: () => "x" });
export default agent({ name: "clerk", model: () => "done", tools: [named("look", "read"), ${tools}], grants: [net("mail.example")], ${rest} });
`,
  );
}

describe("writ manifest", () => {
  it("prints what an agent may do, the same each time [O5]", async () => {
    const path = program("agent.ts");
    const { code, stdout, stderr } = await writ("manifest", path);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      agent: "clerk",
      grants: ["net(mail.example)"],
      skills: { clerk: { tools: { look: { effect: "read", needs: ["net(mail.example)"] } } } },
    });
    expect((await writ("manifest", path)).stdout).toBe(stdout);
  });

  it("is none of a composition, which has no conversation either: both commands say so", async () => {
    const path = project.file(
      "both.ts",
      `import { agent } from "writ";
import { pipe } from "writ/compose";
const one = agent({ name: "one", model: () => "x" });
export default pipe(one, one).with({ name: "both" });
`,
    );
    for (const words of [
      ["manifest"],
      ["chat"],
      ["policy", "draft"],
      ["run", "-m", "ollama/x", "-f", "both.ts"],
    ]) {
      const { code, stderr } = await writ(...words, path);
      expect(stderr).toMatch(
        /error\[definition-invalid\] .*"both".* (?:a composition|put together) of agents/,
      );
      expect(code).toBe(2);
    }
  });

  it("writes out what would steer a terminal, or is not seen", async () => {
    const path = program("strange.ts", {
      rest: String.raw`policy: policy({ name: "\u001b[2J\u009b2J\u202eon", rules: [] })`,
    });
    const { stdout } = await writ("manifest", path);
    expect(stdout).toContain(String.raw`\u001b[2J\u009b2J\u202eon`);
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
  });

  it("writes it down, and ends with 1 when the agent may do more, and says what [O5]", async () => {
    const path = program("growing.ts");
    expect(await writ("manifest", path, "--write", "growing.json")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "growing.json says what clerk may do.\n",
    });
    const text = readFileSync(inProject("growing.json"), "utf8");
    expect((await writ("manifest", path)).stdout).toBe(text);
    expect(await writ("manifest", path, "--check", "growing.json")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "The agent may do what growing.json says, no more and no less.\n",
    });
    program("growing.ts", { tools: 'named("send", "write")', rest: "budget: { turns: 4 }" });
    const wider = await writ("manifest", path, "--check", "growing.json");
    expect(wider.code).toBe(1);
    expect(wider.stdout).toBe(
      "narrowed  budget › turns: 8 → 4\nwidened   skills › clerk › tools › send: a new tool, effect write\n",
    );
    expect(wider.stderr).toContain("growing.json is widened by: 1 change");
    const told = await writ("manifest", path, "--check", "growing.json", "--json");
    expect(told.code).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({
      verdict: "widened",
      changes: [{ type: "narrowed" }, { type: "widened" }],
    });
    expect(readFileSync(inProject("growing.json"), "utf8")).toBe(text);
  });

  it("ends with 0 when the agent may do less, and says so [O5]", async () => {
    const path = program("shrinking.ts", { tools: 'named("send", "write")' });
    await writ("manifest", path, "--write", "shrinking.json");
    program("shrinking.ts");
    expect(await writ("manifest", path, "--check", "shrinking.json")).toMatchObject({
      code: 0,
      stdout: "narrowed  skills › clerk › tools › send: the tool is gone\n",
      stderr: "The agent may do less than shrinking.json says, and nothing else.\n",
    });
  });

  it("takes a definition, with the tools of a program and a model", async () => {
    project.file(
      "tools.ts",
      `import { fakeTool } from "writ/testing";\nexport const look: unknown = fakeTool("look", 42);\n`,
    );
    project.file("looker.md", "---\nname: looker\ndescription: Looks\ntools: [look]\n---\nYou look.\n");
    const words = ["manifest", "looker.md", "--tools", "tools.ts", "--model", "ollama/m"];
    const { code, stdout, stderr } = await writ(...words);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      model: { id: "ollama/m", url: "http://localhost:11434", apiKeyPresent: false },
      skills: { looker: { tools: { look: {} } } },
    });
  });

  it.each([
    ["a file that is not there", ["--check", "nowhere.json"]],
    ["a file that is no JSON", ["--check", "agent.ts"]],
    ["a file that is another JSON", ["--check", "package.json"]],
    ["both", ["--write", "x.json", "--check", "package.json"]],
    ["a folder that is not there", ["--write", "no/such/folder/x.json"]],
  ])("ends with 2 for %s", async (_what, words) => {
    const path = program("agent.ts");
    const { code, stdout, stderr } = await writ("manifest", path, ...words);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(words[0]);
    expect(existsSync(inProject("x.json"))).toBe(false);
  });

  it("ends though the agent has a server that is still there", async () => {
    const server = JSON.stringify(join(import.meta.dirname, "../contract/mcp-server.ts"));
    const path = project.file(
      "with-server.ts",
      `import { agent } from "writ";
import { connectMcp } from "writ/mcp";
const far = await connectMcp({ name: "far", command: process.execPath, args: [${server}], only: ["echo"] });
export default agent({ name: "caller", model: () => "done", tools: far.tools });
`,
    );
    const { code, stdout } = await writ("manifest", path);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      servers: { far: { "far/echo": expect.stringMatching(/^[0-9a-f]{64}$/) as string } },
    });
  });
});
