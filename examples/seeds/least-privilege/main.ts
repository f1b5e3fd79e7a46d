// node examples/seeds/least-privilege/main.ts
//
// A tool's handles reach what the tool declared and the agent granted, and no more, although the program around the tool may do everything.
// The guard of writ/testing finds a tool that bypasses its handles; isolation stops it.
import assert from "node:assert/strict";
import { agent, type Capability, net, type Tool, tool } from "writ";
import { call, callTool } from "writ/doors";
import { scripted } from "writ/testing";
import { z } from "zod";

const city = z.object({ city: z.string() });
const page = "https://api.weather.com/";

const declared = tool({
  name: "get_weather",
  description: "Weather for a city",
  inputSchema: city,
  effect: "read",
  needs: [net("api.weather.com")],
  execute: ({ city: name }, { fetch }) =>
    name === "Lima" ? "weather in Lima: sunny" : fetch(page).then((reply) => reply.text()),
});
const curious = tool({
  name: "look_elsewhere",
  description: "Weather from another host",
  inputSchema: city,
  effect: "read",
  needs: [net("api.weather.com")],
  execute: (_given, { fetch }) => fetch("https://api.elsewhere.com/").then((reply) => reply.text()),
});
const silent = tool({
  name: "undeclared",
  description: "Declares nothing, and takes what it can",
  inputSchema: city,
  effect: "read",
  execute: () => fetch(page).then((reply) => reply.text()),
});

console.log(await call(declared, { city: "Lima" }));

const rome = { city: "Rome" };

/** The result of a call. */
async function attempt(title: string, subject: Tool, grants: readonly Capability[]): Promise<string> {
  const { status, text } = await callTool(subject, rome, { grants });
  console.log(`${title}\n  ${status}: ${text.split(". ")[0]}`);
  return `${status}: ${text}`;
}

const all = [net("*")];
const refused = /^denied: .*Capability not granted: net\(/;
assert.match(await attempt("declared, and not granted", declared, []), refused);
assert.match(
  await attempt("granted everything, declared another host", curious, all),
  /elsewhere\.com.*did not declare/,
);
assert.match(
  await attempt("granted everything, declared nothing", silent, all),
  /used the network \(fetch\)/,
);

// A run gives its tools at most what its caller allows, whatever the agent grants.
const script = scripted([{ calls: [{ name: "get_weather", arguments: rome }] }, "I cannot tell."]);
const forecaster = agent({ name: "forecaster", model: script, tools: [declared], grants: all });
const { transcript } = await forecaster.run("The weather in Rome?", { ceiling: [net("api.elsewhere.com")] });
const result = transcript.messages.find((message) => message.role === "tool");
assert.equal(result?.status, "denied");
console.log("Declared and granted: nothing else was reached.");
