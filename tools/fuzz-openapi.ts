/**
 * Tries the OpenAPI description of a server with requests that schemathesis makes of it, and exits with 1 where one was answered with 500 or above:
 * `npm run fuzz:openapi -- --schemathesis <path of schemathesis> --examples 100`. It comes from PyPI, into an environment of its own:
 * `python3 -m venv /tmp/venv && /tmp/venv/bin/pip install schemathesis`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { serve as listen } from "@hono/node-server";
import { agent } from "../src/index.ts";
import { memoryRuns } from "../src/durable.ts";
import { hashToken, serve } from "../src/server.ts";
import { fakeTool } from "../src/testing.ts";

const talker = agent({ name: "talker", model: () => "Hello" });
const looker = agent({
  name: "looker",
  tools: [fakeTool("look", "seen")],
  model: ({ messages }) =>
    messages.some(({ role }) => role === "tool") ? "Seen." : { calls: [{ name: "look", arguments: {} }] },
});
const payer = agent({
  name: "payer",
  tools: [fakeTool("pay", "paid")],
  policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
  model: ({ messages }) =>
    messages.some(({ role }) => role === "tool") ? "Paid." : { calls: [{ name: "pay", arguments: {} }] },
});
/** The requests that were answered with 500 or above. */
const failures: unknown[] = [];
const server = serve({
  store: memoryRuns(),
  agents: [talker, looker, payer],
  principals: [{ name: "tried", tokens: [hashToken("tried")] }],
  limits: { requestsAMinute: 1_000_000 },
  onError: (error) => failures.push(error),
});
const { values } = parseArgs({
  options: {
    schemathesis: { type: "string", default: "schemathesis" },
    examples: { type: "string", default: "50" },
  },
});
const http = listen({ fetch: server.fetch, hostname: "127.0.0.1", port: 0 });
await once(http, "listening");
const address = http.address();
const port = typeof address === "object" ? address?.port : undefined;
const url = `http://127.0.0.1:${port}`;
const headers = { authorization: "Bearer tried" };
for (const name of ["talker", "payer"])
  await fetch(`${url}/runs`, {
    method: "POST",
    headers,
    body: JSON.stringify({ agent: name, input: "Hi", id: name }),
  });
const options = [`${url}/openapi.json`, "--header", `authorization: ${headers.authorization}`];
const bounds = ["--checks", "not_a_server_error", "--max-examples", values.examples, "--continue-on-failure"];
const child = spawn(values.schemathesis, ["run", ...options, ...bounds], {
  cwd: mkdtempSync(join(tmpdir(), "writ-openapi-")), // it keeps what it found
  stdio: "inherit",
  env: { ...process.env, SCHEMATHESIS_HOOKS: join(import.meta.dirname, "openapi-hooks.py") },
});
const [status] = (await once(child, "exit")) as [number | null];
http.close();
await server.drain({ graceMs: 0 });
console.log(`${failures.length} answers of 500 or above`);
process.exitCode = status === 0 && failures.length === 0 ? 0 : 1;
process.exit();
