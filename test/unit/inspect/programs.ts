/** A clerk who reads a stranger's mail, calls with wrong arguments and what is not listed, and wants to send a mail. */
export const clerkProgram = `
import { agent, tool } from "writ";
const schema = (names) => ({
  type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required: [...names],
});
const turns = [
  [["read_mail", { id: "m-1" }], ["find_order", { id: "17" }], ["find_order", { number: "17" }]],
  [["delete_all", {}], ["send_mail", { to: "eve@example.net", text: "Order 17 costs 30." }]],
];
const model = ({ messages }) => {
  const calls = turns[messages.filter(({ role }) => role === "assistant").length];
  if (calls !== undefined) return { calls: calls.map(([name, args]) => ({ name, arguments: args })) };
  return messages.flatMap((message) => (message.role === "tool" ? [message.name + " " + message.status] : [])).join(", ");
};
const read = (name, fields, execute) =>
  tool({ name, description: "", effect: "read", inputSchema: schema(fields), trusted: name === "find_order", execute });
export default agent({
  name: "clerk", instructions: "You are the clerk of a shop.", model,
  tools: [
    read("read_mail", ["id"], () => "From eve@example.net: what does it cost?"),
    read("find_order", ["id"], ({ id }) => ({ id, euro: 30 })),
    tool({ name: "send_mail", description: "", effect: "irreversible", inputSchema: schema(["to", "text"]), execute: ({ to }) => "sent to " + to }),
  ],
});
`;

/** An agent that makes a hundred calls in each of fifty turns. */
export const manyCalls = `
import { agent, tool } from "writ";
const look = tool({ name: "look", description: "", effect: "read", inputSchema: { type: "object", properties: { id: { type: "string" } } }, execute: ({ id }) => "seen " + id });
const model = ({ messages }) => {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return turn === 50 ? "Done." : { calls: Array.from({ length: 100 }, (_, at) => ({ name: "look", arguments: { id: turn + "-" + at } })) };
};
export default agent({ name: "many", model, tools: [look], budget: { turns: 60, toolCalls: 6000 } });
`;

/** A boss who has a clerk read for them: a run inside a call, in which a call is refused. */
export const bossProgram = `
import { agent, tool } from "writ";
const look = tool({ name: "look", description: "", effect: "read", inputSchema: { type: "object", properties: { id: { type: "string" } } }, execute: ({ id }) => "seen " + id });
const planned = (...turns) => ({ messages }) => {
  const calls = turns[messages.filter(({ role }) => role === "assistant").length];
  return calls === undefined ? "Done." : { calls: calls.map(([name, args]) => ({ name, arguments: args })) };
};
const clerk = agent({ name: "clerk", model: planned([["look", { id: "1" }], ["wipe", {}]]), tools: [look] });
export default agent({
  name: "boss",
  model: planned([["clerk", { input: "Read it" }], ["look", { id: "2" }]]),
  tools: [clerk.asTool({ description: "" }), look],
});
`;

/** Results with hidden characters, with many lines, and none. */
export const oddProgram = `
import { agent, tool } from "writ";
const read = (name, execute) => tool({ name, description: "", effect: "read", trusted: true, inputSchema: { type: "object", properties: { file: { type: "string" } } }, execute });
const turns = [[["hidden", { file: "\\u202Egpj.exe" }], ["lines", {}], ["broken", {}]], [["lines", {}]]];
const model = ({ messages }) => {
  const calls = turns[messages.filter(({ role }) => role === "assistant").length];
  return calls === undefined ? "Done." : { calls: calls.map(([name, args]) => ({ name, arguments: args })) };
};
export default agent({
  name: "odd", model,
  tools: [
    read("hidden", () => "told \\u{e0041}\\u{e0042}"),
    read("lines", () => Array.from({ length: 90 }, (_, at) => "line " + at).join("\\n")),
    read("broken", () => { throw new Error("it broke"); }),
  ],
});
`;

/** An agent whose policy says no, with hidden characters in its reason. */
export const shyProgram = `
import { agent, tool } from "writ";
const look = tool({ name: "look", description: "", inputSchema: { type: "object" }, execute: () => "seen" });
const model = ({ messages }) => (messages.some(({ role }) => role === "tool") ? "Done." : { calls: [{ name: "look" }] });
const policy = () => ({ verdict: "deny", rule: "shy\\u202Er", reason: "no \\u202Egpj.exe" });
export default agent({ name: "shy", model, tools: [look], policy });
`;

/** An agent that makes one call in each of 400 turns. */
export const longProgram = `
import { agent, tool } from "writ";
const look = tool({ name: "look", description: "", effect: "read", inputSchema: { type: "object", properties: { id: { type: "number" } } }, execute: ({ id }) => "seen " + id });
const model = ({ messages }) => {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return turn === 400 ? "Done." : { calls: [{ name: "look", arguments: { id: turn + 1 } }] };
};
export default agent({ name: "long", model, tools: [look], budget: { turns: 500, toolCalls: 500 } });
`;

/** An editor who has a writer inside write a mail: the question is about a call of the writer. */
export const editorProgram = `
import { agent, tool } from "writ";
const of = (names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });
const planned = (...turns) => ({ messages }) => {
  const calls = turns[messages.filter(({ role }) => role === "assistant").length];
  return calls === undefined ? "Done." : { calls: calls.map(([name, args]) => ({ name, arguments: args })) };
};
const read = tool({ name: "read_mail", description: "", effect: "read", inputSchema: of([]), execute: () => "words of a stranger" });
const send = tool({ name: "send_mail", description: "", effect: "irreversible", inputSchema: of(["to"]), execute: () => "sent" });
const writer = agent({ name: "writer", model: planned([["read_mail", {}]], [["send_mail", { to: "eve@example.net" }]]), tools: [read, send] });
export default agent({ name: "editor", model: planned([["writer", { input: "Write it" }]]), tools: [writer.asTool({ description: "" })] });
`;

/** An agent whose model breaks at its second turn. */
export const brokenProgram = `
import { agent, tool } from "writ";
const look = tool({ name: "look", description: "", effect: "read", inputSchema: { type: "object" }, execute: () => "seen" });
const model = ({ messages }) => {
  if (messages.some(({ role }) => role === "tool")) throw new Error("the provider has no more of it");
  return { calls: [{ name: "look", arguments: {} }, { name: "<b>look</b> at", arguments: {} }] };
};
export default agent({ name: "broken", model, tools: [look] });
`;

/** An agent that reads a long text, and calls with a long text before its other arguments; the end of the text is the question's. */
export const wordyProgram = `
import { agent, tool } from "writ";
const of = (names) => ({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });
const read = tool({ name: "read_mail", description: "", effect: "read", trusted: true, inputSchema: of(["id"]), execute: () => "a".repeat(30_000) + " answer to eve@example.net" });
const send = tool({ name: "send_mail", description: "", effect: "irreversible", inputSchema: of(["text", "to"]), execute: () => "sent" });
const model = ({ messages }) => {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  if (turn === 0) return { calls: [{ name: "read_mail", arguments: { id: "m-1" } }] };
  const asked = JSON.stringify(messages).includes("Be left") ? "left" : "here";
  return turn === 2 ? "Done." : { calls: [{ name: "send_mail", arguments: { text: "b".repeat(30_000) + asked, to: "eve@example.net" } }] };
};
export default agent({ name: "wordy", model, tools: [read, send] });
`;
