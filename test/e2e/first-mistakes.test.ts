import { readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProject, type Project, writ } from "./command-line.ts";

const root = resolve(import.meta.dirname, "../..");
let project: Project;
beforeAll(() => {
  project = makeProject();
  for (const name of ["zod", "@modelcontextprotocol"])
    symlinkSync(join(root, "node_modules", name), join(project.folder, "node_modules", name), "junction");
});
afterAll(() => project.remove());

const imports = `import { agent, tool } from "writ"; import { connectMcp } from "writ/mcp";
import { openaiCompatible } from "writ/openai-compatible"; import { scripted } from "writ/testing"; import { z } from "zod";
const model = () => "ok"; const of = (more) => agent({ name: "a", model, ...more });
const taking = (inputSchema) => tool({ name: "t", description: "d", inputSchema, execute: () => 1 });
`;

/** What people write who come from elsewhere, or in haste; the code that they meet, and the words that say what to write. */
const mistakes: readonly (readonly [program: string, code: string, ...told: readonly string[]])[] = [
  ["agent();", "definition-invalid", "it takes an object", 'agent({ name: "helper"'],
  ["of({ system: '' });", "definition-invalid", "write `instructions` in place of `system`"],
  [
    "of({ instructions: () => '' });",
    "definition-invalid",
    "`instructions` must be a string, got a function",
    "run(input, {",
  ],
  [
    "of({ tools: [{ name: 'pay', description: 'd', execute: () => 1 }] });",
    "definition-invalid",
    "`tools[0]` is a plain object",
    "write `tool({ ... })`",
  ],
  [
    "of({ approve: () => true });",
    "definition-invalid",
    "`approve` is given to each run",
    "run(input, { approve })",
  ],
  ["of({ hooks: { beforeToolCall: () => ({}) } });", "definition-invalid", "`hooks` must be a list"],
  [
    "of({ policy: async () => ({}) });",
    "definition-invalid",
    "`policy` must answer at once",
    "`beforeToolCall`",
  ],
  [
    "of({ settings: { maxTokens: 5 } });",
    "definition-invalid",
    "write `maxOutputTokens` in place of `maxTokens`",
  ],
  [
    "of({ settings: { temprature: 1 } });",
    "definition-invalid",
    '"temprature"',
    'did you mean "temperature"?',
  ],
  ["of({ modle: '' });", "definition-invalid", '"modle"', 'did you mean "model"?'],
  ["await of().run('x', { abort: 1 });", "definition-invalid", "write `signal` in place of `abort`"],
  [
    "await of().run('x', { toolChoice: { tool: 'pay' } });",
    "definition-invalid",
    "agent.with({ toolChoice }).run(input)",
  ],
  ["await of()(undefined);", "input-invalid", "there is none (it is undefined)", "give a text"],
  [
    "await of()({ prompt: 'x' });",
    "input-invalid",
    "give the value of `prompt` itself",
    "the model was not asked",
  ],
  [
    "tool({ name: 't', description: 'd', parameters: {} });",
    "definition-invalid",
    "write `inputSchema` in place of `parameters`",
  ],
  ["taking(z.object({ at: z.date() }));", "schema-invalid", "z.iso.datetime()"],
  ["taking(z.object({ n: z.bigint() }));", "schema-invalid", "z.int()"],
  [
    "openaiCompatible('x', { baseURL: '' });",
    "option-invalid",
    '"baseURL"',
    'did you mean "baseUrl"? Options:',
  ],
  [
    "await connectMcp({ name: 'notes', command: 'no-such-command' });",
    "mcp-unusable",
    '"no-such-command" was not found',
    "on the PATH",
  ],
];

describe("a first mistake in an agent's file", () => {
  it.each(mistakes)(
    "is told with what to write in its place, and where: %s",
    async (program, code, ...told) => {
      project.file("mine.ts", `${imports}${program}\nexport default of();\n`);
      const {
        code: exitCode,
        stderr,
        stdout,
      } = await writ(["run", "mine.ts", "hi"], { cwd: project.folder });
      expect(stderr).toContain(`error[agent-file-broken] mine.ts cannot be loaded: [${code}] `);
      for (const words of told) expect(stderr).toContain(words);
      expect(stderr).toMatch(/\(mine\.ts:\d+:\d+\)/); // a place in the user's file
      expect(stderr).not.toMatch(/^\s+at |retryAfterMs|\?\./m);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expectPlace(stderr, code);
    },
  );

  it.each([
    [
      "await of().run('x', { onEvent() { throw new Error('logger'); } });",
      '`onEvent` of a run of "a" failed, and the run went on: logger',
    ],
    ["await of().stream('x');", "`await a.stream(...)` has begun no run"],
  ])("that breaks no run is a warning: %s", async (program, told) => {
    project.file("mine.ts", `${imports}${program}\nexport default of();\n`);
    const { code, stderr, stdout } = await writ(["run", "mine.ts", "hi"], { cwd: project.folder });
    expect(stderr).toContain(told);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ok\n" });
  });

  it("says of replies that stay empty that something on the way may cut them", async () => {
    project.file("mine.ts", `${imports}export default of({ model: () => "" });\n`);
    const { code, stderr } = await writ(["run", "mine.ts", "hi"], { cwd: project.folder });
    expect(stderr).toContain("Last: the reply was empty");
    expect(stderr).toContain("a proxy cut them off");
    expect(code).toBe(1);
  });
});

