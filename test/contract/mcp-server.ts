import { pathToFileURL } from "node:url";
import { type CallToolResult, type ListToolsResult, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** What happened at a server. */
export interface Seen {
  readonly calls: { name: string; arguments: unknown }[];
  /** How many calls the client took back. */
  cancelled: number;
}

const object = (
  properties: Record<string, { type: string }>,
  required: readonly string[] = Object.keys(properties),
) => ({
  type: "object" as const,
  properties,
  required: [...required],
});

const text = (words: string) => ({ type: "text" as const, text: words });

const readOnly = { readOnlyHint: true, destructiveHint: false };
const descriptions: ListToolsResult["tools"] = [
  {
    name: "echo",
    description: "Says it again",
    inputSchema: object({ text: { type: "string" } }),
    annotations: readOnly,
  },
  {
    name: "sum",
    description: "Adds",
    inputSchema: object({ a: { type: "integer" }, b: { type: "integer" } }),
    outputSchema: object({ sum: { type: "integer" } }),
  },
  { name: "silent", inputSchema: object({}) },
  { name: "picture", inputSchema: object({}) },
  { name: "fail", inputSchema: object({ words: { type: "string" } }, []) },
  { name: "hang", inputSchema: object({}) },
  { name: "progress", inputSchema: object({}) },
  { name: "files/read now", description: "x".repeat(5000), inputSchema: object({}) },
  { name: "files_list_now", inputSchema: object({}) },
  { name: "dropped", inputSchema: object({}) },
];

const replies: Readonly<Record<string, (args: Record<string, unknown>) => CallToolResult>> = {
  echo: ({ text: said }) => ({ content: [text(String(said)), text("(twice)")] }),
  sum: ({ a, b }) => ({
    content: [text("about right")],
    structuredContent: { sum: a === 0 ? "nothing" : Number(a) + Number(b) },
  }),
  silent: () => ({ content: [] }),
  picture: () => ({
    content: [
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a.txt", text: "the file" } },
      { type: "resource", resource: { uri: "file:///b.bin", mimeType: "application/zip", blob: "aGk=" } },
      { type: "resource_link", uri: "file:///c.txt", name: "c" },
    ],
  }),
  fail: ({ words }) => ({ content: words === undefined ? [] : [text(words as string)], isError: true }),
  "files/read now": () => ({ content: [text("with a slash")] }),
  files_list_now: () => ({ content: [text("without one")] }),
};

/** A server that was written by hand after the protocol, with its tools on pages of four. */
export function mcpServer(): { readonly server: Server; readonly seen: Seen } {
  const seen: Seen = { calls: [], cancelled: 0 };
  const server = new Server({ name: "stranger", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", ({ params }): ListToolsResult => {
    const from = Number(params?.cursor ?? 0);
    const next = from + 4;
    const page = { tools: descriptions.slice(from, next) };
    return next < descriptions.length ? { ...page, nextCursor: String(next) } : page;
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }): Promise<CallToolResult> => {
    const { name, arguments: args = {} } = params;
    seen.calls.push({ name, arguments: args });
    if (name === "hang") {
      await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
      seen.cancelled += 1;
    }
    if (name === "progress") {
      const progressToken = mcpReq._meta?.progressToken ?? "none";
      const told = { progressToken, progress: 1, total: 2, message: "halfway" };
      await mcpReq.notify({ method: "notifications/progress", params: told });
      return { content: [text("there")] };
    }
    const reply = replies[name];
    if (reply === undefined) throw new Error(`no tool ${name}`);
    return reply(args);
  });
  return { server, seen };
}

const isMain = pathToFileURL(process.argv[1] ?? "").href === import.meta.url;
if (isMain) await mcpServer().server.connect(new StdioServerTransport());
