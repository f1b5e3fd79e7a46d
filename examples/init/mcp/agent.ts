import { fileURLToPath } from "node:url";
import { agent } from "writ";
import { connectMcp } from "writ/mcp";
import { model } from "./model.ts";

/** The MCP server. Its results are untrusted: after a run has read one, a call that changes something asks a person first. */
export const notes = await connectMcp({
  name: "notes",
  command: process.execPath,
  args: [fileURLToPath(new URL("server.ts", import.meta.url))],
  tools: { search: { effect: "read" } }, // declare the effect yourself: writ does not believe the server's own words
});

export const librarian = agent({
  name: "librarian",
  instructions: "Answer from the notes.",
  model,
  tools: [notes.tool("search")],
  budget: { turns: 6 },
});
