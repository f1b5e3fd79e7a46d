import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "writ-declarations-"));
const installed = join(folder, "node_modules");
mkdirSync(join(installed, "writ"), { recursive: true });
cpSync(join(root, "package.json"), join(installed, "writ/package.json"));
cpSync(join(root, "dist"), join(installed, "writ/dist"), {
  recursive: true,
  filter: (path) => !path.endsWith(".js"),
});
for (const name of ["zod", "@types", "@standard-schema"])
  symlinkSync(join(root, "node_modules", name), join(installed, name));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
afterAll(() => rmSync(folder, { recursive: true }));

/** What the compiler says of a library of one file that writes its declarations. */
async function complaints(
  name: string,
  { text, ...options }: { text: string; types?: readonly string[]; lib?: readonly string[] },
) {
  writeFileSync(join(folder, `${name}.ts`), text);
  const settings = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      target: "es2022",
      module: "nodenext",
      types: [],
      rootDir: ".",
      outDir: "out",
      declaration: true,
      emitDeclarationOnly: true,
      ...options,
    },
    files: [`${name}.ts`],
  };
  const path = join(folder, `tsconfig.${name}.json`);
  writeFileSync(path, JSON.stringify(settings));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [
    tsc,
    "-p",
    path,
    "--pretty",
    "false",
  ]).catch((error: unknown) => error as { stdout: string });
  return stdout;
}

describe("a library with declarations", () => {
  it("names the types of what it makes with the root alone", async () => {
    const text = `import { agent, inMemorySessions, session, tool } from "writ";
const about = { name: "a", model: () => "x" };
export const answerer = agent({ ...about, driver: "json" });
export const raw = tool({ name: "raw", description: "", inputSchema: { type: "object" }, execute: (args) => args["x"] });
export const once = { ...raw, constraints: { maxCalls: 1 } };
export const talk = session(inMemorySessions(), "talk");
const run = async () => answerer.run("x");
export const calls = async () => (await run()).calls;
export const questions = async () => (await run()).questions;
export const transcript = async () => (await run()).transcript;
export const manifest = async () => answerer.manifest();
`;
    await expect(complaints("root", { text })).resolves.toBe("");
  });

  it("names the types of each entry that it imports", async () => {
    const text = `import { agent, memoryJournal, type Agent, type Journal, type Approve } from "writ";
import { branch, forum, parallel, race } from "writ/compose";
import { callTool, type ToolCall } from "writ/doors";
import { jsonDriver, partialJson, reactDriver } from "writ/drivers";
import { modelNamed } from "writ/models";
import { runMatchers } from "writ/testing";
import { retriever, validateCall } from "writ/tools";
import { z } from "zod";
const plain = agent({ name: "a", model: () => "x" });
export const json = jsonDriver();
export const react = { ...reactDriver() };
export const partial = partialJson();
export const desk = branch({ on: (text: string) => text, cases: { a: plain }, otherwise: plain });
export const council = forum({ participants: [plain], captain: plain });
export const argumentsOf = (call: ToolCall) => call.arguments;
export const asked = (approve: Approve) => approve;
export const value = async () => (await callTool(retriever({ name: "r", description: "", retrieve: () => [] }), {})).value;
export const checked = async () => validateCall({ name: "d", description: "" }, {});
export const journal = { ...memoryJournal() };
export const given: Journal["ask"] = undefined;
export const ask = (asking: NonNullable<Journal["ask"]>) => (question: Parameters<typeof asking>[0]) => asking<string>(question);
export const model = { ...modelNamed("openai/gpt-5") };
export const matchers = runMatchers;
export const holding = <Schema extends z.ZodType>(agent: Agent, output: Schema) => agent.with({ output });
export const beside = <One extends Agent>(one: One) => parallel([one, one]);
export const first = <One extends Agent>(one: One) => race([one, one]);
`;
    await expect(complaints("entries", { text, types: ["node"] })).resolves.toBe("");
  });
  it("of a browser needs no types of Node for the client", async () => {
    const text = `import { runsClient } from "writ/client";
export const client = runsClient({ url: "https://example.com" });
export const runs = async () => client.list();
`;
    await expect(complaints("client", { text, lib: ["es2022", "dom"] })).resolves.toBe("");
  });
});
