/** A server with an MCP App: a tool, the page that shows what it did, and a tool for the page alone. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const mimeType = "text/html;profile=mcp-app";

serveStdio(() => {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  const [, , uri = "ui://weather/chart"] = process.argv;
  server.registerTool(
    "forecast",
    {
      description: "The weather",
      inputSchema: z.object({ town: z.string() }),
      _meta: { ui: { resourceUri: uri } },
    },
    ({ town }) => ({
      content: [{ type: "text", text: `Rain in ${town}` }],
      structuredContent: { town, mm: 7 },
    }),
  );
  server.registerTool(
    "refresh",
    { description: "For the page", inputSchema: z.object({}), _meta: { ui: { visibility: ["app"] } } },
    () => ({ content: [{ type: "text", text: "fresh" }] }),
  );
  server.registerTool("plain", { description: "No page", inputSchema: z.object({}) }, () => ({
    content: [{ type: "text", text: "plain" }],
  }));
  const knows = (): boolean => {
    const { extensions = {} } = server.server.getClientCapabilities() ?? {};
    return JSON.stringify(extensions["io.modelcontextprotocol/ui"] ?? {}).includes(mimeType);
  };
  server.registerResource("chart", "ui://weather/chart", { mimeType }, () => ({
    contents: [
      {
        uri: "ui://weather/chart",
        mimeType,
        text: `<!doctype html><p>rain, ${knows() ? "shown" : "not shown"}</p>`,
        _meta: { ui: { prefersBorder: true, csp: { connectDomains: ["https://weather.example"] } } },
      },
    ],
  }));
  server.registerResource("notes", "ui://weather/notes", { mimeType: "text/plain" }, () => ({
    contents: [{ uri: "ui://weather/notes", mimeType: "text/plain", text: "not a page" }],
  }));
  return server;
});
