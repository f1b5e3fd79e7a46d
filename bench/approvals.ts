/**
 * Lets a person approve a payment in writ and its peers, abuses the approval, and writes the payments to docs/approvals-compared.md. Run:
 * npm run bench:install -- ai openai-agents mastra langchain; npm run build; npm run bench:approvals
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import type { Payment } from "./approvals-worker.ts";
import { runNode } from "./run-worker.ts";

const peers: Readonly<Record<string, readonly [name: string, way: string, ...packages: string[]]>> = {
  writ: ["writ", "`durableRuns` over a SQLite file; `answer` with the hash that was shown", "writ"],
  ai: ["AI SDK", "`generateText` with `toolApproval`; the messages are sent again with the response", "ai"],
  "openai-agents": [
    "OpenAI Agents",
    "`needsApproval`; the state is kept as text, read by `RunState.fromString`, approved and run",
    "@openai/agents",
  ],
  mastra: ["Mastra", "`requireApproval` with `InMemoryStore`; `approveToolCallGenerate`", "@mastra/core"],
  langchain: [
    "LangChain",
    "`humanInTheLoopMiddleware` with `MemorySaver`; `Command({ resume })`",
    "langchain",
    "@langchain/langgraph",
  ],
};
const cases = {
  once: "one click on yes",
  "at once": "two clicks at the same time",
  later: "a second click when the first is done: an old page, or another process with the same saved state",
  changed: "the amount in the state that was kept is changed from 10 to 999 before the click",
};
const inStorage = new Set(["mastra", "langchain"]);

interface Seen {
  readonly payments: readonly Payment[];
  readonly errors: readonly string[];
}

/** A model that pays Ada 10, and says that it is done once a result is in the request. */
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const piece of request) body += String(piece);
  const { messages, stream } = JSON.parse(body) as {
    readonly messages: readonly { readonly role: string }[];
    readonly stream?: boolean;
  };
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "pay", arguments: '{"to":"Ada","amount":10}' },
  };
  const isPaid = messages.some(({ role }) => role === "tool");
  const said = isPaid ? { content: "done" } : { content: null, tool_calls: [{ index: 0, ...call }] };
  const message = { role: "assistant", ...said };
  const finish_reason = isPaid ? "stop" : "tool_calls";
  const head = { id: "1", created: 1_700_000_000, model: "mock" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (stream !== true) {
    const whole = {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason }],
      usage,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const choices = [
    { index: 0, delta: message, finish_reason: null },
    { index: 0, delta: {}, finish_reason },
  ];
  for (const choice of choices)
    response.write(
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [choice], usage })}\n\n`,
    );
  response.end("data: [DONE]\n\n");
}

function cellOf({ payments, errors }: Seen): string {
  const amounts = payments.map(({ amount }) => amount);
  const paid = amounts.length === 0 ? "nothing paid" : `paid ${amounts.join(" and ")}`;
  const isWrong = amounts.length > 1 || amounts.some((amount) => amount !== 10);
  const told =
    errors.length === 0 ? "" : `; ${[...new Set(errors)].map((error) => `\`${error}\``).join(", ")}`;
  return `${isWrong ? `**${paid}**` : paid}${told}`;
}

async function look(peer: string, how: string, address: string): Promise<string> {
  if (how === "changed" && inStorage.has(peer)) return "not tried: its storage has the state";
  const { stdout, stderr } = await runNode(["approvals-worker.ts", peer, address, how], {
    timeoutMs: 60_000,
  });
  const line = stdout.split("\n").find((one) => one.startsWith("@@"));
  if (line === undefined) throw new Error(`${peer}, ${how}: ${stderr}`);
  return cellOf(JSON.parse(line.slice(2)) as Seen);
}

function versionOf(peer: string, name: string): string {
  const folder = peer === "writ" ? "../" : `peers/${peer}/node_modules/${name}/`;
  const text = readFileSync(new URL(`${folder}package.json`, import.meta.url), "utf8");
  return `${name} ${(JSON.parse(text) as { readonly version: string }).version}`;
}

const server = createServer((request, response) => void respond(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}/v1`;
const columns = Object.keys(peers).filter(
  (peer) => peer === "writ" || existsSync(new URL(`peers/${peer}/node_modules`, import.meta.url)),
);
const rows: string[] = [];
for (const [how, says] of Object.entries(cases)) {
  const cells: string[] = [];
  for (const peer of columns) cells.push(await look(peer, how, address));
  console.log(how, cells);
  rows.push(`| ${[says, ...cells].join(" | ")} |`);
}
server.close();
server.closeAllConnections();
const ways = columns.map((peer) => {
  const [name = peer, way = "", ...packages] = peers[peer] ?? [];
  return `- ${name} (${packages.map((one) => versionOf(peer, one)).join(", ")}): ${way}.`;
});
const names = columns.map((peer) => peers[peer]?.[0] ?? peer);
const page = `# Approvals compared

See what an approval pays that is given twice, or whose call was changed, in writ and in other libraries. Written by
\`npm run bench:install -- ai openai-agents mastra langchain\` and \`npm run bench:approvals\`; it is not edited by hand.

${ways.join("\n")}

A model calls \`pay({ to: "Ada", amount: 10 })\`, which a person has to approve. A click does what the library documents for a yes. Behind the payment stand the
errors that the program was told of. Each cell is a run in a process of its own.

| | ${names.join(" | ")} |
|---|${names.map(() => "---").join("|")}|
${rows.join("\n")}

A program over any of them can keep a table of its own of what was answered, and refuse the second click; the AI SDK can sign its approval requests with a secret. Neither is done
here, since neither is set by default. The state of OpenAI Agents is the program's own to keep: the last row says what becomes of one that passed through other hands. With writ [deadlines, people and policies](waiting.md#single-use) are checked too; \`npm run approvals:single-use\` abuses them.
`;
writeFileSync(fileURLToPath(new URL("../docs/approvals-compared.md", import.meta.url)), page);
console.log("Written to docs/approvals-compared.md.");
