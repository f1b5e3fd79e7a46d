import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { connectMcp, mcpTools } from "../../src/adapters/mcp/tools.ts";
import { questionText } from "../../src/cli/question-text.ts";
import {
  agent,
  type AgentEvent,
  allow,
  type Capability,
  exec,
  fs,
  llm,
  net,
  policy,
  secret,
  skill,
  tool,
  type Tool,
  type ToolContext,
} from "../../src/index.ts";
import { callTool } from "../../src/doors.ts";
import { type AgentManifest, compareManifests } from "../../src/policy.ts";
import { fix, type Handles, type Recovery, unrecoverable } from "../../src/tools.ts";
import { scripted } from "../../src/testing.ts";
import { cpuMsUntil } from "../cpu-time.ts";

const token = "tok-0815-very-secret";
let server: Server;
let folder: string;
let site = "";
const seen: string[] = [];

beforeAll(async () => {
  process.env["WRIT_REVIEW_TOKEN"] = token;
  server = createServer((request, response) => {
    seen.push(String(request.url));
    response.end(`you sent ${request.headers["authorization"] ?? "nothing"}`);
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
const calling = (name: string): ReturnType<typeof scripted> =>
  scripted([{ calls: [{ name, arguments: {} }] }, "done"]);

/** Fetches a path of the server of this file. */
function fetches(path: string): Tool {
  return tool({
    name: "fetches",
    description: "Fetch",
    ...nothing,
    needs: [net(site)],
    execute: async (_, { fetch }) => (await fetch(`${site}/${path}`)).text(),
  });
}

/** What the server was asked for while something ran. */
async function asked(run: () => Promise<unknown>): Promise<readonly string[]> {
  const before = seen.length;
  await run();
  return seen.slice(before);
}

describe("the value of a secret that a server sent back", () => {
  type Use = (
    answer: string,
    context: ToolContext & Pick<Handles, "llm"> & { readonly fs: Pick<Handles["fs"], "readText"> },
  ) => unknown;

  /** Runs an agent whose tool sends the secret, and does something with an answer that holds it. Gives all that anybody was told. */
  async function played(
    use: Use,
    {
      recover,
      model = calling("echo"),
      options = {},
      ...more
    }: { recover?: Recovery; model?: ReturnType<typeof scripted>; hooks?: object[]; options?: object } = {},
  ): Promise<{ events: string; result: unknown; prompts: string }> {
    const echo = tool({
      name: "echo",
      description: "Echo",
      ...nothing,
      retry: "always",
      needs: [net(site), secret("WRIT_REVIEW_TOKEN"), llm, fs.read(folder)],
      ...(recover === undefined ? {} : { recover }),
      execute: async (_, context) => {
        const authorization = ["Bearer ", context.secret("WRIT_REVIEW_TOKEN")];
        const response = await context.fetch(site, { headers: { authorization } });
        return use(await response.text(), context);
      },
    });
    const grants: readonly Capability[] = [net(site), secret("WRIT_REVIEW_TOKEN"), llm, fs.read(folder)];
    const events: string[] = [];
    const one = agent({ name: "one", model, tools: [echo], grants, ...more });
    const onEvent = (event: AgentEvent): unknown => events.push(inspect(event, { depth: 20 }));
    const result = await one.run("go", { ...options, onEvent });
    return { events: events.join("\n"), result, prompts: JSON.stringify(model.requests) };
  }
  const fails: Use = (answer) => {
    throw new Error(answer);
  };

  it("is not in what is told of the things that the tool looked at", async () => {
    const { events } = await played((answer, { fs: files }) => files.readText(join(folder, answer)));
    expect(events).toContain("capability-checked");
    expect(events).not.toContain(token);
  });

  it("is not in what the tool asks the run's model", async () => {
    const model = scripted([{ calls: [{ name: "echo", arguments: {} }] }, "inner", "done"]);
    const { prompts } = await played((answer, { llm: ask }) => ask(answer), { model });
    expect(model.requests).toHaveLength(3);
    expect(prompts).not.toContain(token);
  });

  it("is not in the name of a signal that the tool waits for, which a store keeps, nor in its schema", async () => {
    const waits: unknown[] = [];
    const onWait = (wait: unknown): Promise<string> => Promise.resolve((waits.push(wait), "it came"));
    const use: Use = (answer, { waitFor }) =>
      waitFor(answer, { schema: { type: "string", description: answer } });
    await played(use, { options: { onWait } });
    expect(JSON.stringify(waits)).toContain("[secret WRIT_REVIEW_TOKEN]");
    expect(JSON.stringify(waits)).not.toContain(token);
  });

  it("is neither in the prompt nor in the events of an agent that the tool runs", async () => {
    const inner = scripted(["ok"]);
    const sub = agent({ name: "sub", model: inner });
    const { events } = await played((answer, { run }) => sub(answer, { parent: run }));
    expect(inner.requests).toHaveLength(1);
    expect(JSON.stringify(inner.requests) + events).not.toContain(token);
  });

  it("is not in the outcome of a run that it ended", async () => {
    const { events, result } = await played(fails, { recover: { executionFailed: () => unrecoverable() } });
    expect(events).toContain("cannot be recovered");
    expect(events + JSON.stringify(result)).not.toContain(token);
  });

  it("is not in causes and fields of the run's error", async () => {
    const { result } = await played(
      (answer) => {
        const cause = new Error("between", { cause: new Error(answer) });
        throw Object.assign(new Error("failed", { cause }), { answer });
      },
      { recover: { executionFailed: () => unrecoverable("no") } },
    );
    expect(inspect(result, { depth: 20 })).not.toContain(token);
  });

  it("is not in what a fixer is asked", async () => {
    const prompts: string[] = [];
    const fixer = async (text: string): Promise<string> => {
      prompts.push(text);
      return "mended";
    };
    await played(fails, { recover: { executionFailed: () => fix(fixer) } });
    expect(prompts).toHaveLength(1);
    expect(prompts.join()).not.toContain(token);
  });

  it("is not in what hooks are shown", async () => {
    const shown: string[] = [];
    const look = { name: "look", afterToolCall: (at: unknown): void => void shown.push(JSON.stringify(at)) };
    await played((answer) => answer, { hooks: [look] });
    expect(shown).toHaveLength(1);
    expect(shown.join()).not.toContain(token);
  });
});

describe("what a tool hands to an agent inside", () => {
  it("is as untrusted there as its result would be: a stranger's page starts no guarded effect", async () => {
    const sent: unknown[] = [];
    const send = tool({
      name: "send",
      description: "Send",
      inputSchema: z.object({ to: z.string() }),
      effect: "irreversible",
      execute: (args) => sent.push(args),
    });
    const call = { name: "send", arguments: { to: "x@evil.example" } };
    const sub = agent({ name: "sub", model: scripted([{ calls: [call] }, "ok"]), tools: [send] });
    const page = tool({
      name: "page",
      description: "Summarise a page",
      ...nothing,
      effect: "read",
      needs: [net(site)],
      execute: async (_, { fetch, run }) =>
        sub(`Summarise: ${await (await fetch(site)).text()}`, { parent: run }),
    });
    await agent({ name: "one", model: calling("page"), tools: [page], grants: [net(site)] }).run("Summarise");
    expect(sent).toEqual([]);
  });
});

describe("powers only shrink", () => {
  it("by the ceiling of a run, also for what a skill that is a function calls", async () => {
    const plain = skill({
      name: "plain",
      description: "Plain",
      execute: async () => (await callTool(fetches("ceiling"), {}, { grants: [net(site)] })).text,
    });
    const one = agent({ name: "one", skills: [plain] });
    expect(await asked(() => one.run("go", { ceiling: [] }))).toEqual([]);
  });

  it("by the ceiling of a run, also for an agent that a skill calls as the function that it is", async () => {
    const inner = agent({
      name: "inner",
      model: calling("fetches"),
      tools: [fetches("inner")],
      grants: [net(site)],
    });
    const plain = skill({ name: "plain", description: "Plain", execute: () => inner("go") });
    const one = agent({ name: "one", skills: [plain] });
    expect(await asked(() => one.run("go", { ceiling: [] }))).toEqual([]);
  });

  it("by every call around, also where a run is told to belong to an outer one", async () => {
    const inner = agent({
      name: "inner",
      model: calling("fetches"),
      tools: [fetches("parent")],
      grants: [net(site)],
    });
    const outer = tool({
      name: "outer",
      description: "Outer",
      ...nothing,
      needs: [net(site)],
      execute: async (_, { run }) => {
        const execute = (): Promise<string> => inner("go", { parent: run });
        const narrow = tool({ name: "narrow", description: "Narrow", ...nothing, needs: [], execute });
        return (await callTool(narrow, {}, { grants: [] })).text;
      },
    });
    const one = agent({ name: "one", model: calling("outer"), tools: [outer], grants: [net(site)] });
    expect(await asked(() => one.run("go"))).toEqual([]);
  });

  it("by the call that made a stream, whoever reads it", async () => {
    const inner = agent({
      name: "inner",
      model: calling("fetches"),
      tools: [fetches("stream")],
      grants: [net(site)],
    });
    let stream: AsyncGenerator<AgentEvent, unknown> | undefined;
    const execute = (): string => {
      stream = inner.stream("go");
      return "begun";
    };
    const begins = tool({ name: "begins", description: "Begin", ...nothing, needs: [], execute });
    await agent({ name: "one", model: calling("begins"), tools: [begins], grants: [net(site)] }).run("go");
    const read = async (): Promise<void> => {
      for await (const { type } of stream ?? []) expect(type).toBeTypeOf("string");
    };
    expect(await asked(read)).toEqual([]);
  });

  it("to nothing when a call has timed out, also for tools that its code calls later", async () => {
    let late: Promise<unknown> = Promise.resolve();
    const slow = tool({
      name: "slow",
      description: "Slow",
      ...nothing,
      timeoutMs: 30,
      needs: [net(site)],
      execute: () => (late = pause(90).then(() => callTool(fetches("late"), {}, { grants: [net(site)] }))),
    });
    const one = agent({ name: "one", model: calling("slow"), tools: [slow], grants: [net(site)] });
    const run = async (): Promise<void> => {
      const { transcript } = await one.run("go");
      expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "timeout" });
      await late;
    };
    expect(await asked(run)).toEqual([]);
  });
});

describe("the bounds of a run", () => {
  it("hold for what a tool asks its model many times at once", async () => {
    const usage = { inputTokens: 10, outputTokens: 10 };
    const model = scripted([
      { calls: [{ name: "asks", arguments: {} }], usage },
      ...Array.from({ length: 60 }, () => ({ text: "y", usage })),
    ]);
    const asks = tool({
      name: "asks",
      description: "Ask",
      ...nothing,
      needs: [llm],
      execute: async (_, { llm: ask }) => {
        await Promise.allSettled(Array.from({ length: 50 }, () => ask("x")));
        return "asked";
      },
    });
    await agent({ name: "one", model, tools: [asks], grants: [llm], budget: { tokens: 100 } }).run("go");
    expect(model.requests.length).toBeLessThan(10);
  });
});

describe("files", () => {
  const reads = (): Tool =>
    tool({
      name: "reads",
      description: "Read",
      inputSchema: z.object({ path: z.string() }),
      needs: [fs.read(folder)],
      timeoutMs: 300,
      execute: ({ path }, { fs: files }) => files.readText(path),
    });

  it("are not looked for any more when the call has ended, however long the path", async () => {
    const path = `${folder}/${"a/".repeat(200_000)}x`;
    await callTool(reads(), { path }, { grants: [fs.read(folder)] });
    await pause(100);
    expect(await cpuMsUntil(Infinity, () => pause(500))).toBeLessThan(150);
  });

  it("outside are denied behind a link, whether there is something or not", async () => {
    const outside = mkdtempSync(join(tmpdir(), "writ-review-outside-"));
    writeFileSync(join(outside, "there"), "x");
    const statuses: string[] = [];
    for (const name of ["there", "missing"]) {
      symlinkSync(join(outside, name), join(folder, name));
      const { status } = await callTool(reads(), { path: join(folder, name) }, { grants: [fs.read(folder)] });
      statuses.push(status);
    }
    rmSync(outside, { recursive: true });
    expect(statuses).toEqual(["denied", "denied"]);
  });
});

describe("programs", () => {
  it("are given no variable that makes them start others", async () => {
    const made = join(folder, "made-by-tar");
    const tar = tool({
      name: "tar",
      description: "Tar",
      ...nothing,
      needs: [exec("tar")],
      execute: (_, { exec: run }) =>
        run("tar", ["-cf", "/dev/null", "."], {
          env: { TAR_OPTIONS: `--checkpoint=1 "--checkpoint-action=exec=touch ${made}"` },
        }),
    });
    const { status, text } = await callTool(tar, {}, { grants: [exec("tar")] });
    expect(existsSync(made)).toBe(false);
    expect({ status, text }).toMatchObject({ status: "error", text: expect.stringContaining("refused") });
  });
});

describe("the question at the terminal", () => {
  const asks = (value: string): string =>
    questionText(
      {
        tool: "send",
        effect: "irreversible",
        values: [{ path: "to", value, bound: false }],
        rule: "r",
        reason: "because",
        label: { integrity: "untrusted", secrecy: "public", sources: [] },
        links: [],
        show: [],
      } as unknown as Parameters<typeof questionText>[0],
      { style: (_, text) => text },
    );

  it("shows what is not drawn", () => {
    expect(asks("ada@exam\u{200B}ple.com")).toContain(String.raw`\u{200b}`);
    expect(asks("hello\u{E0041}")).toContain(String.raw`\u{e0041}`);
  });

  it("shows of a value that nobody could read both ends, and how much is left out", () => {
    const long = `begin${"x".repeat(5_000)}end`;
    const shown = asks(long);
    expect(shown).toMatch(/"beginx+ … 1010 characters are not shown … x+end"/);
    expect(asks("y".repeat(3_998))).toContain(`"${"y".repeat(3_998)}"`);
  });

  it("shows all of what is approved", () => {
    expect(asks(`${"Dear Ada, ".repeat(40)}https://evil.example/?q=all`)).toContain("evil.example");
  });
});

describe("the manifest", () => {
  const base = { name: "a", model: () => "x" } as const;
  const looks = (more: Pick<Tool, "effect">): Tool => ({
    ...tool({ name: "t", description: "t", inputSchema: z.object({ q: z.string() }), execute: () => "x" }),
    ...more,
  });
  async function types(
    before: { manifest(): Promise<AgentManifest> },
    after: { manifest(): Promise<AgentManifest> },
  ): Promise<readonly string[]> {
    return compareManifests(await before.manifest(), await after.manifest()).map(({ type }) => type);
  }

  it("is widened by rules that allow everything in place of what holds without rules", async () => {
    const allowing = agent({ ...base, policy: policy({ name: "all", rules: [allow("*")] }) });
    expect(await types(agent(base), allowing)).toContain("widened");
  });

  it("is widened by results that become as trusted as their arguments", async () => {
    const reading = agent({ ...base, tools: [looks({ effect: "read" })] });
    const computing = agent({ ...base, tools: [looks({ effect: "none" })] });
    expect(await types(reading, computing)).toContain("widened");
  });

  it("is widened by an agent inside that ends the label of what it read", async () => {
    const sub = agent({ name: "sub", model: () => "true", output: z.boolean() });
    const before = agent({ ...base, tools: [sub.asTool({ description: "d" })] });
    const after = agent({ ...base, tools: [sub.asTool({ description: "d", fresh: true })] });
    expect(await types(before, after)).toContain("widened");
  });

  it("has the type of a parameter, by which a value is compared with the user's", async () => {
    const sends = (type: "email" | "text"): Tool =>
      tool({
        name: "t",
        description: "t",
        inputSchema: z.object({ q: z.string() }),
        effect: "write",
        parameters: { q: { role: "target", type } },
        execute: () => "x",
      });
    const before = agent({ ...base, tools: [sends("email")] });
    expect(await types(before, agent({ ...base, tools: [sends("text")] }))).not.toEqual([]);
  });
});

describe("a server of tools", () => {
  it("that says with each list that the list changed is not asked for ever", async () => {
    let lists = 0;
    let changed = (): void => undefined;
    let isOver = false;
    const tools = await mcpTools(
      {
        async listTools() {
          lists += 1;
          await pause(1);
          if (!isOver) changed();
          return { tools: [{ name: "go", inputSchema: { type: "object" } }] };
        },
        callTool: async () => ({ content: [] }),
        setNotificationHandler(_method, handler) {
          changed = handler;
        },
      },
      { server: "s", timeoutMs: 100 },
    );
    changed();
    for (const each of tools) await callTool(each, {});
    const before = lists;
    await pause(300);
    isOver = true;
    expect(lists - before).toBeLessThan(5);
  });

  it("is connected anew under the guard of tests", async () => {
    const program = `
      const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
      const tools = ["go", "die"].map((name) => ({ name, inputSchema: { type: "object" } }));
      require("readline").createInterface(process.stdin).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        const { protocolVersion } = params ?? {};
        const serverInfo = { name: "x", version: "1" };
        if (method === "initialize") send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
        if (method === "tools/list") send({ id, result: { tools } });
        if (method === "tools/call" && params.name === "die") process.exit(1);
        if (method === "tools/call") send({ id, result: { content: [{ type: "text", text: "here" }] } });
      });`;
    await using notes = await connectMcp({
      name: "notes",
      command: process.execPath,
      args: ["--eval", program],
    });
    await agent({ name: "one", model: calling("notes/die"), tools: notes.tools }).run("go");
    const { transcript } = await agent({ name: "one", model: calling("notes/go"), tools: notes.tools }).run(
      "go",
    );
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({
      status: "ok",
      text: "here",
    });
  });
});
