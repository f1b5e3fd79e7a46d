import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { agent, net, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

async function serverThatSays(words: string): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("error", () => undefined));
    socket.once("data", () => socket.write(words));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  [
    "101 with an upgrade",
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
  ],
  ["101 alone", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  [
    "an upgrade behind a beginning of an answer",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 x\r\nupgrade: h2c\r\n\r\n",
  ],
])("a server that answers %s fails the call at once, however long it may take", async (_what, words) => {
  const origin = await serverThatSays(words);
  const get = tool({
    name: "get",
    description: "d",
    inputSchema: { type: "object" },
    needs: [net(origin)],
    execute: async (_args, { fetch }) => (await fetch(origin)).status,
  });
  const model = scripted([{ calls: [{ name: "get", arguments: {} }] }, "ok"]);
  const run = await agent({ name: "a", model, tools: [get], grants: [net(origin)] }).run("x", {
    signal: AbortSignal.timeout(10_000),
  });
  expect(run.transcript.messages.find(({ role }) => role === "tool")).toMatchObject({
    status: "error",
    text: expect.stringMatching(/another protocol|range of 200 to 599/) as string,
  });
});
