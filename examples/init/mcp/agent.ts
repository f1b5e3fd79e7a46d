import { fileURLToPath } from "node:url";
import { agent } from "writ";
import { connectMcp } from "writ/mcp";
import { model } from "./model.ts";

/** Results of a server are a stranger's words: after them, what changes something asks a person first. */
export const notes = await connectMcp({
  name: "notes",
  command: process.execPath,
  args: [fileURLToPath(new URL("server.ts", import.meta.url))],
  tools: { search: { effect: "read" } }, // nothing is believed of a server: say what you know
});

export const librarian = agent({
  name: "librarian",
  instructions: "Answer from the notes.",
  model,
  tools: [notes.tool("search")],
  budget: { turns: 6 },
});
