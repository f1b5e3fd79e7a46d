import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readUIMessageStream, type UIMessage } from "ai";
import { experimental_MCPAppRenderer } from "@ai-sdk/react";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import {
  connectMcp,
  type McpChange,
  type McpConnection,
  type McpServer,
} from "../../src/adapters/mcp/tools.ts";
import type { Server } from "../../src/server.ts";
import { scripted } from "../../src/testing.ts";
import { ask, runsFile, serving, shop, talker, uiChunks } from "./scene.ts";

const require = createRequire(import.meta.url);
const { createElement } = require("react") as { createElement: (type: unknown, props: object) => object };
const { renderToStaticMarkup } = require("react-dom/server") as {
  renderToStaticMarkup: (element: object) => string;
};
const program = fileURLToPath(new URL("mcp-app-server.ts", import.meta.url));
const appType = "text/html;profile=mcp-app";
const page = { resourceUri: "ui://weather/chart", mimeType: appType, serverId: "weather" };

async function connect(
  options: Partial<McpServer> & { readonly args?: readonly string[] } = {},
): Promise<McpConnection> {
  const { args = [], ...rest } = options;
  const server = { name: "weather", command: process.execPath, timeoutMs: 20_000, apps: true, ...rest };
  const connection = await connectMcp({ ...server, args: [program, ...args] });
  onTestFinished(() => connection.close());
  return connection;
}

function serverOf({ tools }: McpConnection): Server {
  const calls = [{ name: "weather/forecast", arguments: { town: "Rome" } }, { name: "weather/plain" }];
  const forecaster = agent({ name: "forecaster", model: scripted([{ calls }, "Rain."]), tools });
  const store = inMemorySessions();
  const sessions = (id: string) => session(store, id);
  return serving(runsFile(), { agents: [forecaster, talker()], sessions });
}

/** The last message that the client of the AI SDK makes of an answer. */
async function shown(response: Response): Promise<UIMessage | undefined> {
  const chunks = uiChunks(response);
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream: chunks })) last = message;
  return last;
}

const notesOf = (message: UIMessage | undefined): unknown[] =>
  (message?.parts ?? []).flatMap((part) =>
    part.type === "dynamic-tool" ? [[part.toolName, part.state, part.toolMetadata]] : [],
  );

const noted = [
  ["weather/forecast", "output-available", { app: page, mcp: { app: page } }],
  ["weather/plain", "output-available", undefined],
];

describe("the pages of MCP servers (MCP Apps)", () => {
  it("are handed on to the front end, in the stream and in the messages of the chat", async () => {
    const server = serverOf(await connect());
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Rome?" }] };
    const answer = await ask(server, "POST /chat/forecaster", { body: { id: "c1", messages: [message] } });
    expect(notesOf(await shown(answer))).toEqual(noted);
    const { messages } = (await (await ask(server, "GET /chat/forecaster/c1")).json()) as {
      readonly messages: UIMessage[];
    };
    expect(notesOf(messages.at(-1))).toEqual(noted);
    const frames = messages.at(-1)?.parts.map((part) => {
      if (part.type !== "dynamic-tool") return "";
      const resource = { uri: page.resourceUri, mimeType: appType, html: "<p>rain</p>" } as const;
      const sandbox = { url: "/sandbox" };
      const element = createElement(experimental_MCPAppRenderer, {
        part,
        resource,
        sandbox,
        fallback: "none",
      });
      return renderToStaticMarkup(element);
    });
    expect(frames?.filter((frame) => frame !== "")).toEqual([expect.stringContaining("<iframe"), "none"]);
  });

  it("are loaded from the server that has them, for those who may use the agent", async () => {
    const server = serverOf(await connect());
    const load = (name: string, uri: string, headers?: object) =>
      ask(server, `GET /apps/${name}?uri=${encodeURIComponent(uri)}`, headers && { headers: { ...headers } });
    const loaded = await load("forecaster", page.resourceUri);
    expect(await loaded.json()).toEqual({
      uri: page.resourceUri,
      mimeType: page.mimeType,
      html: "<!doctype html><p>rain, shown</p>",
      meta: { prefersBorder: true, csp: { connectDomains: ["https://weather.example"] } },
    });
    for (const refused of [
      load("forecaster", "ui://weather/notes"),
      load("forecaster", "file:///etc/passwd"),
      load("talker", page.resourceUri),
      load("nobody", page.resourceUri),
      load("forecaster", page.resourceUri, shop),
    ])
      expect((await refused).status).toBe(404);
  });

  it("are no page where the server gives something else, and say nothing of it", async () => {
    const server = serverOf(await connect({ args: ["ui://weather/notes"] }));
    const uri = encodeURIComponent("ui://weather/notes");
    const refused = await ask(server, `GET /apps/forecaster?uri=${uri}`);
    expect(refused.status).toBe(404);
    expect(await refused.text()).not.toContain("not a page");
  });

  it("are taken where the author says so, and their tools are not the model's", async () => {
    const names = ({ tools }: McpConnection) => tools.map(({ name }) => name);
    expect(names(await connect())).toEqual(["weather/forecast", "weather/plain"]);
    const without = await connect({ apps: false });
    expect(names(without)).toContain("weather/refresh");
    expect(without.tools.map(({ page: own }) => own)).toEqual([undefined, undefined, undefined]);
  });

  it("are held by pins: another page is another tool", async () => {
    const folder = mkdtempSync(join(tmpdir(), "writ-apps-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const pins = join(folder, "pins.json");
    await connect({ pins, approve: "first-use" });
    const told: McpChange[] = [];
    const onChange = (change: McpChange): void => void told.push(change);
    const other = await connect({ pins, onChange, args: ["ui://weather/other"] });
    expect(other.tools.map(({ name }) => name)).toEqual(["weather/plain"]);
    expect(told).toMatchObject([
      { tool: "forecast", diff: [expect.stringContaining("ui://weather/other") as string] },
    ]);
  });
});
