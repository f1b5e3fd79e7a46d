import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalogueModel } from "../../src/adapters/model-files/cache.ts";
import { fakeOpenai } from "../../src/testing.ts";
import {
  closedUrl,
  type Ended,
  makeProject,
  type Project,
  type StartOptions,
  writ as writIn,
} from "./command-line.ts";

let project: Project;
let closed = "";
beforeAll(async () => {
  closed = await closedUrl();
  project = makeProject();
  project.file(
    "echo.ts",
    agentFile("export default agent({ name: 'echo', model: (request) => textOf(request) });"),
  );
  project.file(
    "caller.ts",
    agentFile("export default agent({ name: 'caller', model: looking(), tools: [fakeTool('look', 42)] });"),
  );
});
afterAll(() => project.remove());

/** A file of a user: types in it, imports of writ, and the given definition. */
function agentFile(definition: string): string {
  return `import { agent, tool } from "writ"; import type { ModelRequest } from "writ/models";
import { fakeTool, scripted } from "writ/testing";
function textOf({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last?.role === "user" ? last.parts.map((part) => (part.type === "text" ? part.text : "")).join("") : "";
}
const looking = () => scripted([{ calls: [{ name: "look", arguments: { at: "it" } }] }, "It is 42."]);
export const used = [tool, fakeTool, scripted, textOf, looking];
${definition}
`;
}

function writ(words: readonly string[], options: StartOptions = {}): Promise<Ended> {
  return writIn(words, { cwd: project.folder, ...options });
}

function expectError(ended: Ended, code: string, exitCode: number): void {
  expect(ended.stderr).toContain(`error[${code}] `);
  const named = code === "agent-file-broken" ? "[\\w-]+" : code; // the fault in the file has a code of its own
  expect(ended.stderr).toMatch(new RegExp(`npx writ errors ${named} \\(\\S*docs.errors\\.md:\\d+\\)`));
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(ended.code).toBe(exitCode);
}

