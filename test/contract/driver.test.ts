import { driverNamed } from "../../src/driver/choose.ts";
import { literalOf } from "../../src/driver/pythonic-grammar.ts";
import {
  asChat,
  commandDriver,
  inWords,
  jsonDriver,
  pythonicDriver,
  reactDriver,
  textDriver,
  type TextReading,
} from "../../src/drivers.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { driverContract, type DriverSubject } from "./driver.ts";

const json = (value: unknown): string => JSON.stringify(value);

const action: DriverSubject = {
  make: () => jsonDriver(),
  call: (tool, args) => [json({ thought: "so", action: { tool, args } })],
  answer: (content) => json({ final: { content } }),
  objectAnswer: (content) => json({ final: { content } }),
  formats: ["schema", "grammar"],
};
const inline: DriverSubject = {
  make: () => jsonDriver({ dialect: "inline" }),
  call: (tool, args) => [json({ tool, arguments: args })],
  answer: (text) => text,
  objectAnswer: json,
  formats: ["schema", "grammar"],
};
const tagged = (name: string, args: JsonObject): string =>
  `<tool_call>\n${json({ name, arguments: args })}\n</tool_call>`;
const hermes: DriverSubject = {
  make: () => jsonDriver({ dialect: "hermes" }),
  call: (name, args) => [tagged(name, args)],
  answer: (text) => text,
  objectAnswer: json,
  formats: ["grammar"],
  several: (...calls) => calls.map((call) => tagged(...call)).join("\n"),
};
const python = (name: string, args: JsonObject): string =>
  `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}=${literalOf(value)}`)
    .join(", ")})`;
const pythonic: DriverSubject = {
  make: () => pythonicDriver(),
  call: (name, args) => [`[${python(name, args)}]`],
  answer: (text) => text,
  objectAnswer: json,
  formats: ["grammar"],
  several: (...calls) => `[${calls.map((call) => python(...call)).join(", ")}]`,
};
const line = (name: string, args: JsonObject): string => `@tool ${name} ${json(args)}`;
const command: DriverSubject = {
  make: () => commandDriver(),
  call: (name, args) => [line(name, args)],
  answer: (text) => text,
  objectAnswer: json,
  formats: ["grammar"],
  several: (...calls) => calls.map((call) => line(...call)).join("\n"),
};
const react: DriverSubject = {
  make: () => reactDriver(),
  call: (tool, args) => [json({ thought: "so", type: "call_tool", tool, args })],
  answer: (answer) => json({ thought: "so", type: "final_answer", answer }),
  objectAnswer: (answer) => json({ thought: "so", type: "final_answer", answer }),
  formats: ["schema", "grammar"],
};

/** A protocol of an author's own, made of what the package exports. */
const shouted = (tool: string, args: JsonObject): string => `CALL ${tool} ${json(args)}`;
const readShout = (text: string): TextReading => {
  const [, name, args = ""] = /^CALL (\S+) (\{.*\})$/s.exec(text) ?? [];
  if (name === undefined)
    return text.startsWith("CALL")
      ? { type: "violation", reason: "a call is CALL <name> <JSON>" }
      : { type: "final", content: text, plain: true };
  try {
    return { type: "calls", calls: [{ name, arguments: JSON.parse(args) as JsonObject }] };
  } catch {
    return { type: "violation", reason: "the arguments are not JSON" };
  }
};
const own: DriverSubject = {
  make: () =>
    textDriver({
      name: "shout",
      conversation: asChat(
        ({ allowed }) =>
          [
            "To call a tool, write CALL <name> <JSON>. Else answer.",
            ...[...allowed.tools.values()].map(
              ({ name, description, input }) => `${name} ${json(input.jsonSchema)} ${description}`,
            ),
          ].join("\n"),
        inWords({
          calls: (calls) => calls.map((call) => shouted(call.name, call.arguments as JsonObject)).join("\n"),
          result: ({ name, status, text }) => `${name} ${status === "ok" ? "gave" : "failed"} ${text}`,
        }),
      ),
      read: readShout,
      feedback: (reason) => `Not accepted: ${reason}. Write CALL <name> <JSON>, or answer.`,
    }),
  call: (tool, args) => [shouted(tool, args)],
  answer: (text) => text,
  objectAnswer: json,
  formats: [],
};

driverContract("native", {
  make: () => driverNamed("native"),
  call: (name, args) => [{ calls: [{ name: name.replaceAll(".", "_"), arguments: args }] }],
  answer: (text) => text,
  objectAnswer: json,
  formats: [],
  several: (...calls) => ({
    calls: calls.map(([name, args]) => ({ name: name.replaceAll(".", "_"), arguments: args })),
  }),
  native: true,
});
driverContract("json", action);
driverContract("json, lenient", { ...action, make: () => jsonDriver({ mode: "lenient" }) });
driverContract("inline", inline);
driverContract("inline, lenient", {
  ...inline,
  make: () => jsonDriver({ dialect: "inline", mode: "lenient" }),
});
driverContract("hermes", hermes);
driverContract("hermes, lenient", {
  ...hermes,
  make: () => jsonDriver({ dialect: "hermes", mode: "lenient" }),
});
driverContract("react", react);
driverContract("command", command);
driverContract("command, prose kept", { ...command, make: () => commandDriver({ prose: "keep" }) });
driverContract("pythonic", pythonic);
driverContract("pythonic, lenient", { ...pythonic, make: () => pythonicDriver({ mode: "lenient" }) });
driverContract("a protocol of an author's own", own);
driverContract("select", {
  make: () => driverNamed("select"),
  call: (tool, args) => (tool === "rm" ? [json({ tool })] : [json({ tool }), json(args)]),
  forcedCall: json,
  answer: (answer) => json({ answer }),
  objectAnswer: (answer) => json({ answer }),
  formats: ["schema", "grammar"],
});
driverContract("lines", {
  make: () => driverNamed("lines"),
  call: (name, args) => [`Step: ${name} ${json(args)} =`],
  answer: (text) => `Answer: ${text}`,
  objectAnswer: (value) => `Answer: ${json(value)}`,
  formats: ["grammar"],
});
