import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandOf, templateNames, templates, typePackages } from "../../src/cli/init.ts";
import { type Ended, runNode } from "./command-line.ts";

const root = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
let parent: string;

/** What a user has after `npm install`: writ out of its tarball, and the packages that projects name. */
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "writ-init-"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", parent], {
    cwd: root,
    stdio: "ignore",
  });
  const tarball = readdirSync(parent).find((name) => name.endsWith(".tgz")) ?? "";
  execFileSync("tar", ["-xzf", tarball], { cwd: parent });
  const modules = join(parent, "node_modules");
  mkdirSync(join(modules, "@types"), { recursive: true });
  execFileSync("mv", [join(parent, "package"), join(modules, "writ")]);
  for (const name of [
    "zod",
    "yaml",
    "typescript",
    "@typescript",
    "@standard-schema",
    "@modelcontextprotocol",
    "@types/node",
    "undici-types",
  ])
    if (existsSync(join(root, "node_modules", name)))
      symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function writ(cwd: string, ...words: readonly string[]): Promise<Ended> {
  return runNode([join(parent, "node_modules/writ/dist/cli/main.js"), ...words], { cwd });
}

/** What `npm start` of a project prints, and how many tests it has. A server goes on until it is stopped. */
const begun: Readonly<Record<(typeof templateNames)[number], { answer?: string; tests: number }>> = {
  tool: { answer: "The thermometer says: 9.\n", tests: 2 },
  mcp: { answer: "Steep it for four minutes.\n", tests: 2 },
  approval: { answer: "Nothing was refunded.\n", tests: 2 },
  serve: { tests: 2 },
  coder: { answer: "Ten are cheaper now; the tests pass.\n", tests: 4 },
  research: { answer: "It is mailed.\n", tests: 3 },
  "local-model": { tests: 3 },
  "support-desk": { answer: "Your money is on its way.\n", tests: 4 },
};

describe("writ init", () => {
  it.each(templateNames)(
    "begins a project that passes its own test and its types, and runs without a key: %s",
    async (template) => {
      rmSync(join(parent, `My ${template}`), { recursive: true, force: true }); // of a first try
      const made = await writ(parent, "init", `My ${template}`, "--template", template);
      expect(made.stderr).toBe("");
      expect(made.stdout).toContain(
        `  cd 'My ${template}'\n  npm install\n  npm test\n  ${commandOf(template)}\n`,
      );
      const folder = join(parent, `My ${template}`);
      expect(made.stdout.includes("model.ts has a stand-in")).toBe(existsSync(join(folder, "model.ts")));
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
        name: string;
        scripts: { start: string };
      };
      expect(manifest.name).toBe(`my-${template}`);
      const { answer, tests } = begun[template];
      const tested = await runNode(["--test", "*.test.ts"], { cwd: folder });
      const [, passed, skipped] =
        /pass (\d+)\n(?:.*\n)*?.*fail 0\n(?:.*\n)*?.*skipped (\d+)\n/.exec(tested.stdout) ?? [];
      expect(Number(passed) + Number(skipped), tested.stdout).toBe(tests); // a box, or the file of a model, may be missing
      await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], { cwd: folder });
      if (answer === undefined) return;
      const [, prompt = ""] = /"(.*)"/.exec(manifest.scripts.start) ?? [];
      const { code, stdout } = manifest.scripts.start.startsWith("writ ")
        ? await writ(folder, "run", "agent.ts", prompt)
        : await runNode(["main.ts"], { cwd: folder });
      expect({ code, stdout }).toEqual({ code: 0, stdout: answer });
    },
  );

  it("serves the agent that it began", async () => {
    const folder = join(parent, "served");
    await writ(parent, "init", "served", "--template", "serve");
    const main = join(parent, "node_modules/writ/dist/cli/main.js");
    let answer = "";
    const ended = await runNode([main, "serve", "agent.ts", "--port", "0"], {
      cwd: folder,
      meanwhile(child) {
        child.stderr?.on("data", (text: Buffer) => {
          const [, address] = /at (http:\S+)\./.exec(String(text)) ?? [];
          if (address === undefined) return;
          const body = JSON.stringify({ agent: "clerk", input: "Where is order 17?" });
          void fetch(`${address}/runs`, { method: "POST", body, headers: { accept: "text/event-stream" } })
            .then(async (response) => (answer = await response.text()))
            .finally(() => child.kill("SIGTERM"));
        });
      },
    });
    expect(answer).toContain("Your order: delivered on Monday.");
    expect(ended.code).toBe(0);
  });

  it("overwrites nothing, and says what is there", async () => {
    const folder = join(parent, "mine");
    mkdirSync(folder);
    writeFileSync(join(folder, "agent.ts"), "mine");
    const { code, stdout, stderr } = await writ(folder, "init");
    expect(stderr).toContain(
      'error[option-invalid] <folder> cannot be ".".\n  It already has agent.ts; nothing was written.',
    );
    expect({ code, stdout, files: readdirSync(folder) }).toEqual({
      code: 2,
      stdout: "",
      files: ["agent.ts"],
    });
    const inFile = await writ(folder, "init", "agent.ts");
    expect(inFile.stderr).toContain(
      'error[option-invalid] <folder> cannot be "agent.ts".\n  It cannot be written: ',
    );
    const unknown = await writ(folder, "init", "x", "--template", "magic");
    expect(unknown.stderr).toContain(`It is one of: ${templateNames.join(", ")}.`);
  });

  it("names the packages that writ is tested with", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    const packages = Object.values(templates).flatMap(({ packages: named = {} }) => Object.entries(named));
    for (const [name, range] of [...Object.entries(typePackages), ...packages])
      expect(range).toBe(`^${devDependencies[name]}`);
  });
});
