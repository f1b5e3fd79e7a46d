// An agent that may not send mail without approval. Its model is a function, so the example needs neither a model nor a network.
import { appendFileSync } from "node:fs";
import { agent, type Policy, tool } from "writ";
import type { ModelRequest } from "writ/models";

/** The file of sent mails, one line each. WRIT_MAILS names it. */
const mails = process.env["WRIT_MAILS"] ?? "mails.txt";

const readInvoice = tool({
  name: "read_invoice",
  description: "Reads an invoice",
  inputSchema: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
  effect: "read",
  execute: ({ number }) => ({ number, to: "ada@example.com", amount: 120 }),
});

const sendMail = tool({
  name: "send_mail",
  description: "Sends a mail",
  inputSchema: {
    type: "object",
    properties: { to: { type: "string" }, text: { type: "string" } },
    required: ["to", "text"],
  },
  effect: "irreversible",
  execute({ to, text }) {
    appendFileSync(mails, `${JSON.stringify({ to, text })}\n`);
    return "sent";
  },
});

const policy: Policy = ({ tool: name }) =>
  name === "send_mail"
    ? { verdict: "ask", rule: "mail", reason: "a mail cannot be taken back" }
    : { verdict: "allow", rule: "free", reason: "" };

/** Reads the invoice, sends the mail, answers. It decides by the conversation alone, so any process can continue the run. */
function model({ messages }: ModelRequest) {
  const results = messages.filter((message) => message.role === "tool");
  if (results.length === 0) return { calls: [{ name: "read_invoice", arguments: { number: "17" } }] };
  if (results.length === 1)
    return {
      calls: [{ name: "send_mail", arguments: { to: "ada@example.com", text: "Invoice 17: 120 are due." } }],
    };
  return results.at(-1)?.status === "ok" ? "Ada was reminded." : "Nobody was reminded.";
}

export const tools = [readInvoice, sendMail];

/** Only Kim may approve a mail, within two days; after that the answer is no. */
export default agent({ name: "clerk", model, tools, policy, approvals: { within: "2d", by: ["kim"] } });
