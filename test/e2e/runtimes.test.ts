import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Ended, makeProject } from "./command-line.ts";

const repository = join(import.meta.dirname, "../..");
/** `.ci/run` puts them into the first folder; those of the path serve as well. */
const folders = [
  join(repository, "node_modules/.cache/runtimes/node_modules/.bin"),
  ...(process.env["PATH"] ?? "").split(delimiter),
];

interface Runtime {
  readonly name: string;
  readonly words: readonly string[];
}

const bun: Runtime = { name: "bun", words: [] };
const deno: Runtime = {
  name: "deno",
  words: ["run", "--no-prompt", "--allow-net", "--allow-env", "--allow-sys", "--node-modules-dir=manual"],
};

/** The program of a runtime; undefined, and printed, where this machine has none. */
function pathOf({ name }: Runtime): string | undefined {
  const path = folders.map((folder) => join(folder, name)).find((each) => existsSync(each));
  if (path === undefined) console.log(`skipped: ${name} is not on this machine`);
  return path;
}

function play({ words }: Runtime, path: string, { program, cwd = repository }: Played): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(path, [...words, program], { cwd }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

interface Played {
  readonly program: string;
  readonly cwd?: string;
}

for (const runtime of [bun, deno]) {
  const { name } = runtime;
  const path = pathOf(runtime);
  describe.skipIf(path === undefined)(`the recipe for ${name}`, () => {
    const program = `examples/recipes/${name}/main.ts`;

    it("streams a run while it goes on, and has its question answered over HTTP", async () => {
      const { code, stdout, stderr } = await play(runtime, path ?? "", { program });
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).toMatch(/approval-request approval-answer tool-start .* run-end$/m);
      expect(stdout.trimEnd().split("\n").at(-1)).toBe("One refund, approved over HTTP.");
    });

    it("fails where its server refuses the token", async () => {
      const { folder, remove } = makeProject();
      onTestFinished(remove);
      symlinkSync(join(repository, "node_modules/zod"), join(folder, "node_modules/zod"), "junction");
      cpSync(join(repository, "examples/recipes"), join(folder, "examples/recipes"), { recursive: true });
      const text = readFileSync(join(folder, program), "utf8");
      writeFileSync(join(folder, program), text.replace('hashToken("a-secret")', 'hashToken("another")'));
      const { code, stderr } = await play(runtime, path ?? "", { program, cwd: folder });
      expect(code).toBe(1);
      expect(stderr).toContain("does not come from somebody who may use the server");
    });
  });
}

for (const runtime of [bun, { ...deno, words: ["run", "--allow-all", "--node-modules-dir=manual"] }]) {
  const { name } = runtime;
  const path = pathOf(runtime);
  describe.skipIf(path === undefined)(`programs of tools in ${name}`, () => {
    it("start and end, though a file was left open in the runtime", async () => {
      const { file, folder, remove } = makeProject();
      onTestFinished(remove);
      const program = file("main.mjs", startingPrograms);
      const shell = { name: "sh", words: ["-c", `exec "$0" "$@" 8</dev/zero`, path ?? "", ...runtime.words] };
      const { stdout, stderr } = await play(shell, "/bin/sh", { program, cwd: folder });
      expect(stdout.split("\n").slice(0, 2), stdout + stderr).toEqual(["out", "0"]);
      expect(stdout).toMatch(/^enforcement-unavailable .*needs Node, and this is (?:Bun|Deno) \d/m);
    });

    it("play the demo of the command line", async () => {
      const { folder, remove } = makeProject();
      onTestFinished(remove);
      const demo = { ...runtime, words: [...runtime.words, join(repository, "dist/cli/main.js")] };
      const { code, stdout, stderr } = await play(demo, path ?? "", { program: "demo", cwd: folder });
      expect(code, stdout + stderr).toBe(0);
    });
  });
}

const denoPath = pathOf(deno);
it.skipIf(denoPath === undefined)("a server in Deno hands over at the first signal", async () => {
  const { file, folder, remove } = makeProject();
  onTestFinished(remove);
  file(
    "agent.ts",
    `import { agent } from "writ"; export default agent({ name: "echo", model: () => "hi" });`,
  );
  const words = [
    "run",
    "--allow-all",
    join(repository, "dist/cli/main.js"),
    "serve",
    "agent.ts",
    "--port",
    "0",
  ];
  const program = realpathSync(denoPath ?? ""); // a signal for npm's own script would not reach Deno
  const child = execFile(program, [...words, "--store", "runs.db"], { cwd: folder });
  let told = "";
  child.stderr?.on("data", (text: string) => {
    if (told === "") setTimeout(() => child.kill("SIGTERM"), 500); // Deno listens a moment later
    told += text;
  });
  const code = await new Promise((resolve) => void child.once("close", resolve));
  expect([code, told]).toEqual([0, expect.stringContaining("Handing over.")]);
});

/** An agent whose tool starts a program, and a tool that needs a process of Node. */
const startingPrograms = `
import { agent, exec, tool } from "writ";
import { codeTool } from "writ/isolate";
import { scripted } from "writ/testing";

const print = tool({
  name: "print",
  description: "Prints",
  inputSchema: { type: "object", properties: {} },
  effect: "read",
  needs: [exec("/bin/echo")],
  execute: async (_args, { exec }) => {
    const { stdout, exitCode } = await exec("/bin/echo", ["out"]);
    return stdout + exitCode;
  },
});
const printer = agent({
  name: "printer",
  model: scripted([{ calls: [{ name: "print", arguments: {} }] }, "Done."]),
  tools: [print],
  grants: [exec("/bin/echo")],
});
for await (const event of printer.stream("Print"))
  if (event.type === "tool-end") console.log(event.result.text);
await codeTool({}).catch(({ code, message }) => console.log(code, message));
process.exit(0);
`;

const bunPath = pathOf(bun);
it.skipIf(bunPath === undefined)(
  "Bun's server, as it is without settings, does not end the stream of a run that waits",
  async () => {
    const { file, folder, remove } = makeProject();
    onTestFinished(remove);
    const program = file("main.ts", waitingInBun);
    const { stdout, stderr } = await play(bun, bunPath ?? "", { program, cwd: folder });
    expect(stdout, stderr).toBe("answered\n");
  },
);

/** A run that waits for longer than Bun lets a connection be silent, and is read without a second request. */
const waitingInBun = `
import { agent, tool } from "writ";
import { serve } from "writ/server";
import { sqliteRuns } from "writ/sqlite";

const rest = tool({
  name: "rest",
  description: "Rests",
  inputSchema: { type: "object", properties: {} },
  effect: "read",
  execute: () => new Promise((resolve) => setTimeout(resolve, 16_000, "rested")),
});
const model = ({ messages }) => (messages.at(-1).role === "tool" ? "Good." : { calls: [{ name: "rest", arguments: {} }] });
const agents = serve({ store: sqliteRuns(":memory:"), agents: [agent({ name: "sleeper", model, tools: [rest] })] });
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: agents.fetch });
const body = JSON.stringify({ agent: "sleeper", input: "Rest" });
const headers = { accept: "text/event-stream" };
const response = await fetch(server.url.href + "runs", { method: "POST", headers, body });
const text = await response.text();
console.log(/"outcome":\\{"type":"(\\w+)"/.exec(text)?.[1]);
await agents.drain();
await server.stop();
`;
