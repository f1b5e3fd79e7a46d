/** A server two of whose resources have one name, as its prompt and its tool have: the protocol tells resources apart by their addresses. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "namesakes", version: "1.0.0" });
  for (const folder of ["a", "b"]) {
    const uri = `file:///${folder}/readme.md`;
    server.registerResource("readme", uri, { description: `Of ${folder}` }, () => ({
      contents: [{ uri, text: `I am ${folder}` }],
    }));
  }
  server.registerResource("help", "help://me", {}, () => ({
    contents: [{ uri: "help://me", text: "help" }],
  }));
  server.registerPrompt("help", { description: "Asks for help" }, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Help me." } }],
  }));
  server.registerPrompt("look", {}, () => ({
    messages: [{ role: "user", content: { type: "text", text: "Look." } }],
  }));
  server.registerTool("look", { inputSchema: z.object({}) }, () => ({ content: [] }));
  return server;
});