describe("writ", () => {
  it("says its version", async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
      version: string;
    };
    expect(await writ(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("shows its commands", async () => {
    const { code, stdout } = await writ(["--help"]);
    expect(code).toBe(0);
    for (const command of ["run", "demo", "doctor", "models"])
      expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
  });

  it.each([
    [["runs", "list"], "print one JSON object"],
    [["runs", "export"], "print an error as one JSON object"],
    [["work"], "print each event as a line of JSON"],
  ])("says what `--json` of %j prints", async (command, words) => {
    expect((await writ([...command, "--help"])).stdout).toMatch(new RegExp(`--json +${words}\\n`));
  });

  it("says of exit code 3 that the run was refused: a policy refuses calls alone", async () => {
    expect((await writ(["run", "--help"])).stdout).toContain("3 refused, 4 budget exhausted,");
  });

  it("lists the model that can be fetched with the driver that `auto` takes for it", async () => {
    const { stdout } = await writ(["models", "list"], { env: { OLLAMA_HOST: closed } });
    expect(stdout).toMatch(/^llama-cpp\/smollm2-135m .*the driver `guided`$/m);
  });

  it.each(["replay", "bfcl"])("says where `eval %s` is, whatever its options", async (name) => {
    const { code, stdout, stderr } = await writ(["eval", name, "--data", "outputs", "--json"]);
    expect(stderr).toMatch(new RegExp(`not part of the package.*npm run eval -- ${name}`));
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "command-invalid" } });
    expect((await writ(["eval", "--help"])).stdout).not.toMatch(new RegExp(`^  ${name} `, "m"));
  });

  it.each([
    [[], "Usage: writ"],
    [["rnu", "echo.ts"], "(Did you mean run?)"],
    [["run"], "missing required argument 'file'"],
    [["run", "echo.ts", "hi", "--jsno"], "(Did you mean --json?)"],
    [["run", "echo.ts", "hi", "--model"], "argument missing"],
    [["models", "pul", "x"], "(Did you mean pull?)"],
    [["demo", "surplus"], "too many arguments"],
    [["inspect", "--work"], "name their files, `writ inspect --work agent.ts`"],
  ])("tells what is wrong with %j, and exits with 2", async (words, message) => {
    const { code, stdout, stderr } = await writ(words);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("writ run", () => {
  it("runs an agent in TypeScript that imports writ from the user's project; standard output has the answer alone [Y25]", async () => {
    const { code, stdout, stderr } = await writ(["run", "caller.ts", "what", "is", "it?"]);
    expect(stdout).toBe("It is 42.\n");
    expect(stderr).toContain('→ 1 look {"at":"it"}\n✓ 1 look = 42');
    expect(stderr).toContain("driver native");
    expect(stderr).not.toContain("\u001B");
    expect(code).toBe(0);
  });

  it.each([
    [["run", "echo.ts", "two", "words"], "", "two words\n"],
    [["run", "echo.ts"], "from a pipe\n", "from a pipe\n"],
    [["run", "echo.ts", "-"], "line 1\nline 2", "line 1\nline 2\n"],
    [["run", "echo.ts", "--", "--json"], "", "--json\n"],
    [["run", "./echo.ts", "3 - 5", "--verbose"], "", "3 - 5\n"],
  ])("takes the prompt of %j", async (words, input, answer) => {
    expect(await writ(words, { input })).toMatchObject({ code: 0, stdout: answer });
  });

  it("gives the model files: text with any model, and a picture by its contents", async () => {
    project.file(
      "viewer.ts",
      agentFile(`export default agent({ name: 'viewer', model: ({ messages }) => {
      const last = messages.at(-1);
      return last?.role !== "user" ? "" : last.parts.map((part) =>
        part.type === "text" ? part.text : part.mediaType + " " + atob(part.data).length).join("|");
    } });`),
    );
    writeFileSync(join(project.folder, "cat.dat"), Buffer.from("iVBORw0KGgo=", "base64"));
    project.file("notes/bill.txt", "Tea: 3");
    const words = ["run", "viewer.ts", "What", "is it?", "--file", "cat.dat", "--file", "notes/bill.txt"];
    expect(await writ(words)).toMatchObject({
      code: 0,
      stdout: "What is it?|File cat.dat:|image/png 8|File bill.txt:|text/plain 6\n",
    });
    expect(await writ(["run", "viewer.ts", "--file", "cat.dat"])).toMatchObject({
      code: 0,
      stdout: "File cat.dat:|image/png 8\n",
    });
    const missing = await writ(["run", "viewer.ts", "hi", "--file", "cta.dat"]);
    expectError(missing, "option-invalid", 2);
    expect(missing.stderr).toContain('--file cannot be "cta.dat".');
    expect(missing.stderr).toContain('There is no such file; did you mean "cat.dat"?');
  });

  it("says which model takes no such file, and what to do", async () => {
    await using openai = await fakeOpenai(["Never."]);
    writeFileSync(join(project.folder, "clip.mp4"), Buffer.from([0, 0, 0, 24, ...Buffer.from("ftypisom")]));
    const model = ["--model", "openai-compatible/m"];
    const ended = await writ(["run", "echo.ts", "hi", "--file", "clip.mp4", ...model], {
      env: { OPENAI_BASE_URL: `${openai.url}/v1` },
    });
    expectError(ended, "model-without-files", 5);
    expect(ended.stderr).toContain('The model "m" takes no file of type "video/mp4"');
    expect(openai.requests).toHaveLength(0);
  });

  it("prints one JSON object with --json", async () => {
    const { code, stdout } = await writ(["run", "caller.ts", "go", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "result",
      outcome: "answered",
      result: "It is 42.",
      error: null,
      turns: 2,
    });
    expect(code).toBe(0);
  });

  it("prints events as lines of JSON with --output-format stream-json, the result last", async () => {
    const { code, stdout } = await writ(["run", "caller.ts", "go", "--output-format", "stream-json"]);
    const types = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(
      expect.arrayContaining(["run-start", "call-decided", "tool-start", "tool-end", "message-end"]),
    );
    expect(types.slice(-2)).toEqual(["run-end", "result"]);
    expect(code).toBe(0);
  });

  it("takes another driver than the agent's", async () => {
    project.file(
      "protocol.ts",
      agentFile(
        `export default agent({ name: "p", model: () => '{"final":"by protocol"}', tools: [fakeTool("look", 1)] });`,
      ),
    );
    const { stderr } = await writ(["run", "protocol.ts", "go", "--driver", "json"]);
    expect(stderr).toContain("p with function, driver json");
  });

  it("takes one skill of several", async () => {
    const skills =
      "[{ type: 'plain', name: 'up', description: '', execute: (text) => String(text).toUpperCase() }, { type: 'plain', name: 'same', description: '', execute: (text) => text }]";
    project.file("skills.ts", agentFile(`export default agent({ name: "s", skills: ${skills} });`));
    expect(await writ(["run", "skills.ts", "hello", "--skill", "up"])).toMatchObject({
      code: 0,
      stdout: "HELLO\n",
    });
    expectError(await writ(["run", "skills.ts", "hello", "--skill", "down"]), "skill-unknown", 2);
    expect(await writ(["run", "skills.ts", "hello"])).toMatchObject({ code: 0, stdout: "HELLO\n" });
  });
});

describe("writ run --audit", () => {
  it("prints each look at a capability, and adds it to a file [Y22]", async () => {
    project.file(
      "looker.ts",
      `import { agent, env, tool } from "writ"; import { scripted } from "writ/testing";
const look = tool({ name: "look", description: "x", inputSchema: { type: "object", properties: {} }, effect: "read", needs: [env("CITY")],
  execute: (_args, context) => String(context.env("CITY")) });
const calls = [{ name: "look", arguments: {} }];
export default agent({ name: "looker", model: scripted([{ calls }, "done"]), tools: [look], grants: [env("CITY")] });
`,
    );
    const words = ["run", "looker.ts", "go", "--audit", "--audit-file", "looks.jsonl"];
    const [granted, denied] = [await writ(words), await writ([...words, "--cap", "none"])];
    expect(granted.stderr).toContain("audit: granted env(CITY) to look of looker\n");
    expect(denied.stderr).toContain("audit: denied env(CITY) to look of looker: What is around it");
    const lines = readFileSync(join(project.folder, "looks.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { resource: "env(CITY)", granted: true, tool: "look" },
      { resource: "env(CITY)", granted: false, agent: "looker" },
    ]);
    const nowhere = await writ(["run", "looker.ts", "go", "--audit-file", "no/such/folder.jsonl"]);
    expectError(nowhere, "option-invalid", 2);
    expect(nowhere.stdout).toBe("");
  });
});

describe("writ run, when something is wrong before the run", () => {
  it.each([
    [["run", "nowhere.ts", "hi"], "file-missing"],
    [["run", "node_modules", "hi"], "file-missing"],
    [["run", "echo.ts"], "prompt-missing"],
    [["run", "echo.ts", "  "], "prompt-missing"],
    [["run", "echo.ts", "hi", "--driver", "telepathy"], "option-invalid"],
    [["run", "echo.ts", "hi", "--max-turns", "0"], "option-invalid"],
    [["run", "echo.ts", "hi", "--max-turns", "few"], "option-invalid"],
    [["run", "echo.ts", "hi", "--output-format", "xml"], "option-invalid"],
    [["run", "echo.ts", "hi", "--json", "--output-format", "text"], "option-invalid"],
  ])("%j: %s", async (words, code) => {
    const ended = await writ(words);
    expectError(ended, code, 2);
    if (!words.includes("--json")) expect(ended.stdout).toBe("");
  });

  it.each([
    ["syntax.ts", "export const a: number = 1;\nexport const b = = 2;\n", "(syntax.ts:2)"],
    ["enum.ts", "enum Colour { Red }\n", "enum is not supported"],
    ["throws.ts", '\nthrow new Error("no database\\nsecret details");\n', "no database (throws.ts:2:7)"],
    ["deep.ts", 'import "./deeper/part.ts";\n', "x.boom is not a function (deeper/part.ts:2:3)"],
    ["imports.ts", 'import { z } from "zodd";\nexport default z;\n', "Cannot find package 'zodd'"],
    [
      "defines.ts",
      agentFile(
        "export default agent({ name: 'd', model: () => '', tools: [fakeTool('a', 1), fakeTool('a', 2)] });",
      ),
      '[name-taken] Two tools are called "a"',
    ],
    [
      "nameless.ts",
      agentFile("export default agent({ name: 'no good', model: () => '' });"),
      "(nameless.ts:9:16)",
    ],
    ["modelless.ts", agentFile("export default agent({ name: 'm' });"), "[model-missing]"],
  ])("%s is a broken file", async (name, text, message) => {
    project.file("deeper/part.ts", "const x: any = {};\nx.boom();\n");
    const ended = await writ(["run", project.file(name, text), "hi"]);
    expectError(ended, "agent-file-broken", 2);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toContain("secret details");
  });

  it("shows the stack of a broken file with --verbose", async () => {
    const { code, stderr } = await writ([
      "run",
      project.file("loud.ts", 'throw new Error("why");'),
      "hi",
      "--verbose",
    ]);
    expect(stderr).toMatch(/^\s+at .*loud\.ts:1:7/m);
    expect(code).toBe(2);
  });

  it("lists what a file exports when no agent is among it, or several are", async () => {
    const none = await writ([
      "run",
      project.file("none.ts", "export const size = 1;\nexport const colour = 2;\n"),
      "hi",
    ]);
    expectError(none, "agent-missing", 2);
    expect(none.stderr).toContain("It exports: colour, size.");
    const two = agentFile(
      "export const one = agent({ name: 'one', model: () => '' });\nexport const two = one.with({ name: 'two' });",
    );
    const several = await writ(["run", project.file("several.ts", two), "hi"]);
    expectError(several, "agent-ambiguous", 2);
    expect(several.stderr).toContain("one, two");
  });

  it("prints the failure as JSON where JSON is wanted [Y25]", async () => {
    const { code, stdout } = await writ(["run", "nowhere.ts", "hi", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "result",
      outcome: "failed",
      result: null,
      error: { code: "file-missing" },
      turns: 0,
    });
    expect(code).toBe(2);
  });

  it("knows a name that names no model", async () => {
    expectError(await writ(["run", "echo.ts", "hi", "-m", "gpt"]), "model-name-invalid", 5);
    expectError(await writ(["run", "echo.ts", "hi", "-m", "nobody/gpt"]), "model-name-invalid", 5);
  });
});

describe("writ run, when the run does not answer", () => {
  it("exits with 4 when a budget is exhausted", async () => {
    project.file(
      "endless.ts",
      agentFile(
        "export default agent({ name: 'e', model: scripted([{ calls: [{ name: 'look' }] }]), tools: [fakeTool('look', 1)] });",
      ),
    );
    const ended = await writ(["run", "endless.ts", "go", "--max-turns", "2"]);
    expectError(ended, "budget-exhausted", 4);
    expect(ended.stderr).toContain("exceeded budget of 2 turns");
    expect(ended.stdout).toBe("");
  });

  it("exits with 3 when the run is refused", async () => {
    project.file(
      "refused.ts",
      agentFile("export default agent({ name: 'r', model: looking(), endOn: ['unknown-tool'] });"),
    );
    const ended = await writ(["run", "refused.ts", "go", "--json"]);
    expectError(ended, "tool-not-allowed", 3);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: "refused",
      error: { code: "tool-not-allowed" },
    });
  });

  it("exits with 1 when a tool fails the run", async () => {
    project.file(
      "fails.ts",
      agentFile(
        "export default agent({ name: 'f', model: looking(), endOn: ['tool-failure'], tools: [fakeTool('look', () => { throw new Error('dark'); })] });",
      ),
    );
    const ended = await writ(["run", "fails.ts", "go"]);
    expectError(ended, "tool-failed", 1);
    expect(ended.stderr).toContain("dark");
  });

  it("exits with 5 when there is no Ollama", async () => {
    const ended = await writ(["run", "echo.ts", "hi", "-m", "ollama/qwen2.5:7b"], {
      env: { OLLAMA_HOST: closed },
    });
    expectError(ended, "provider-unreachable", 5);
    expect(ended.stderr).toContain(closed);
  });

  it("cancels the run when interrupted, tells the tools, and exits with 130", async () => {
    const waiting = `tool({ name: "look", description: "", inputSchema: { type: "object" }, execute: (_, { signal }) => {
      console.error("looking");
      signal.addEventListener("abort", () => console.error("stopped looking"));
      return new Promise(() => setInterval(() => {}, 1000));
    } })`;
    project.file(
      "waits.ts",
      agentFile(`export default agent({ name: "w", model: looking(), tools: [${waiting}] });`),
    );
    const ended = await writ(["run", "waits.ts", "go", "--json"], {
      meanwhile: (child) =>
        child.stderr?.on(
          "data",
          (text: Buffer) => text.includes("looking\n") && !text.includes("stopped") && child.kill("SIGINT"),
        ),
    });
    expectError(ended, "run-cancelled", 130);
    expect(ended.stderr).toContain("stopped looking");
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "cancelled", result: null });
  });

  it("exits at once at the second interrupt, whatever the first one did", async () => {
    project.file(
      "deaf.ts",
      `const deaf = { run() {}, async *stream() { console.error("waiting"); await new Promise((resolve) => setTimeout(resolve, 60_000)); } };
      export default Object.assign(() => {}, deaf);`,
    );
    const ended = await writ(["run", "deaf.ts", "go"], {
      meanwhile: (child) =>
        child.stderr?.on(
          "data",
          (text: Buffer) => /waiting|Stopping/.test(String(text)) && child.kill("SIGINT"),
        ),
    });
    expect(ended).toEqual({
      code: 130,
      stdout: "",
      stderr: "waiting\nStopping. Press Ctrl-C again to exit at once.\n",
    });
  });

  it("does not crash when the reader of its output leaves", async () => {
    project.file(
      "talks.ts",
      agentFile(
        "const soon = () => new Promise((resolve) => setImmediate(resolve, 'x'.repeat(50_000))); export default agent({ name: 't', model: scripted([{ calls: [{ name: 'look' }] }]), tools: [fakeTool('look', soon, { effect: 'read' })], budget: { turns: 1000, toolCalls: 1000 } });",
      ),
    );
    const ended = await writ(["run", "talks.ts", "go", "--output-format", "stream-json"], {
      meanwhile: (child) => child.stdout?.once("data", () => child.stdout?.destroy()),
    });
    expect(ended.stderr).toBe("");
    expect(ended.code).toBe(0);
  });

  it("tells an error that the agent's file throws outside of the run", async () => {
    project.file(
      "later.ts",
      agentFile(
        "setTimeout(() => { throw new Error('too late'); }, 20); export default agent({ name: 'l', model: () => new Promise(() => {}) });",
      ),
    );
    const { code, stdout, stderr } = await writ(["run", "later.ts", "go"]);
    expect(stderr).toMatch(/^error too late \(later\.ts:\d+:\d+\)$/m);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect([code, stdout]).toEqual([1, ""]);
  });

  it("ends although the agent's file keeps a connection open", async () => {
    project.file(
      "open.ts",
      agentFile("setInterval(() => {}, 1000); export default agent({ name: 'o', model: () => 'done' });"),
    );
    expect(await writ(["run", "open.ts", "go"])).toMatchObject({ code: 0, stdout: "done\n" });
  });
});

