import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { agent, net, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

const answer = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;

/** A server that answers its first question twice, the second time by the words given, and each other one once. */
async function serverThatAdds(second: string, isLater: boolean): Promise<string> {
  let asked = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("error", () => undefined));
    socket.on("data", () => {
      asked += 1;
      socket.write(asked > 1 ? answer("honest") : answer("first") + (isLater ? "" : second));
      if (asked === 1 && isLater) setTimeout(() => socket.write(second), 20);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ["a second answer in one piece with the first", answer("planted"), false],
  ["a second answer a moment later", answer("planted"), true],
  ["a beginning of an answer a moment later", "HTTP/1.1 200 OK\r\nx-planted: 1\r\n", true],
  ["bytes that are none", "\r\n\r\n", true],
])("%s answers no other question", async (_what, second, isLater) => {
  const origin = await serverThatAdds(second, isLater);
  const get = tool({
    name: "get",
    description: "d",
    inputSchema: { type: "object" },
    needs: [net(origin)],
    execute: async (_args, { fetch }) => {
      const response = await fetch(origin);
      return `${await response.text()} ${response.headers.get("x-planted") ?? ""}`.trim();
    },
  });
  const pause = tool({
    name: "pause",
    description: "d",
    inputSchema: { type: "object" },
    execute: () => new Promise((resolve) => setTimeout(resolve, 200, "later")),
  });
  const calls = ["get", "pause", "get"].map((name) => ({ calls: [{ name, arguments: {} }] }));
  const clerk = agent({
    name: "a",
    model: scripted([...calls, "ok"]),
    tools: [get, pause],
    grants: [net(origin)],
  });
  const { transcript } = await clerk.run("x");
  const told = transcript.messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
  expect(told).toEqual(["first", "later", "honest"]);
});
