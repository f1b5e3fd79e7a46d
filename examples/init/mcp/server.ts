// An MCP server (Model Context Protocol) in a process of its own. Replace it with any other server: agent.ts has the command that starts it.
import { agent, tool } from "writ";
import { serveMcpStdio } from "writ/server";
import { sqliteRuns } from "writ/sqlite";
import { z } from "zod";

const notes = ["Tea: steep it for four minutes.", "Eggs: boil them for six."];

const search = tool({
  name: "search",
  description: "Search the notes",
  inputSchema: z.object({ query: z.string() }),
  effect: "read",
  execute: ({ query }) => notes.filter((note) => note.toLowerCase().includes(query.toLowerCase())),
});

const keeper = agent({ name: "keeper", description: "Keeps the notes", model: () => "", tools: [search] });
await serveMcpStdio({ store: sqliteRuns(":memory:"), agents: [keeper], offer: { tools: ["search"] } });
