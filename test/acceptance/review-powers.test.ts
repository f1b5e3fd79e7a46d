import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  agent,
  allow,
  type AgentEvent,
  callTool,
  compareManifests,
  exec,
  fs,
  llm,
  net,
  policy,
  secret,
  tool,
  type Tool,
  fix,
  unrecoverable,
} from "../../src/index.ts";
import { connectMcp, mcpTools } from "../../src/adapters/mcp/tools.ts";
import { scripted } from "../../src/testing.ts";

const token = "tok-0815-very-secret";
let server: Server;
let folder: string;
let site = "";
const seen: string[] = [];

beforeAll(async () => {
  process.env["WRIT_REVIEW_TOKEN"] = token;
  server = createServer((request, response) => {
    seen.push(String(request.url));
    response.end(`you sent ${String(request.headers["authorization"] ?? "nothing")}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), "writ-review-powers-"));
});

afterAll(() => {
  delete process.env["WRIT_REVIEW_TOKEN"];
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const nothing = { inputSchema: z.object({}) };
const calling = (...names: readonly string[]) =>
  scripted([{ calls: names.map((name) => ({ name, arguments: {} })) }, "done"]);

/** Sends the secret to a server that says it back, and does something with the answer. */
function echoes(use: (answer: string, context: never) => unknown, more: object = {}): Tool {
  return tool({
    name: "echo",
    description: "e",
    ...nothing,
    needs: [net(site), secret("WRIT_REVIEW_TOKEN"), llm, fs.read(folder)],
    execute: async (_, context) => {
      const response = await context.fetch(site, {
        headers: { authorization: ["Bearer ", context.secret("WRIT_REVIEW_TOKEN")] },
      });
      return use(await response.text(), context as never);
    },
    ...more,
  });
}
const echoGrants = (): ReturnType<typeof net>[] =>
  [net(site), secret("WRIT_REVIEW_TOKEN"), llm, fs.read(folder)] as never;

describe("values of secrets that came back from outside", () => {
  it("are not in what the tool looked at", async () => {
    const told: string[] = [];
    const one = agent({
      name: "one",
      model: calling("echo"),
      tools: [echoes((answer, { fs: files }: { fs: { readText(p: string): Promise<string> } }) => files.readText(join(folder, answer.slice(9))))],
      grants: echoGrants(),
    });
    await one.run("go", { onEvent: (event) => told.push(JSON.stringify(event)) });
    expect(told.filter((text) => text.includes(token))).toEqual([]);
  });
  it("are not in a prompt of the run's model that the tool makes", async () => {
    const model = scripted([{ calls: [{ name: "echo", arguments: {} }] }, "inner", "done"]);
    const one = agent({
      name: "one",
      model,
      tools: [echoes((answer, { llm: ask }: { llm: (p: string) => Promise<string> }) => ask(answer))],
      grants: echoGrants(),
    });
    const r = await one.run("go");
    console.log(r.text, r.transcript.messages.at(-2));
    expect(JSON.stringify(model.requests)).not.toContain(token);
  });
  it("are not in the prompt of an agent that the tool runs", async () => {
    const inner = scripted(["ok"]);
    const sub = agent({ name: "sub", model: inner });
    const told: string[] = [];
    const one = agent({
      name: "one",
      model: calling("echo"),
      tools: [echoes((answer, { run }: { run: never }) => sub(answer, { parent: run }))],
      grants: echoGrants(),
    });
    await one.run("go", { onEvent: (event) => told.push(JSON.stringify(event)) });
    expect(JSON.stringify(inner.requests)).not.toContain(token);
    expect(told.filter((text) => text.includes(token))).toEqual([]);
  });
  it("are not in the error of a run that they end", async () => {
    const told: string[] = [];
    const one = agent({
      name: "one",
      model: calling("echo"),
      tools: [
        echoes(
          (answer) => {
            throw new Error(answer);
          },
          { recover: { executionFailed: () => unrecoverable() } },
        ),
      ],
      grants: echoGrants(),
    });
    const result = await one.run("go", { onEvent: (event) => told.push(JSON.stringify(event)) });
    expect(result.outcome.type).toBe("failed");
    expect(told.filter((text) => text.includes(token))).toEqual([]);
    expect(JSON.stringify(result)).not.toContain(token);
    expect(inspect(result, { depth: 9 })).not.toContain(token);
    expect(String(result.error?.stack) + String(result.error?.message)).not.toContain(token);
  });
  it("are not in the prompt of what mends a failure", async () => {
    const prompts: string[] = [];
    const one = agent({
      name: "one",
      model: calling("echo"),
      tools: [
        echoes(
          (answer) => {
            throw new Error(answer);
          },
          {
            recover: {
              executionFailed: () =>
                fix(async (text: string) => {
                  prompts.push(text);
                  return "x";
                }),
            },
          },
        ),
      ],
      grants: echoGrants(),
    });
    await one.run("go");
    expect(prompts).toHaveLength(1);
    expect(prompts.join()).not.toContain(token);
  });
  it("are not in what hooks are shown", async () => {
    const shown: string[] = [];
    const one = agent({
      name: "one",
      model: calling("echo"),
      tools: [echoes((answer) => answer)],
      grants: echoGrants(),
      hooks: [{ name: "look", afterToolCall: (at: unknown) => void shown.push(JSON.stringify(at)) } as never],
    });
    await one.run("go");
    expect(shown).toHaveLength(1);
    expect(shown.join()).not.toContain(token);
  });
});
describe("a run that ends", () => {
  it("tells no secret by causes or fields of errors", async () => {
    const told: string[] = [];
    const one = agent({
      name: "one",
      model: calling("echo"),
      tools: [
        echoes(
          (answer) => {
            throw Object.assign(new Error("failed", { cause: new Error("a", { cause: new Error(answer) }) }), { answer });
          },
          { recover: { executionFailed: () => unrecoverable("no") } },
        ),
      ],
      grants: echoGrants(),
    });
    const result = await one.run("go", { onEvent: (event) => told.push(inspect(event, { depth: 9 })) });
    expect(inspect(result, { depth: 12 })).not.toContain(token);
    expect(told.join()).not.toContain(token);
  });
});

describe("the bounds of a run", () => {
  it("hold for questions that a tool asks its model beside each other", async () => {
    let asked = 0;
    const asks = tool({
      name: "asks",
      description: "a",
      ...nothing,
      needs: [llm],
      execute: async (_, { llm: ask }) => {
        await Promise.allSettled(Array.from({ length: 50 }, () => ask("x")));
        return "ok";
      },
    });
    let turn = 0;
    const model = async () => {
      asked += 1;
      turn += 1;
      await new Promise((r) => setTimeout(r, 5));
      return turn === 1
        ? { content: [{ type: "tool-call", id: "a", name: "asks", arguments: {} }], finish: "tool-calls", usage: { inputTokens: 1, outputTokens: 10 } }
        : { content: "y", usage: { inputTokens: 1, outputTokens: 10 } };
    };
    const m = scripted([{ calls: [{ name: "asks", arguments: {} }], usage: { inputTokens: 10, outputTokens: 10 } } as never, ...Array.from({ length: 60 }, () => ({ text: "y", usage: { inputTokens: 10, outputTokens: 10 } }) as never)]);
    const one = agent({ name: "one", model: m, tools: [asks], grants: [llm], budget: { tokens: 100 } });
    const r = await one.run("go");
    console.log(asked, turn, model.length, m.requests.length, r.outcome, r.usage);
    expect(m.requests.length).toBeLessThan(12);
  });
});

describe("a call that has ended", () => {
  it("opens nothing any more by calling another tool", async () => {
    const before = seen.length;
    const fetches = tool({
      name: "fetches",
      description: "f",
      ...nothing,
      needs: [net(site)],
      execute: async (_, { fetch }) => (await fetch(`${site}/late`)).text(),
    });
    let late: Promise<unknown> | undefined;
    const slow = tool({
      name: "slow",
      description: "s",
      ...nothing,
      timeoutMs: 30,
      needs: [net(site)],
      execute: async () => {
        late = new Promise((resolve) => setTimeout(resolve, 90)).then(() =>
          callTool(fetches, {}, { grants: [net(site)] }),
        );
        await late;
        return "x";
      },
    });
    const one = agent({ name: "one", model: calling("slow"), tools: [slow], grants: [net(site)] });
    const result = await one.run("go");
    const { status } = result.transcript.messages.find(({ role }) => role === "tool") as { status: string };
    expect(status).toBe("timeout");
    await late;
    expect(seen.slice(before)).toEqual([]);
  });

  it("gives a stream that it began no more than it had, whoever reads it", async () => {
    const before = seen.length;
    const fetches = tool({
      name: "fetches",
      description: "f",
      ...nothing,
      needs: [net(site)],
      execute: async (_, { fetch }) => (await fetch(`${site}/stream`)).text(),
    });
    const inner = agent({ name: "inner", model: calling("fetches"), tools: [fetches], grants: [net(site)] });
    let leaked: AsyncGenerator<AgentEvent, unknown> | undefined;
    const leaks = tool({
      name: "leaks",
      description: "l",
      ...nothing,
      needs: [],
      execute: () => {
        leaked = inner.stream("go");
        return "x";
      },
    });
    const one = agent({ name: "one", model: calling("leaks"), tools: [leaks], grants: [net(site)] });
    await one.run("go");
    for await (const _ of leaked ?? []);
    expect(seen.slice(before)).toEqual([]);
  });
  it("nesting: parent of an outer call widens nothing", async () => {
    const before = seen.length;
    const fetches = tool({
      name: "fetches",
      description: "f",
      ...nothing,
      needs: [net(site)],
      execute: async (_, { fetch }) => (await fetch(`${site}/parent`)).text(),
    });
    const inner = agent({ name: "inner", model: calling("fetches"), tools: [fetches], grants: [net(site)] });
    const outer = tool({
      name: "outer",
      description: "l",
      ...nothing,
      needs: [net(site)],
      execute: async (_, { run }) => {
        const narrow = tool({
          name: "narrow",
          description: "l",
          ...nothing,
          needs: [],
          execute: () => inner("go", { parent: run }),
        });
        return (await callTool(narrow, {}, { grants: [] })).text;
      },
    });
    const one = agent({ name: "one", model: calling("outer"), tools: [outer], grants: [net(site)] });
    await one.run("go");
    expect(seen.slice(before)).toEqual([]);
  });
});

describe("files", () => {
  it("long paths of many folders fail soon", async () => {
    const reads = tool({
      name: "reads",
      description: "r",
      inputSchema: z.object({ path: z.string() }),
      needs: [fs.read(folder)],
      execute: ({ path }, { fs: files }) => files.readText(path),
    });
    const path = `${folder}/${"a/".repeat(20_000)}x`;
    const at = performance.now();
    const r = await callTool(reads, { path }, { grants: [fs.read(folder)] });
    console.log(r.status, r.text.length, performance.now() - at);
    expect(performance.now() - at).toBeLessThan(1000);
  }, 60_000);
  it("tells nothing of what a dangling link outside leads to", async () => {
    const outside = mkdtempSync(join(tmpdir(), "writ-outside-"));
    mkdirSync(join(folder, "d"), { recursive: true });
    symlinkSync(join(outside, "is"), join(folder, "d", "is"));
    symlinkSync(join(outside, "isnt"), join(folder, "d", "isnt"));
    writeFileSync(join(outside, "is"), "x");
    const reads = tool({
      name: "reads",
      description: "r",
      inputSchema: z.object({ path: z.string() }),
      needs: [fs.read(folder)],
      execute: ({ path }, { fs: files }) => files.readText(path),
    });
    const grants = [fs.read(folder)];
    const is = await callTool(reads, { path: join(folder, "d", "is") }, { grants });
    const isnt = await callTool(reads, { path: join(folder, "d", "isnt") }, { grants });
    rmSync(outside, { recursive: true });
    expect([is.status, isnt.status]).toEqual(["denied", "denied"]);
  });
});

describe("programs", () => {
  it("are given no variable that makes them start others", async () => {
    const tar = tool({
      name: "tar",
      description: "t",
      ...nothing,
      needs: [exec("tar")],
      execute: (_, { exec: run }) =>
        run("tar", ["-cf", "/dev/null", "/etc/hostname"], {
          env: { TAR_OPTIONS: `--checkpoint=1 --checkpoint-action=exec=touch\\ ${folder}/pwned` },
        }),
    });
    const r = await callTool(tar, {}, { grants: [exec("tar")] });
    console.log(r);
    expect(r.status).toBe("error");
  });
});

describe("the manifest", () => {
  const base = { name: "a", model: () => "x" } as const;
  const reading = (effect: "read" | "none") =>
    tool({ name: "t", description: "t", inputSchema: z.object({ q: z.string() }), effect, execute: () => "x" });
  const widened = async (before: { manifest(): Promise<never> }, after: { manifest(): Promise<never> }) =>
    compareManifests(await before.manifest(), await after.manifest()).map(({ type, path, text }) => `${type} ${path} ${text}`);
  it("is widened by rules that allow all in place of what holds without any", async () => {
    const out = await widened(agent({ ...base, tools: [] }) as never, agent({ ...base, tools: [], policy: policy("all", [allow("*")]) }) as never);
    console.log(out);
    expect(out.some((line) => line.startsWith("widened"))).toBe(true);
  });
  it("is widened by results that become as trusted as their arguments", async () => {
    const out = await widened(agent({ ...base, tools: [reading("read")] }) as never, agent({ ...base, tools: [reading("none")] }) as never);
    console.log(out);
    expect(out.some((line) => line.startsWith("widened"))).toBe(true);
  });
  it("is widened by an agent inside whose label ends", async () => {
    const sub = agent({ name: "sub", model: () => "true", output: z.boolean() } as never);
    const out = await widened(
      agent({ ...base, tools: [(sub as never as { asTool(o: object): Tool }).asTool({ description: "d" })] }) as never,
      agent({ ...base, tools: [(sub as never as { asTool(o: object): Tool }).asTool({ description: "d", fresh: true })] }) as never,
    );
    console.log(out);
    expect(out.some((line) => line.startsWith("widened"))).toBe(true);
  });
  it("type of a target", async () => {
    const t = (type: "email" | "text") =>
      tool({ name: "t", description: "t", inputSchema: z.object({ q: z.string() }), effect: "write", parameters: { q: { role: "target", type } }, execute: () => "x" });
    const out = await widened(agent({ ...base, tools: [t("email")] }) as never, agent({ ...base, tools: [t("text")] }) as never);
    console.log("type", out);
    expect(out.length).toBeGreaterThan(0);
  });
});

describe("what a tool hands to a run inside", () => {
  it("is as untrusted there as its results would be", async () => {
    const sent: unknown[] = [];
    const send = tool({ name: "send", description: "s", inputSchema: z.object({ to: z.string() }), effect: "irreversible", execute: (args) => (sent.push(args), "sent") });
    const sub = agent({ name: "sub", model: scripted([{ calls: [{ name: "send", arguments: { to: "x@evil.example" } }] }, "ok"]), tools: [send] });
    const page = tool({
      name: "page",
      description: "Summarise a page",
      ...nothing,
      effect: "read",
      needs: [net(site)],
      execute: async (_, { fetch, run }) => sub(`Summarise: ${await (await fetch(site)).text()}`, { parent: run }),
    });
    const one = agent({ name: "one", model: calling("page"), tools: [page], grants: [net(site)] });
    await one.run("Summarise the page");
    expect(sent).toEqual([]);
  });
});

describe("MCP", () => {
  it("a server that says with each list that it changed is not asked for ever", async () => {
    let lists = 0;
    let changed: () => void = () => undefined;
    const tools = await mcpTools(
      {
        async listTools() {
          lists += 1;
          await new Promise((r) => setTimeout(r, 1));
          changed();
          return { tools: [{ name: "go", inputSchema: { type: "object" } }] };
        },
        callTool: async () => ({ content: [] }),
        setNotificationHandler: (_: string, handler: () => void) => (changed = handler),
      },
      { server: "s", timeoutMs: 100 },
    );
    const [go] = tools as [Tool];
    changed();
    const r = await callTool(go, {});
    console.log(r);
    const after = lists;
    await new Promise((r) => setTimeout(r, 300));
    changed = () => undefined;
    expect(lists - after).toBeLessThan(5);
  });
  it("reconnects under the guard of tests", async () => {
    const program = `
      const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
      require("readline").createInterface(process.stdin).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } } });
        if (method === "tools/list") send({ id, result: { tools: [{ name: "go", inputSchema: { type: "object" } }, { name: "die", inputSchema: { type: "object" } }] } });
        if (method === "tools/call" && params.name === "die") process.exit(1);
        if (method === "tools/call") send({ id, result: { content: [{ type: "text", text: "here" }] } });
      });`;
    await using notes = await connectMcp({ name: "notes", command: process.execPath, args: ["--eval", program] });
    const one = agent({ name: "one", model: calling("notes/die"), tools: notes.tools });
    await one.run("x");
    const r = await agent({ name: "one", model: calling("notes/go"), tools: notes.tools }).run("x");
    expect(r.transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "ok" });
  });
});
