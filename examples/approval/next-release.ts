// The agent after a deploy: it has one more tool.
import { tool } from "writ";
import clerk, { tools } from "./agent.ts";

const fileInvoice = tool({
  name: "file_invoice",
  description: "Files an invoice that is settled",
  inputSchema: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
  effect: "write",
  execute: ({ number }) => `invoice ${JSON.stringify(number)} is filed`,
});

export default clerk.with({ tools: [...tools, fileInvoice] });
