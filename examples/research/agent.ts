// Research with an MCP server (Model Context Protocol) and an agent inside another one. Text of the library is untrusted: it never chooses who gets a mail.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agent, guarded, tool } from "writ";
import { connectMcp } from "writ/mcp";
import { z } from "zod";
import { leadModel, readerModel } from "./model.ts";

/** The files of a folder, through the official MCP server: a separate program that speaks over its standard input and output. */
export const library = await connectMcp({
  name: "library",
  command: process.execPath,
  args: [
    fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js")),
    join(import.meta.dirname, "library"),
  ],
  only: ["read_text_file"], // leaves out its other tools, some of which write
  tools: { read_text_file: { effect: "read" } }, // declare the effect yourself: writ does not believe the server's own words
});

/** The agent that can only read. */
const reader = agent({
  name: "reader",
  description: "Reads one file of the library, and answers a question about it",
  instructions: `Read the file that is named; the library is at ${join(import.meta.dirname, "library")}. Answer in one sentence.`,
  model: readerModel,
  tools: [library.tool("read_text_file")],
  budget: { turns: 4 },
});

/** The mails that were sent. A real program has a mail service in place of this list. */
export const sent: { readonly to: string; readonly text: string }[] = [];

const sendMail = tool({
  name: "send_mail",
  description: "Send a mail",
  inputSchema: z.object({ to: z.email(), text: z.string() }),
  effect: "irreversible",
  parameters: { to: { role: "target", type: "email" }, text: "content" },
  execute({ to, text }) {
    sent.push({ to, text });
    return "sent";
  },
});

export default agent({
  name: "researcher",
  instructions:
    "Have the reader read what the question is about, several files at once, and mail what was found where the user asks for it.",
  model: leadModel,
  tools: [reader.asTool({ effect: "read" }), sendMail],
  policy: guarded(), // a mail needs an address that the user wrote, or a person's yes
  budget: { turns: 6, toolCalls: 20 },
});
