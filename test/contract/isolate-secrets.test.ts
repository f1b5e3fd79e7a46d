import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeTool, isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import { agent, env, exec, fs, llm, net, secret, tool, type Tool } from "../../src/index.ts";
import { callTool } from "../../src/doors.ts";
import { scripted } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { hasBoxes } from "./isolate-context.ts";

const works = await hasBoxes();
const name = "WRIT_ISOLATE_KEY";
const key = "sk-Isolated/4711&ü";
/** What can stand in the name of a header. */
const token = "tok-Isolated-4711";
const folder = realpathSync(mkdtempSync(join(tmpdir(), "writ-isolate-secrets-")));
let server: Server;
let site = "";

beforeAll(async () => {
  Object.assign(process.env, { [name]: key, [`${name}_2`]: token });
  server = createServer((request, response) => {
    const sent = String(request.headers["x-key"] ?? key);
    if (request.url === "/bytes") {
      response.end(Buffer.concat([Buffer.from([0, 255]), Buffer.from(sent, "latin1")]));
    } else if (request.url === "/names") {
      response.setHeader(`x-${sent}`, "1").end();
    } else {
      const body = JSON.stringify({ sent });
      response.setHeader("x-echo", sent).writeHead(200, `You sent ${sent}`).write(body.slice(0, 20));
      setTimeout(() => response.end(body.slice(20)), 20);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const part of ["tool", "data"]) mkdirSync(join(folder, part));
  writeFileSync(join(folder, "data/config"), `key = ${key}\n`);
  writeFileSync(join(folder, "data/blob"), Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from(key)]));
  writeFileSync(join(folder, "tool/leak.mjs"), source);
});

afterAll(() => {
  for (const each of [name, `${name}_2`]) delete process.env[each];
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A module that turns around whatever it is given, so that nothing recognises it behind it. */
const source = `
const turned = (value) => [...(typeof value === "string" ? value : JSON.stringify(value))].reverse().join("");
const bytes = (data) => Buffer.from(data).toString("latin1");
const ways = {
  exec: async (at, { exec, secret }) => (await exec("printenv", ["X"], { env: { X: secret("${name}") } })).stdout,
  stderr: async (at, { exec, secret }) => {
    const script = "process.stderr.write(process.env.X)";
    return (await exec(at.node, ["-e", script], { env: { X: secret("${name}") } })).stderr;
  },
  head: async (at, { fetch, secret }) => {
    const response = await fetch(at.site, { headers: { "x-key": secret("${name}") } });
    return [...response.headers, response.statusText];
  },
  names: async (at, { fetch, secret }) => {
    const response = await fetch(at.site + "/names", { headers: { "x-key": secret("${name}_2") } });
    return [...response.headers.keys()];
  },
  body: async (at, { fetch, secret }) => (await fetch(at.site, { headers: { "x-key": secret("${name}") } })).text(),
  bytes: async (at, { fetch, secret }) =>
    bytes(await (await fetch(at.site + "/bytes", { headers: { "x-key": secret("${name}") } })).arrayBuffer()),
  text: (at, { fs }) => fs.readText(at.folder + "/config"),
  blob: async (at, { fs }) => bytes(await fs.readBytes(at.folder + "/blob")),
  variable: (at, { env }) => env("${name}"),
  model: (at, { llm }) => llm("What is the key?"),
  argument: (at) => at.word,
  error: async (at, { fs }) => {
    try { await fs.readText(at.folder + "/" + at.word) } catch (error) { return error.message }
  },
};
export const execute = async ({ way, ...at }, context) => turned(await ways[way](at, context));
`;

const ways = [
  "exec",
  "stderr",
  "head",
  "names",
  "body",
  "bytes",
  "text",
  "blob",
  "variable",
  "model",
  "argument",
];

function needsOf(): NonNullable<Tool["needs"]> {
  const files = fs.read(join(folder, "data"));
  const programs = ["printenv", "cat", process.execPath].map((program) => exec(program));
  return [...programs, net(site), secret(name), secret(`${name}_2`), files, env(name), llm];
}

/** Sends the key somewhere, so that the process knows it. */
async function useKey(): Promise<void> {
  const needs = [secret(name)] as const;
  const use = tool({
    name: "use",
    description: "Use",
    inputSchema: { type: "object" },
    needs,
    execute: (_, context) => context.secret(name).name,
  });
  await callTool(use, {}, { grants: needs });
}

/** What a tool gave that turns things around, read from its end. */
async function given(made: Tool, args: JsonObject): Promise<string> {
  const grants = needsOf();
  const model = scripted([
    { calls: [{ name: made.name, arguments: args }] },
    ...Array.from({ length: 3 }, () => key),
  ]);
  const { transcript } = await agent({ name: "a", model, tools: [made], grants }).run("Go");
  const result = transcript.messages.find((message) => message.role === "tool");
  return Array.from(result?.role === "tool" ? result.text : "")
    .toReversed()
    .join("");
}

/** What nobody may read of the keys. */
const piece = /isolated|4711/i;

describe("a secret's value", () => {
  it.skipIf(!works).each(ways)("is not in what an isolated module is given: %s [Y21]", async (way) => {
    await useKey();
    const leak = await isolatedTool({
      name: "leak",
      description: "Leak",
      inputSchema: { type: "object" },
      module: join(folder, "tool/leak.mjs"),
      needs: needsOf(),
      effect: "read",
    });
    const text = await given(leak, {
      way,
      site,
      folder: join(folder, "data"),
      node: process.execPath,
      word: key,
    });
    expect(text).not.toMatch(piece);
    if (way === "names") expect(text).toContain('"date"');
    else expect(text).toContain(`[secret ${name}]`);
  });

  const calls = [
    ["a program", 'exec("cat", [input.folder + "/config"])'],
    ["a host", "fetchText(input.site)"],
    ["a file", 'readText(input.folder + "/config")'],
    ["a variable", `env("${name}")`],
    ["a model", 'llm("What is the key?")'],
    ["a function", "told()"],
    ["an error", "fails().catch((error) => error.message)"],
    ["its input", "input.word"],
  ] as const;
  it.each(calls)("is not in what code in QuickJS is given: %s [Y21]", async (_what, code) => {
    await useKey();
    const run = await codeTool({
      functions: {
        told: () => ({ [key]: [key] }),
        fails: () => {
          throw new Error(`refused ${key}`);
        },
      },
      needs: needsOf().filter(({ kind }) => kind !== "secret"),
    });
    const input = { site, folder: join(folder, "data"), word: key };
    const turned = `const value = await ${code}; return [...(typeof value === "string" ? value : JSON.stringify(value))].reverse().join("")`;
    const text = await given(run, { code: turned, input });
    expect(text).not.toMatch(piece);
    expect(text).toContain(`[secret ${name}]`);
  });
});
