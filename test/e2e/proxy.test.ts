import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { fakeOpenai, type FakeProvider } from "../../src/testing.ts";
import { runNode } from "./command-line.ts";

const open: { close: () => unknown }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A proxy of a company: it lets through to one provider, whatever the name that was asked for, or refuses all. */
async function proxyTo(provider: FakeProvider | undefined) {
  const asked: string[] = [];
  const server = createServer();
  server.on("connect", ({ url = "" }, socket) => {
    asked.push(url);
    if (provider === undefined) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const up = connect(Number(new URL(provider.url).port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      up.pipe(socket).pipe(up);
    });
    for (const end of [socket, up]) end.on("error", () => [socket, up].forEach((each) => each.destroy()));
    return up;
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: url, HTTPS_PROXY: url, OPENAI_API_KEY: "sk-test" },
  };
}

const program = (model: string) => `
  import { agent } from "writ";
  import { openaiCompatible } from "writ/openai-compatible";
  const { outcome } = await agent({ name: "a", model: ${model}, retry: { attempts: 1 } }).run("Hi").catch(({ message }) => ({ outcome: message }));
  console.log(JSON.stringify(outcome));
`;

const runProgram = async (model: string, env: Readonly<Record<string, string>>) =>
  (await runNode(["--input-type=module", "-e", program(model)], { env })).stdout;

it("asks a provider through the proxy that Node's variables name", async () => {
  const provider = await fakeOpenai(["through the proxy"]);
  open.push(provider);
  const { asked, env } = await proxyTo(provider);
  const printed = await runProgram('openaiCompatible("m", { baseUrl: "http://provider.test/v1" })', env);
  expect(printed).toContain("through the proxy");
  expect(asked).toEqual(["provider.test:80"]);
});

it.each(['openaiCompatible("m", { baseUrl: "https://provider.test/v1" })', '"openai/gpt-5-mini"'])(
  "says what the proxy answered: %s",
  async (model) => {
    const { env } = await proxyTo(undefined);
    expect(await runProgram(model, env)).toContain("Proxy response (407)");
  },
);
