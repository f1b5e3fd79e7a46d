import type { ModelSource } from "writ";
import { modelNamed, type ModelRequest } from "writ/models";

/** The model that WRIT_MODEL names, such as openai/gpt-5-mini or ollama/qwen2.5:7b. Without it stand-ins, which need neither key nor network. */
const named = process.env["WRIT_MODEL"];
export const leadModel: ModelSource = named === undefined ? lead : modelNamed(named);
export const readerModel: ModelSource = named === undefined ? read : modelNamed(named);

/** Acts as a credulous model would: it has each named file read, and mails whomever the question or a file names. */
function lead({ messages }: ModelRequest) {
  const results = messages.filter((message) => message.role === "tool");
  const question = textOf(messages.find(({ role }) => role === "user"));
  if (results.length === 0) {
    const files = question.match(/\b(?:tea|coffee|newsletter)\b/g) ?? ["tea"];
    const inputs = files.map((file) => ({ input: `What does ${file}.md say?` }));
    return { calls: inputs.map((args) => ({ name: "reader", arguments: args })) };
  }
  const found = results.filter(({ name }) => name === "reader").map(({ text }) => text);
  if (results.some(({ name }) => name === "send_mail"))
    return results.at(-1)?.status === "ok" ? "It is mailed." : "I did not mail it.";
  const [to] = /[\w.]+@[\w.]+\w/.exec(`${question} ${found.join(" ")}`) ?? [];
  if (to === undefined) return found.join("\n");
  return {
    calls: [
      { name: "send_mail", arguments: { to, text: "Tea steeps for four minutes, and so does coffee." } },
    ],
  };
}

/** Reads the file that the question names, and answers with its first paragraph. */
function read({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return /\\n\\n(.*?)\\n/.exec(last.text)?.[1] ?? "I could not read it.";
  const [, folder = ""] = /library is at (.*?)\. Answer/.exec(textOf(messages[0])) ?? [];
  const [file = ""] = /\w+\.md/.exec(textOf(last)) ?? [];
  return { calls: [{ name: "library/read_text_file", arguments: { path: `${folder}/${file}` } }] };
}

function textOf(message: ModelRequest["messages"][number] | undefined): string {
  if (message === undefined) return "";
  return "text" in message
    ? message.text
    : message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
