import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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
