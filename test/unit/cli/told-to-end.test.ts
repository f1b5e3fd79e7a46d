import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { durableRuns } from "../../../src/adapters/durable-runs.ts";
import { sqliteRuns } from "../../../src/adapters/sqlite/sqlite-runs.ts";
import { loadAgent } from "../../../src/cli/load-agent.ts";

const source = (path: string): string =>
  JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);

/** The file of an agent whose tool has a program at work for a minute, and the file in which that program writes its number. */
function waiting(): { readonly file: string; readonly pidFile: string } {
  const folder = mkdtempSync(join(tmpdir(), "writ-told-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, pidFile] = [join(folder, "agent.mjs"), join(folder, "pid")];
  writeFileSync(
    file,
    `import { agent, exec, tool } from ${source("index.ts")};
    const needs = [exec("sh")];
    const wait = tool({
      name: "wait", description: "Waits", effect: "read", needs,
      inputSchema: { type: "object", properties: {} },
      execute: async (_args, { exec }) => (await exec("sh", ["-c", 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 60', ${JSON.stringify(pidFile)}])).stdout,
    });
    const model = ({ messages }) => messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "wait", arguments: {} }] };
    export default agent({ name: "waiter", grants: needs, tools: [wait], model });`,
  );
  return { file, pidFile };
}

const main = new URL("../../../src/cli/main.ts", import.meta.url).pathname;

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each([
  ["SIGTERM", "run"],
  ["SIGHUP", "run"],
  ["SIGINT", "run"],
  ["SIGTERM", "chat"],
] as const)(
  "%s ends `writ %s` with the programs of its tools, and the run says so",
  async (signal, command) => {
    const { file, pidFile } = waiting();
    const given = command === "run" ? ["run", file, "Hi", "--json"] : ["chat", file];
    const child = spawn(process.execPath, ["--no-warnings", main, ...given], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.write("Hi\n"); // what it reads goes on: a chat that is not told ends never
    const printed = text(child.stdout);
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    await expect.poll(() => existsSync(pidFile), { timeout: 20_000 }).toBe(true);
    const program = Number(readFileSync(pidFile, "utf8"));
    onTestFinished(() => {
      if (isThere(program)) process.kill(program, "SIGKILL");
      child.kill("SIGKILL");
    });
    child.kill(signal);
    expect(await ended).toBe(130);
    await expect.poll(() => isThere(program), { timeout: 5000 }).toBe(false);
    if (command === "run") expect(JSON.parse(await printed)).toMatchObject({ outcome: "cancelled" });
  },
  60_000,
);

it.runIf(existsSync("/usr/bin/script"))(
  "a terminal that is closed ends `writ run` as its signal does, though nothing can be written there",
  async () => {
    const { file, pidFile } = waiting();
    const codeFile = `${pidFile}-code`;
    const telling = `process.on("exit", (code) => fs.writeFileSync(${JSON.stringify(codeFile)}, String(code)));`;
    writeFileSync(file, `import fs from "node:fs"; ${telling} ${readFileSync(file, "utf8")}`);
    const words = [process.execPath, "--no-warnings", main, "run", file, "Hi"];
    const command = `exec ${words.map((word) => `'${word}'`).join(" ")}`;
    const terminal = spawn("/usr/bin/script", ["-qec", command, "/dev/null"], { stdio: "ignore" });
    await expect.poll(() => existsSync(pidFile), { timeout: 20_000 }).toBe(true);
    terminal.kill("SIGKILL");
    const code = (): string => (existsSync(codeFile) ? readFileSync(codeFile, "utf8") : "");
    await expect.poll(code, { timeout: 10_000 }).toBe("130");
  },
  60_000,
);

it("SIGHUP has `writ work` hand its runs over, and leaves no program of their tools", async () => {
  const { file, pidFile } = waiting();
  const path = `${pidFile}.db`;
  const agent = await loadAgent(file);
  {
    using store = sqliteRuns(path);
    await durableRuns({ store, agents: [agent] }).start(agent, "Hi" as never);
  }
  const worker = spawn(process.execPath, ["--no-warnings", main, "work", file, "--store", path], {
    stdio: "ignore",
  });
  const ended = new Promise<number | null>((resolve) => worker.once("exit", resolve));
  await expect.poll(() => existsSync(pidFile), { timeout: 20_000 }).toBe(true);
  const program = Number(readFileSync(pidFile, "utf8"));
  worker.kill("SIGHUP");
  await setTimeout(200);
  worker.kill("SIGHUP"); // the shell's, after the system's
  await expect.poll(() => isThere(program), { timeout: 20_000 }).toBe(false);
  expect(await ended).toBe(0); // after the 10 s that calls have to end
}, 60_000);

it("`writ work` hands its runs over where nobody reads what it writes any more: a call at work ends", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-unread-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, begun, path] = [join(folder, "agent.mjs"), join(folder, "begun"), join(folder, "runs.db")];
  writeFileSync(
    file,
    `import { writeFileSync } from "node:fs";
    import { agent, tool } from ${source("index.ts")};
    const pay = tool({
      name: "pay", description: "Pays", effect: "irreversible", inputSchema: { type: "object", properties: {} },
      async execute() { writeFileSync(${JSON.stringify(begun)}, ""); await new Promise((end) => setTimeout(end, 2000)); return "paid"; },
    });
    const model = ({ messages }) => messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "pay", arguments: {} }] };
    export default agent({ name: "payer", tools: [pay], model, policy: () => ({ verdict: "allow", rule: "free", reason: "" }) });`,
  );
  const agent = await loadAgent(file);
  using store = sqliteRuns(path);
  const runs = durableRuns({ store, agents: [agent] });
  const { id } = await runs.start(agent, "Hi" as never);
  const worker = spawn(process.execPath, ["--no-warnings", main, "work", file, "--store", path], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void worker.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => worker.once("exit", resolve));
  await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true);
  worker.stderr.destroy();
  await runs.start(agent, "Hi again" as never); // it says that this one goes on
  expect(await ended).toBe(0);
  const paid = (await store.records(id)).find(({ key }) => key === "turn/1/call/0");
  expect(paid?.json).toContain("paid");
}, 60_000);
