import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connectMcp } from "../../src/adapters/mcp/connect.ts";

/** A server with many resources, of which none is ever given. */
const server = `
import { createInterface } from "node:readline";
const resources = Array.from({ length: 200 }, (_, index) => ({ uri: "menu://" + index, name: "menu " + index }));
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say(id, { protocolVersion: params.protocolVersion, capabilities: { resources: {} }, serverInfo: { name: "house", version: "1" } });
  if (method === "resources/list") say(id, { resources });
});`;
const place = { name: "house", command: process.execPath, args: ["--input-type=module", "--eval", server] };
const pins = join(mkdtempSync(join(tmpdir(), "writ-hang-")), "pins.json");

it("a server that gives none of its resources holds up connecting no longer than its time", async () => {
  const connecting = connectMcp({ ...place, resources: true, pins, approve: "first-use", timeoutMs: 3000 });
  await expect(connecting).rejects.toMatchObject({ code: "mcp-unusable" });
}, 30_000);

it("a connection is given up while the words of resources are read", async () => {
  const signal = AbortSignal.timeout(3000);
  const connecting = connectMcp({ ...place, resources: true, pins, approve: "first-use", signal });
  await expect(connecting).rejects.toMatchObject({ name: "TimeoutError" });
}, 30_000);