const noAgent = "export const none = 1;";

/** What Node says of a program that it cannot load, and the words that say what to write. */
const unloadable: readonly (readonly [file: string, program: string, ...told: readonly string[]])[] = [
  [
    "mine.ts",
    "import { part } from './part'; part();",
    "Node needs the full name of a file: import ",
    "part.ts.",
  ],
  [
    "mine.ts",
    "import { part } from './part.js'; part();",
    "Node needs the full name of a file: import ",
    "part.ts.",
  ],
  ["mine.ts", "import './parts.ts';", "Correct the path of the import."],
  ["mine.ts", "import 'zodd';", "Install it (npm i zodd), or correct its name."],
  ["mine.ts", "import '@/lib/part';", "`paths` of tsconfig.json"],
  ["mine.ts", "enum Colour { Red }", "erasableSyntaxOnly"],
  ["mine.tsx", noAgent, "Node runs .ts, "],
  ["mine.cjs", "import { agent } from 'writ'; agent();", "npm pkg set type=module"],
  ["mine.ts", "const { agent } = require('writ'); agent();", "`import` in place of `require`"],
  [
    "mine.ts",
    "import { agent, scripted } from 'writ'; agent(scripted);",
    'Write `import { scripted } from "writ/testing"`.',
  ],
  ["mine.ts", "import { tool, Tool } from 'writ'; tool();", 'Write `import type { Tool } from "writ"`.'],
  [
    "mine.ts",
    "export default await new Promise(() => undefined);",
    "its top level waits for something that never comes",
  ],
  ["mine.ts", "import { Zod } from 'zod';", 'a type is imported by `import type { Zod } from "zod"`'],
];

describe("a file that Node cannot load", () => {
  it.each(unloadable)(
    "is told with what to write in its place: %s with %s",
    async (file, program, ...told) => {
      project.file("part.ts", "export const part = () => 1;\n");
      const ended = await writ(["run", project.file(file, `${program}\n`), "hi"], { cwd: project.folder });
      expect(ended.stderr).toContain(`error[agent-file-broken] ${file} cannot be loaded: `);
      for (const words of told) expect(ended.stderr).toContain(words);
      expect(ended.code).toBe(2);
    },
  );
});

describe("words that no command takes", () => {
  it.each([
    ["run", "missing required argument 'file'"],
    ["runs show", "missing required argument 'id'"],
    ["eval agent x.ts", "required option '--cases <path>' not specified"],
    ["policy", "unknown option '--no-such'", "--no-such"],
  ])("are told with the help of the command: writ %s", async (words, told, ...more) => {
    const { code, stderr } = await writ([...words.split(" "), ...more], { cwd: project.folder });
    const command = words.replace(" x.ts", "");
    expect(stderr).toBe(`error: ${told}\n(writ ${command} --help shows how)\n`);
    expect(code).toBe(2);
  });
});

/** The last line of an error: a line of the page of errors that is there, and a command that prints the same. */
function expectPlace(stderr: string, code: string): void {
  const [, told, file = "", line] = /npx writ errors ([\w-]+) \((.*):(\d+)\)/.exec(stderr) ?? [];
  expect(told).toBe(code);
  const page = readFileSync(resolve(project.folder, file), "utf8").split("\n");
  expect(page[Number(line) - 1]).toBe(`## ${code}`);
}

describe("writ errors", () => {
  it("prints what an error means, what to do, and pages that are there", async () => {
    const { code, stdout } = await writ(["errors", "budget-exhausted"], { cwd: project.folder });
    expect(stdout).toMatch(/^budget-exhausted\n\n.*\n\nWhat to do: Raise `budget\./);
    const pages = [...stdout.matchAll(/^ {2}(.*):(\d+)$/gm)];
    expect(pages.length).toBeGreaterThan(0);
    for (const [, file = "", line] of pages)
      expect(readFileSync(resolve(project.folder, file), "utf8").split("\n")[Number(line) - 1]).toContain(
        "budget-exhausted",
      );
    expect(code).toBe(0);
  });

  it("lists the codes, and says which one was meant", async () => {
    const { stdout } = await writ(["errors"], { cwd: project.folder });
    expect(stdout.split("\n")).toContain("mcp-unusable");
    const { code, stderr } = await writ(["errors", "bugdet-exhausted"], { cwd: project.folder });
    expect(stderr).toContain(
      'It is not one of writ\'s codes; did you mean "budget-exhausted"? `writ errors` lists them.',
    );
    expect(code).toBe(2);
  });
});
