// Research with a server of the Model Context Protocol and agents inside an agent. Whatever the library says is a stranger's word: it never chooses to whom
// a mail goes.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agent, guarded, tool } from "writ";
import { connectMcp } from "writ/mcp";
import { z } from "zod";
import { leadModel, readerModel } from "./model.ts";

/** The files of a folder, through the official server, a program beside this one that speaks over its standard input and output. */
export const library = await connectMcp({
  name: "library",
  command: process.execPath,
  args: [
    fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js")),
    join(import.meta.dirname, "library"),
  ],
  only: ["read_text_file"], // its other tools, those that write among them, are not looked at
  tools: { read_text_file: { effect: "read" } }, // nothing is believed of a server: say what you know
});

/** Reads, and can do nothing else. */
const reader = agent({
  name: "reader",
  description: "Reads one file of the library, and answers a question about it",
  instructions: `Read the file that is named; the library is at ${join(import.meta.dirname, "library")}. Answer in one sentence.`,
  model: readerModel,
  tools: [library.tool("read_text_file")],
  budget: { turns: 4 },
});

/** The mails that were sent: a mail service in a real program. */
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
  policy: guarded(), // what reaches outside needs the user's own words, or a person
  budget: { turns: 6, toolCalls: 20 },
});