describe("writ doctor and writ models", () => {
  const bare = (): Record<string, string> => ({
    OLLAMA_HOST: closed,
    WRIT_CACHE: join(project.folder, "cache"),
    OPENAI_API_KEY: "sk-secret",
    ANTHROPIC_API_KEY: "",
  });

  it("says what is there and what is missing, and never the value of a key [Y16]", async () => {
    const { code, stdout, stderr } = await writ(["doctor"], { env: bare() });
    expect(stdout).toContain(`ok      Node ${process.versions.node}\n`);
    expect(stdout).toContain("note    no Ollama answers\n");
    expect(stdout).toMatch(
      /^note {4}model smollm2-135m is not fetched \(98 MB, Apache-2\.0\)\n {8}writ models pull smollm2-135m$/m,
    );
    expect(stdout).toContain("ok      OPENAI_API_KEY is set\n");
    expect(stdout).toContain("note    ANTHROPIC_API_KEY is not set\n");
    expect(stdout).not.toContain("sk-secret");
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  it("says what a name would use, and shows no key", async () => {
    const env = { ...bare(), OPENAI_API_KEY: "sk-never-shown", OPENAI_BASE_URL: "" };
    const { code, stdout, stderr } = await writ(["doctor", "--model", "openai/gpt-5"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("openai/gpt-5 goes through @ai-sdk/openai, with the key in OPENAI_API_KEY");
    expect(stdout).toMatch(/list price of a million tokens: \$\d/);
    expect(stdout + stderr).not.toContain("sk-never-shown");
  });

  it("says the same as JSON [Y16]", async () => {
    const { code, stdout } = await writ(["doctor", "--json"], {
      env: { ...bare(), WRIT_MODEL: "ollama/qwen2.5:7b" },
    });
    const printed = JSON.parse(stdout) as { checks: { name: string }[] };
    expect(printed).toMatchObject({
      type: "doctor",
      ok: true,
      model: { name: "ollama/qwen2.5:7b", fetched: true },
    });
    expect(printed.checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["node", "platform", "writ", "cache", "model"]),
    );
    expect(code).toBe(0);
  });

  it("says that a cache folder cannot be written", async () => {
    const env = { ...bare(), WRIT_CACHE: join(project.folder, "package.json", "inside") };
    expect((await writ(["doctor"], { env })).stdout).toContain("cannot be written");
  });

  it("lists the models that can be fetched, with size and licence", async () => {
    const { code, stdout } = await writ(["models", "list"], { env: bare() });
    expect(stdout).toMatch(/^llama-cpp\/smollm2-135m {2}98 MB {2}Apache-2\.0 {2}not fetched {2}/);
    expect(stdout).toContain("No models of Ollama: no Ollama answers.");
    expect(code).toBe(0);
    const listed: unknown = JSON.parse((await writ(["models", "list", "--json"], { env: bare() })).stdout);
    expect(listed).toMatchObject({
      type: "models",
      embedded: [{ name: "llama-cpp/smollm2-135m", present: false }],
      ollama: [],
      noOllama: "no Ollama answers",
    });
  });

  it("knows a model that is not in the catalogue, and one that is there already", async () => {
    expectError(await writ(["models", "pull", "gpt-9"], { env: bare() }), "model-unlisted", 5);
    const { file, sizeBytes } = catalogueModel("smollm2-135m");
    const path = join(project.folder, "filled", "models", file);
    project.file(join("filled", "models", file), "");
    truncateSync(path, sizeBytes);
    const ended = await writ(["models", "pull", "llama-cpp/smollm2-135m"], {
      env: { ...bare(), WRIT_CACHE: join(project.folder, "filled") },
    });
    expect(ended).toEqual({ code: 0, stdout: `${path}\n`, stderr: "smollm2-135m exists already.\n" });
  });
});
