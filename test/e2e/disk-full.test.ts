import { type ChildProcess, execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { until } from "../server/scene.ts";
import { makeProject, type Project, writ as writIn } from "./command-line.ts";

const hasLimits = spawnSync("prlimit", ["--version"]).status === 0;
if (!hasLimits) console.log("A full disk is not tried: there is no prlimit here.");

/** The bank of the test: it counts payments, and holds each until it is let go. */
let bank: Server;
let paid: string[] = [];
let held: (() => void)[] = [];
let project: Project;
const children: ChildProcess[] = [];

beforeAll(async () => {
  bank = createServer((request, response) => {
    paid.push(String(request.url));
    held.push(() => response.end("paid"));
  });
  await new Promise<void>((resolve) => bank.listen(0, "127.0.0.1", resolve));
  project = makeProject();
  const { port } = bank.address() as AddressInfo;
  project.file(
    "clerk.ts",
    `import { agent, tool } from "writ";
const pay = tool({
  name: "pay", description: "", effect: "irreversible",
  inputSchema: { type: "object", properties: { to: { type: "string" } } },
  execute: async ({ to }) => (await fetch("http://127.0.0.1:${port}/" + to)).text(),
});
export default agent({
  name: "clerk", tools: [pay], policy: () => ({ verdict: "allow", rule: "all", reason: "a test" }),
  model: ({ messages }) => messages.some(({ role }) => role === "tool")
    ? "Paid." : { calls: [{ name: "pay", arguments: { to: JSON.stringify(messages.at(-1)).includes("Bob") ? "Bob" : "Ada" } }] },
});
`,
  );
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const letGo of held.splice(0)) letGo();
  paid = [];
  held = [];
});
afterAll(() => {
  bank.close();
  project.remove();
});

/** Starts the real command and waits for its address. */
async function startServer(file: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const address = Promise.withResolvers<string>();
  const started = Promise.withResolvers<ChildProcess>();
  let said = "";
  const ended = writIn(["serve", "clerk.ts", "--port", "0", "--store", file], {
    cwd: project.folder,
    meanwhile(child) {
      started.resolve(child);
      children.push(child);
      child.stderr?.on("data", (text: string) => {
        said += text;
        const found = /at (http:\S+)\. Ctrl-C/.exec(said)?.[1];
        if (found !== undefined) address.resolve(found);
      });
    },
  });
  void ended.then(({ stderr }) => address.reject(new Error(stderr)));
  return { url: await address.promise, child: await started.promise };
}

/** No file of the process may grow, or any may: what is written fails, as on a disk without space. */
const disk = ({ pid }: ChildProcess, bytes: "0" | "unlimited"): unknown =>
  execFileSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:`]);

const start = (url: string, id: string, input: string): Promise<Response> =>
  fetch(`${url}/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ agent: "clerk", id, input }),
  });

interface Shown {
  readonly status: string;
  readonly end?: { readonly output?: unknown };
}

const shown = async (url: string, id: string): Promise<Shown> =>
  (await (await fetch(`${url}/runs/${id}`)).json()) as Shown;

const paying = (count: number): Promise<boolean> => until(async () => paid.length === count);

describe.skipIf(!hasLimits)("a server whose disk is full", () => {
  it("says so, loses no run and pays nothing twice; with space it goes on", async () => {
    const { url, child } = await startServer("full.db");
    expect((await start(url, "a", "Pay Ada")).status).toBe(201);
    await paying(1);
    disk(child, "0");
    held.shift()?.(); // it is paid, and that cannot be written
    const refused = await start(url, "b", "Pay Bob");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    const text = await refused.text();
    expect(text).toContain("database-failed");
    expect(text).not.toMatch(/full\.db|SQLITE|disk/i);
    expect((await shown(url, "a")).status).toBe("running");
    disk(child, "unlimited");
    const end = await until(async () => (await shown(url, "a")).end);
    expect([end, paid]).toMatchObject([{ output: "Paid." }, ["/Ada"]]);
    const told = await (await fetch(`${url}/runs/a/events`)).text();
    expect(told).not.toContain('"status":"unknown"'); // the result waited for room
    expect(told).toContain('"status":"ok"');
    expect((await start(url, "b", "Pay Bob")).status).toBe(201);
    await paying(2);
    held.shift()?.();
    expect(await until(async () => (await shown(url, "b")).end)).toMatchObject({ output: "Paid." });
    expect(paid).toEqual(["/Ada", "/Bob"]);
  });

  it("that dies so says of the call that it does not know what became of it, and pays nothing again", async () => {
    const first = await startServer("dies.db");
    expect((await start(first.url, "a", "Pay Ada")).status).toBe(201);
    await paying(1);
    disk(first.child, "0");
    held.shift()?.();
    first.child.kill("SIGKILL");
    const { url } = await startServer("dies.db");
    await until(async () => (await shown(url, "a")).end);
    const told = await (await fetch(`${url}/runs/a/events`)).text();
    expect(told).toMatch(/"type":"tool-end".*"status":"unknown"/);
    expect(paid).toEqual(["/Ada"]);
  });
});

describe.skipIf(!existsSync("/dev/full"))("a command whose output goes to a full disk", () => {
  const to = (redirected: string, ...words: readonly string[]) => {
    const main = join(import.meta.dirname, "../../dist/cli/main.js");
    const script = `exec "$0" "$@" ${redirected}`;
    const given = ["-c", script, process.execPath, main, ...words];
    return spawnSync("sh", given, { cwd: project.folder, encoding: "utf8", timeout: 20_000 });
  };

  it.each(["", "--json"])("fails, and says so once on standard error: errors %s", (option) => {
    const ended = to(">/dev/full", "errors", ...(option === "" ? [] : [option]));
    expect(ended).toMatchObject({ status: 1, stdout: "", stderr: expect.stringMatching(/^error ENOSPC/) });
  });

  it("gives its answer where only its progress is lost", () => {
    project.file(
      "talker.mjs",
      `import { agent } from "writ";\nexport default agent({ name: "t", model: () => "Hi." });\n`,
    );
    expect(to("2>/dev/full", "run", "talker.mjs", "Hi")).toMatchObject({ status: 0, stdout: "Hi.\n" });
  });
});
