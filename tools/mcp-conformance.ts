/**
 * Runs the official conformance suite of the Model Context Protocol against the server (`writ mcp`) and the client (`connectMcp`), and the Inspector's command
 * line and the requester of the Tasks extension against the server, at the versions of tools/mcp/suite. Writes docs/mcp-conformance.md; `-- --share` runs a share of it and writes nothing. Fails where a
 * scenario fails that is not left out, or one passes that is. Run: npm run mcp:conformance (needs the registry once)
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { skipped } from "./mcp/skipped.ts";
import { checkTasks } from "./mcp/task-requester.ts";
import { root } from "./source-files.ts";

const folder = join(root, "tools/mcp/suite");
const isShare = process.argv.includes("--share");
const run = promisify(execFile);

interface Checked {
  readonly side: "server" | "client";
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
}

function install(): boolean {
  if (existsSync(join(folder, "node_modules/.bin/conformance"))) return true;
  const words = [
    "install",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel",
    "error",
  ];
  try {
    execFileSync("npm", words, { cwd: folder, stdio: "inherit" });
    return true;
  } catch {
    return false;
  }
}

/** The output of a program of the suite, whether or not it exits with 0. */
async function printed(program: string, words: readonly string[]): Promise<string> {
  const path = join(folder, "node_modules/.bin", program);
  const options = { cwd: folder, maxBuffer: 100_000_000, timeout: 300_000 };
  try {
    const { stdout, stderr } = await run(process.execPath, [path, ...words], options);
    return stdout + stderr;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
    return stdout + stderr;
  }
}

const serverWords = [
  "dist/cli/main.js",
  "mcp",
  join(root, "tools/mcp/server.ts"),
  "--tools",
  "--knowledge",
  "--skills",
];

async function startServer(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [...serverWords, "--port", "0", "--store", ":memory:"], {
    cwd: root,
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = "";
  child.stderr.on("data", (text: unknown) => {
    said += String(text);
    const found = /at (http:\S+)\. Ctrl-C/.exec(said)?.[1];
    if (found !== undefined) resolve(found);
  });
  child.once("exit", () => reject(new Error(said)));
  return { child, url: await promise };
}

async function checkServer(url: string): Promise<Checked[]> {
  const text = await printed("conformance", ["server", "--url", url, "--suite", "all"]);
  const lines = [...text.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)];
  return lines.map(([, scenario = "", passed, failed]) => ({
    side: "server",
    scenario,
    passed: Number(passed),
    failed: Number(failed),
  }));
}

const clientShare = ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "auth/scope-step-up"];

async function checkClient(): Promise<Checked[]> {
  const [, known = ""] = (await printed("conformance", ["list"])).split("Client scenarios");
  const all = [...known.matchAll(/^ +- (\S+)/gm)].flatMap(([, scenario]) => scenario ?? []);
  const command = `${process.execPath} ${join(root, "tools/mcp/client.ts")}`;
  const checked: Checked[] = [];
  for (const scenario of isShare ? clientShare : all) {
    const text = await printed("conformance", ["client", "--command", command, "--scenario", scenario]);
    const [, passed = 0, failed = 1] = /Passed: (\d+)\/\d+, (\d+) failed/.exec(text) ?? [];
    checked.push({ side: "client", scenario, passed: Number(passed), failed: Number(failed) });
  }
  return checked;
}

/** Asks the server through the Inspector's command line. @throws Error where the answer is another one than expected */
async function inspect(words: readonly string[], wanted: RegExp): Promise<void> {
  const [main = "", ...command] = serverWords;
  const target = ["--cli", process.execPath, join(root, main), ...command, "--method"];
  const text = await printed("mcp-inspector", [...target, ...words]);
  if (!wanted.test(text)) throw new Error(`the Inspector was told: ${text.slice(0, 2000)}`);
}

const isGood = ({ passed, failed }: Checked): boolean => passed > 0 && failed === 0;

function page(checked: readonly Checked[]): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const [suite, inspector, tasks] = ["conformance", "inspector", "ext-tasks"].map(
    (name) => dependencies[`@modelcontextprotocol/${name}`],
  );
  const good = checked.filter(isGood);
  const rows = checked.map((each) => {
    const { side, scenario, passed, failed } = each;
    return `| ${side} | ${scenario} | ${passed} of ${passed + failed} | ${isGood(each) ? "" : (skipped[scenario] ?? "?")} |`;
  });
  return `# The MCP conformance suite

\`npm run mcp:conformance\` runs \`@modelcontextprotocol/conformance\` ${suite} against [\`writ mcp\`](mcp-server.md) and [\`connectMcp\`](mcp.md), and
writes this page: ${good.length} of ${checked.length} scenarios pass whole, with ${checked.reduce((sum, { passed }) => sum + passed, 0)} checks. The others are left out, each with its reason; the
run fails when one more fails, or when one that is left out passes. The suite knows revisions up to 2025-11-25; 2026-07-28 is held by tests of ours with the
official clients and servers. The command line of \`@modelcontextprotocol/inspector\` ${inspector} lists and calls tools in the same run,
and the requester of \`@modelcontextprotocol/ext-tasks\` ${tasks} calls some as [tasks](mcp-server.md#tasks): one in 2025-11-25, and two in 2026-07-28, of which one asks the person at the client.

| side | scenario | checks | left out because |
|---|---|---|---|
${rows.join("\n")}
`;
}

if (!install()) {
  console.log("The suite cannot be installed here: nothing was checked.");
} else {
  const { child, url } = await startServer();
  const checked = [...(await checkServer(url)), ...(await checkClient())];
  await checkTasks(url, folder).finally(() => child.kill());
  await inspect(["tools/list"], /"name": "test_simple_text"/);
  await inspect(["tools/call", "--tool-name", "test_simple_text"], /simple text response/);
  const wrong = checked.filter((each) => isGood(each) === Object.hasOwn(skipped, each.scenario));
  for (const { side, scenario, passed, failed } of wrong)
    console.error(`${side} ${scenario}: ${passed} passed, ${failed} failed`);
  if (wrong.length > 0 || checked.length === 0) process.exitCode = 1;
  else if (!isShare) writeFileSync(join(root, "docs/mcp-conformance.md"), page(checked));
  console.log(
    `${checked.filter(isGood).length} of ${checked.length} scenarios pass; ${wrong.length} are not as they were`,
  );
}
