/**
 * Asks writ and its peers the same question of a server that fails in the same ways, each run in a process of its own with a bound of 15
 * seconds, and writes what happened to docs/failures-compared.md. Run: npm run bench:install -- ai openai-agents mastra; npm run bench:failures [-- writ ai]
 * Names of peers print their columns only, and leave the page as it is.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { answer, type Asked, type Scenario, scenarios, writtenIn } from "./failure-scenarios.ts";
import { endMark, ranMark, type Reported } from "./failure-worker.ts";
import { pageOf, type Seen } from "./failures-page.ts";
import { runNode } from "./run-worker.ts";

const boundMs = 15_000;
const atOnce = 2;

/** The peers in the order of the columns, with their names there, and the packages whose versions the page shows. */
const peers: Readonly<Record<string, readonly [name: string, ...packages: string[]]>> = {
  writ: ["writ", "writ"],
  ai: ["AI SDK", "ai", "@ai-sdk/openai-compatible"],
  "openai-agents": ["OpenAI Agents", "@openai/agents", "openai"],
  mastra: ["Mastra", "@mastra/core"],
};

interface Run {
  readonly scenario: Scenario;
  readonly asked: Asked[];
}

const runs = new Map<string, Run>();

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, id = "", ...rest] = (request.url ?? "").split("/");
  const run = runs.get(id);
  let body = "";
  for await (const piece of request) body += String(piece);
  if (run === undefined || rest.join("/") !== "v1/chat/completions") {
    response.writeHead(404).end();
    return;
  }
  const { messages } = JSON.parse(body) as {
    readonly messages: readonly Readonly<Record<string, unknown>>[];
  };
  const asked: Asked = {
    before: run.asked.length,
    afterTool: messages.some(
      ({ role, content }) => role === "tool" && /\b37\b/.test(JSON.stringify(content)),
    ),
    toolsBefore: run.asked.filter(({ afterTool }) => afterTool).length,
  };
  run.asked.push(asked);
  await run.scenario.respond(asked, response);
}

function linesWith(mark: string, stdout: string): readonly unknown[] {
  return stdout
    .split("\n")
    .filter((line) => line.startsWith(mark))
    .map((line) => JSON.parse(line.slice(mark.length)) as unknown);
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

/** The beginning of a message, as one cell of a table. */
function shortened(message: string): string {
  const line = message
    .replaceAll(/https?:\S+/g, "ADDRESS")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[<>|]/g, "");
  return line.length <= 90 ? line : `${line.slice(0, 90)}…`;
}

/** The end of a run in a few words. A text other than the answer is shown, an end other than `stop` is named. */
function endOf(reported: Reported | undefined, bound: boolean, stderr: string): string {
  if (reported === undefined) {
    const line = stderr.split("\n").find((one) => /^\w*Error\b/.test(one)) ?? "without a word";
    return bound ? `no end after ${boundMs / 1000} s` : `the process ended: ${shortened(line)}`;
  }
  if ("threw" in reported) return `threw ${code(reported.threw)}: ${shortened(reported.message)}`;
  if (reported.failed !== undefined) return `not answered: ${code(reported.failed)}`;
  const said =
    reported.text === answer ? "answered" : `gave ${code(JSON.stringify(reported.text) ?? "undefined")}`;
  return ["stop", undefined].includes(reported.ended) ? said : `${said} (${reported.ended})`;
}

function toolOf(ran: readonly unknown[], invented: readonly unknown[]): string {
  if (invented.length > 0) return `**ran with ${invented.map(code).join(", ")}, which nobody wrote**`;
  return ran.length === 0 ? "tool not run" : `tool run ${ran.length === 1 ? "once" : `${ran.length} times`}`;
}

function usageOf(reported: Reported | undefined): string {
  if (reported === undefined || !("usage" in reported)) return "";
  const plain = Object.entries(reported.usage ?? {}).filter(([, value]) => typeof value !== "object");
  return `; usage ${code(Object.fromEntries(plain))}`;
}

async function look(peer: string, scenario: Scenario, address: string): Promise<Seen> {
  const id = `${peer}-${scenarios.indexOf(scenario)}`;
  const run: Run = { scenario, asked: [] };
  runs.set(id, run);
  const args = ["failure-worker.ts", peer, `${address}/${id}/v1`, ...(scenario.defaults ? ["defaults"] : [])];
  const { stdout, stderr, code: exit } = await runNode(args, { timeoutMs: boundMs });
  const [reported] = linesWith(endMark, stdout) as readonly Reported[];
  const ran = linesWith(ranMark, stdout);
  const wrote = writtenIn(scenario).map((text) => JSON.parse(text) as unknown);
  const invented = ran.filter((args) => !wrote.some((one) => isDeepStrictEqual(one, args)));
  const end = endOf(reported, exit === null, stderr);
  const seconds = reported === undefined ? "" : `, ${(reported.ms / 1000).toFixed(1)} s`;
  const requests = `${run.asked.length} request${run.asked.length === 1 ? "" : "s"}`;
  const usage = scenario.name === "usage missing" ? usageOf(reported) : "";
  return {
    cell: `${end}; ${toolOf(ran, invented)}; ${requests}${seconds}${usage}`,
    answered: end === "answered",
    invented: invented.length,
  };
}

function versionOf(peer: string, name: string): string {
  const folder = peer === "writ" ? "../" : `peers/${peer}/node_modules/${name}/`;
  const { version } = JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return `${name} ${version}`;
}

function isInstalled(peer: string): boolean {
  return peer === "writ" || existsSync(new URL(`peers/${peer}/node_modules`, import.meta.url));
}

const server = createServer((request, response) => void respond(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as { readonly port: number };
const given = process.argv.slice(2);
const columns = Object.keys(peers).filter((peer) => given.length === 0 || given.includes(peer));
const seen = new Map<string, Seen>();
const todo = columns
  .filter(isInstalled)
  .flatMap((peer) => scenarios.map((scenario) => ({ peer, scenario, key: `${peer} ${scenario.name}` })));
const worker = async (): Promise<void> => {
  for (let next = todo.shift(); next !== undefined; next = todo.shift()) {
    const one = await look(next.peer, next.scenario, `http://127.0.0.1:${port}`);
    console.log(`${next.key}: ${one.cell}`);
    seen.set(next.key, one);
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));
server.close();
server.closeAllConnections();
if (given.length === 0) {
  const told = columns.map((peer) => {
    const [name = peer, ...packages] = peers[peer] ?? [];
    const versions = isInstalled(peer)
      ? packages.map((one) => versionOf(peer, one)).join(", ")
      : "not installed, so not run";
    return { name, versions, seen: scenarios.map((scenario) => seen.get(`${peer} ${scenario.name}`)) };
  });
  const page = fileURLToPath(new URL("../docs/failures-compared.md", import.meta.url));
  writeFileSync(page, pageOf(told));
  console.log("Written to docs/failures-compared.md.");
}
