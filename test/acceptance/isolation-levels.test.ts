import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool } from "../../src/doors.ts";
import { agent, fs, knowledge, memoryBank, skill, tool, type Tool } from "../../src/index.ts";
import { pipe } from "../../src/compose.ts";
import { codeTool, isolatedTool } from "../../src/adapters/isolate/isolate.ts";
import { toolCatalogue } from "../../src/tools.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { hasBoxes } from "../contract/isolate-context.ts";

// The guard of writ/testing is not imported here: nothing but the level itself may hold the tools.

let server: Server;
let site = "";
let asked = 0;
const folder = mkdtempSync(join(tmpdir(), "writ-levels-"));
const ledger = join(folder, "ledger");
const works = await hasBoxes();
const inputSchema = { type: "object" } as const;
const model = (): string => "done";

beforeAll(async () => {
  server = createServer((_request, response) => {
    asked += 1;
    response.end("from the net");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(ledger, "from the disk");
  process.env["WRIT_TEST_LEVELS"] = "from the environment";
});

afterAll(() => {
  server.close();
  delete process.env["WRIT_TEST_LEVELS"];
  rmSync(folder, { recursive: true, force: true });
});

/** Reaches for the world itself, whatever it declared. */
const around = async (): Promise<string[]> => [
  readFileSync(ledger, "utf8"),
  process.env["WRIT_TEST_LEVELS"] ?? "",
  await (await fetch(site)).text(),
];
const reached = ["from the disk", "from the environment", "from the net"];

/** The same in a module of its own, which tells what it reached. */
const module = `import { readFileSync } from "node:fs";
const tried = async (reach) => { try { return await reach(); } catch { return "nothing"; } };
export const execute = async ({ ledger, site }) => [
  await tried(() => readFileSync(ledger, "utf8")),
  await tried(() => process.env["WRIT_TEST_LEVELS"] ?? "nothing"),
  await tried(async () => (await fetch(site)).text()),
];
`;

async function isolated(): Promise<Tool> {
  mkdirSync(join(folder, "tool"), { recursive: true });
  writeFileSync(join(folder, "tool/around.mjs"), module);
  const about = { name: "around", description: "", inputSchema, needs: [fs.read(join(folder, "tool"))] };
  return isolatedTool({ ...about, module: join(folder, "tool/around.mjs") });
}

/** The value of a call that may read all of the folder; of one that failed, its words. */
async function called(given: Tool, args: JsonObject = {}): Promise<unknown> {
  const result = await callTool(given, args, { grants: [fs.read(folder)] });
  return result.status === "ok" ? result.value : result.text;
}

const levels = async (...tools: readonly Tool[]): Promise<unknown> =>
  (await agent({ name: "a", model, tools }).enforcement()).map(({ tool: name, level }) => `${name} ${level}`);

describe("a tool that goes around its handles", () => {
  it("with no needs is held by nothing: it reaches what it likes, and the agent says `none` [Y3.4]", async () => {
    const free = tool({ name: "free", description: "", inputSchema, execute: around });
    expect(await called(free)).toEqual(reached);
    expect(await levels(free)).toEqual(["free none"]);
    expect(agent({ name: "a", model, tools: [free] }).describe()).toContain(
      "  free (effect undeclared; none)",
    );
  });

  it("with needs is held through its handles alone, and the agent says `mediated` [Y3.1, Y3.4, Y7.1]", async () => {
    const needs = [fs.read(join(folder, "tool"))] as const;
    const about = { description: "", inputSchema, needs };
    const loose = tool({ ...about, name: "loose", execute: around });
    const honest = tool({
      ...about,
      name: "honest",
      execute: (_args, context) => context.fs.readText(ledger),
    });
    expect(await called(loose)).toEqual(reached);
    expect(await called(honest)).toContain("The tool did not declare it");
    expect(await levels(loose, honest)).toEqual(["loose mediated", "honest mediated"]);
  });

  it.skipIf(!works)(
    "as an isolated module reaches nothing, and the agent says `isolated` [Y3.2, Y7.2]",
    async () => {
      const held = await isolated();
      asked = 0;
      expect(await called(held, { ledger, site })).toEqual(["nothing", "nothing", "nothing"]);
      expect(asked).toBe(0);
      expect(await levels(held)).toEqual(["around isolated"]);
    },
  );

  it("as code in the interpreter reaches nothing, and the agent says `isolated` [Y3.2, Y3.4, Y7.2]", async () => {
    const run = await codeTool({ needs: [fs.read(join(folder, "tool"))] });
    const found = async (name: string): Promise<unknown> => called(run, { code: `typeof ${name}` });
    expect(await Promise.all(["fetch", "process", "require"].map(found))).toEqual(
      Array.from({ length: 3 }, () => "undefined"),
    );
    const imported = { code: 'return (await import("node:fs")).readFileSync(input, "utf8")', input: ledger };
    expect(await called(run, imported)).toContain("Tool 'run_code' failed");
    const asks = { code: "await readText(input)", input: ledger };
    expect(await called(run, asks)).toContain("The tool did not declare it");
    expect(await levels(run)).toEqual(["run_code isolated"]);
  });
});

describe("an agent that enforces isolation", () => {
  const enforce = "isolated";
  const free = tool({ name: "free", description: "", inputSchema, execute: () => 1 });
  const reads = tool({
    name: "reads",
    description: "",
    inputSchema,
    needs: [fs.read("/srv")],
    execute: () => 1,
  });

  it("refuses, when it is made, all that a model can start and that is not isolated, by name and level [Y3.3]", () => {
    const faq = knowledge({ name: "faq", description: "", load: () => "text" });
    const inner = agent({ name: "inner", model });
    const plain = skill({ name: "shout", description: "", execute: () => 1 });
    const all = skill({
      name: "all",
      description: "",
      tools: [free, reads, inner.asTool()],
      knowledge: [faq],
    });
    expect(() => agent({ name: "a", model, enforce, skills: [all, plain] })).toThrow(
      expect.objectContaining({
        code: "isolation-missing",
        data: {
          name: "a",
          tools: [
            '"free" (none: a function in this process)',
            '"reads" (mediated: a function in this process, with handles)',
            '"inner" (mediated: an agent or composition that does not enforce it)',
            '"faq" (none: a function in this process)',
            'skill "shout" (none: a function in this process)',
          ].join(", "),
        },
      }),
    );
    expect(() => agent({ name: "a", model, tools: [reads] }).with({ enforce })).toThrow('"reads" (mediated');
    expect(() => agent({ name: "a", model, enforce: "mediated" as never })).toThrow("`enforce` must be");
  });

  it("refuses what says itself that it is not isolated here, and what cannot say it [Y3.3]", () => {
    const unenforced = { level: "none", mechanism: "plain process", platform: "x", probes: [] } as const;
    const claims = (enforcement: Tool["enforcement"]): Tool => ({ ...free, enforcement });
    for (const each of [claims(() => unenforced), claims(() => expect.fail("unknown"))])
      expect(() => agent({ name: "a", model, enforce, tools: [each] })).toThrow('"free" (none: ');
  });

  it("takes what is isolated, tools of the runtime, and agents that enforce it; compositions have functions [Y3.3]", async () => {
    const run = await codeTool();
    const inner = agent({ name: "inner", model, enforce, tools: [toolCatalogue({ tools: [run] })] });
    const outer = agent({ name: "a", model, enforce, memory: memoryBank(), tools: [run, inner.asTool()] });
    expect(await outer("x")).toBe("done");
    expect(outer.describe()).toContain("enforce: isolated");
    const both = pipe(inner, inner);
    expect(() => outer.with({ tools: [both.asTool({ name: "both" })] })).toThrow(
      "composition that does not enforce it",
    );
  });
});
