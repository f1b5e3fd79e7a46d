import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, env, fs, llm, net, secret, tool, type Tool } from "../../src/index.ts";
import { call, callTool, llmStep, safeLoop } from "../../src/doors.ts";
import type { Fetch } from "../../src/tools.ts";
import { scripted } from "../../src/testing.ts";

let server: Server;
let folder: string;
let site = "";
const seen: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers["authorization"] ?? ""}`);
    response.end(`you sent ${request.headers["authorization"] ?? "nothing"}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), "writ-capabilities-"));
  writeFileSync(join(folder, "note.txt"), "the note");
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const query = { inputSchema: z.object({}) };

/** Fetches from the server of this file, which it declares. */
function fetches(name = "exfiltrate", needs = [net(site)] as const): Tool {
  return tool({
    name,
    description: "Send it out",
    ...query,
    needs,
    execute: async (_args, { fetch }) => (await fetch(`${site}/${name}`)).text(),
  });
}

describe("the safe loop with capabilities", () => {
  const calls = (...names: readonly string[]) =>
    scripted([...names.map((name) => ({ calls: [{ name, arguments: {} }] })), "done"]);
  const weather = tool({ name: "get_weather", description: "w", ...query, execute: () => "sunny" });
  const bounds = { question: "q", maxSteps: 5, budget: 1e9 };

  it("case 21: an allow-listed tool runs, a name that is not listed is rejected, and one without its capability is denied; the loop goes on [Y3.1, Y4.2]", async () => {
    const contexts: string[] = [];
    const answer = await safeLoop({
      ...bounds,
      model: calls("get_weather", "delete_database", "exfiltrate"),
      tools: { get_weather: weather, exfiltrate: fetches() },
      onStep: ({ context }) => contexts.push(context),
    });
    expect(answer).toBe("done");
    expect(contexts[0]).toBe(" [get_weather => sunny]");
    expect(contexts[1]).toContain("[delete_database => not allowed]");
    expect(contexts[2]).toContain("Capability not granted: net(");
    expect(seen).toEqual([]);
  });

  it("case 21: the same tool runs where the program grants what it declares [Y3.1]", async () => {
    const contexts: string[] = [];
    const tools = { exfiltrate: fetches() };
    const onStep = ({ context }: { context: string }): unknown => contexts.push(context);
    await safeLoop({ ...bounds, model: calls("exfiltrate"), tools, grants: [net(site)], onStep });
    expect(contexts[0]).toBe(" [exfiltrate => you sent nothing]");
  });

  it("case 21: of five steps that call a tool three run, then it is out of steps", async () => {
    let ran = 0;
    const counts = tool({ name: "count", description: "c", ...query, execute: () => (ran += 1) });
    const model = calls("count", "count", "count", "count", "count");
    expect(await safeLoop({ ...bounds, model, tools: { count: counts }, maxSteps: 3 })).toBe("out of steps");
    expect(ran).toBe(3);
  });

  it("case 21: a step that was paid for is carried out, and the next is not asked [Y5.2]", async () => {
    let asked = 0;
    let ran = 0;
    const counts = tool({ name: "count", description: "c", ...query, execute: () => (ran += 1) });
    const model = (): { calls: { name: string; arguments: object }[]; usage: object } => {
      asked += 1;
      return { calls: [{ name: "count", arguments: {} }], usage: { inputTokens: 3, outputTokens: 3 } };
    };
    const answer = await safeLoop({
      question: "q",
      model: model as never,
      tools: { count: counts },
      maxSteps: 5,
      budget: 10,
    });
    expect([answer, asked, ran]).toEqual(["out of steps", 2, 2]);
  });

  it("case 24: without a model a step is final and says so; without the capability it is denied, also offline [Y9.1]", async () => {
    const before = process.env["WRIT_MODEL"];
    delete process.env["WRIT_MODEL"];
    try {
      const step = { prompt: "p", catalog: [] };
      expect(await llmStep(step)).toEqual({ kind: "final", text: "[no llm provider]", tokens: 0 });
      expect(await llmStep({ ...step, grants: [llm] })).toEqual({
        kind: "final",
        text: "[no llm provider]",
        tokens: 0,
      });
      await expect(llmStep({ ...step, grants: [] })).rejects.toThrow("Capability not granted: llm");
      const asks = tool({
        name: "asks",
        description: "a",
        ...query,
        execute: async () => (await llmStep(step)).kind,
      });
      const inside = await callTool(asks, {}, { grants: [llm] });
      expect(inside).toMatchObject({ status: "denied" });
      expect(inside.text).toContain("Capability not granted: llm");
      const declares = tool({
        ...query,
        name: "d",
        description: "d",
        needs: [llm],
        execute: async (_, { llm: ask }) => ask("hello"),
      });
      expect(await callTool(declares, {}, { grants: [llm] })).toMatchObject({
        status: "ok",
        text: "[no llm provider]",
      });
    } finally {
      if (before !== undefined) process.env["WRIT_MODEL"] = before;
    }
  });
});

describe("least privilege", () => {
  it("case 22: a capability that was not declared is not there, although the program grants it [Y12]", async () => {
    const sneaky = tool({
      name: "sneaky",
      description: "s",
      ...query,
      execute: (_args, context) =>
        Object.keys(context).filter((key) => ["fetch", "fs", "env", "secret", "exec", "llm"].includes(key)),
    });
    expect(await callTool(sneaky, {}, { grants: [net(site), fs.read(folder), llm] })).toMatchObject({
      value: [],
    });
  });

  it("case 22: declared and granted works; declared and not granted is denied, and the next call is as before [Y12, Y3.1]", async () => {
    const reads = tool({
      name: "reads",
      description: "r",
      inputSchema: z.object({ path: z.string() }),
      needs: [fs.read("/")],
      execute: ({ path }, { fs: files }) => files.readText(path),
    });
    const note = { path: join(folder, "note.txt") };
    const granted = { grants: [fs.read(folder)] };
    expect(await callTool(reads, note, granted)).toMatchObject({ status: "ok", text: "the note" });
    const denied = await callTool(reads, { path: "/etc/hostname" }, granted);
    expect(denied).toMatchObject({ status: "denied" });
    expect(denied.text).toContain("Capability not granted: fs.read(");
    expect(await callTool(reads, note, granted)).toMatchObject({ status: "ok", text: "the note" });
    expect(await callTool(reads, note)).toMatchObject({ status: "denied" });
  });

  it("case 22: what is called as a plain function has what surrounds it, and no more [Y2.2]", async () => {
    const inner = tool({
      name: "inner",
      description: "i",
      ...query,
      execute: async (_, context) => {
        const { fetch } = context as unknown as { fetch: Fetch };
        return (await fetch(`${site}/inherited`)).status;
      },
    });
    expect(await call(inner, {}, { grants: [net(site)] })).toBe(200);
    await expect(call(inner, {})).rejects.toThrow("Capability not granted");
    const outer = tool({
      name: "outer",
      description: "o",
      ...query,
      needs: [net(site)],
      execute: () => call(inner, {}),
    });
    expect(await callTool(outer, {}, { grants: [net(site)] })).toMatchObject({ status: "ok", text: "200" });
    const poor = tool({
      name: "poor",
      description: "p",
      ...query,
      execute: () => call(inner, {}, { grants: [net(site)] }),
    });
    expect(await callTool(poor, {}, { grants: [net(site)] })).toMatchObject({ status: "denied" });
  });

  it("case 22: a declaration inside a tool widens nothing: neither a later one nor one that another tool brings [Y12]", async () => {
    const late = tool({
      name: "late",
      description: "l",
      ...query,
      execute: async () => {
        const declared = fetches("declared_late");
        const { status, text } = await callTool(declared, {}, { grants: [net(site)] });
        return `${status}: ${text}`;
      },
    });
    const result = await callTool(late, {}, { grants: [net(site)] });
    expect(result.text).toContain("denied: Tool 'declared_late' was denied: Capability not granted: net(");
  });

  it("case 22: what a tool calls stays restricted across await, and calls beside each other do not see each other's scope [Y12]", async () => {
    async function helps(label: string): Promise<string> {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      await Promise.resolve();
      const { status } = await callTool(fetches(label), {}, { grants: [net(site)] });
      return status;
    }
    const rich = tool({
      name: "rich",
      description: "r",
      ...query,
      needs: [net(site)],
      execute: () => helps("rich"),
    });
    const poor = tool({ name: "poor", description: "p", ...query, execute: () => helps("poor") });
    const both = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? rich : poor));
    const results = await Promise.all(both.map((each) => callTool(each, {}, { grants: [net(site)] })));
    expect(results.map(({ text }) => text)).toEqual(both.map((each) => (each === rich ? "ok" : "denied")));
  });

  it("keeps a handle from working when its call has ended", async () => {
    let kept: Fetch | undefined;
    const keeps = tool({
      name: "keeps",
      description: "k",
      ...query,
      needs: [net(site)],
      execute: (_, { fetch }) => {
        kept = fetch;
        return "kept";
      },
    });
    await callTool(keeps, {}, { grants: [net(site)] });
    await expect(kept?.(site)).rejects.toMatchObject({ code: "capability-closed" });
  });
});

describe("an agent's grants", () => {
  const calling = (name: string) => scripted([{ calls: [{ name, arguments: {} }] }, "done"]);

  it("meet what a tool declares at run time; the model is told what is missing, and the run goes on [Y12, T9]", async () => {
    const poor = agent({ name: "poor", model: calling("send"), tools: [fetches("send")] });
    const events: string[] = [];
    const { outcome, transcript } = await poor.run("go", {
      onEvent: (event) => {
        if (event.type === "capability-checked") events.push(`${event.resource} ${event.granted}`);
      },
    });
    expect(outcome.type).toBe("answered");
    expect(transcript.messages.at(-2)).toMatchObject({ role: "tool", status: "denied" });
    expect(events).toEqual([`net(${site}) false`]);
    const rich = poor.with({ model: calling("send"), grants: [net(site)] });
    const { transcript: second } = await rich.run("go");
    expect(second.messages.at(-2)).toMatchObject({ role: "tool", status: "ok", text: "you sent nothing" });
  });

  it("shrink with each agent around, and with the ceiling of the run [Y13]", async () => {
    const inner = agent({
      name: "inner",
      description: "i",
      model: calling("send"),
      tools: [fetches("send")],
      grants: [net(site)],
    });
    const outer = (grants: readonly ReturnType<typeof net>[]) =>
      agent({
        name: "outer",
        model: scripted([{ calls: [{ name: "inner", arguments: { input: "go" } }] }, "done"]),
        tools: [inner.with({ model: calling("send") }).asTool()],
        grants,
      });
    const count = seen.length;
    await outer([]).run("go");
    expect(seen.length).toBe(count);
    await outer([net(site)]).run("go");
    expect(seen.length).toBe(count + 1);
    await outer([net(site)]).run("go", { ceiling: [] });
    await inner.run("go", { ceiling: [net("api.example.com")] });
    expect(seen.length).toBe(count + 1);
  });

  it("refuse what no mechanism understands when it is defined [Y13]", () => {
    const wrong = { kind: "teleport", scope: "" } as never;
    expect(() => agent({ name: "a", model: () => "x", grants: [wrong] })).toThrow("capability");
    expect(() => tool({ name: "t", description: "t", ...query, needs: [wrong], execute: () => 1 })).toThrow(
      "capability",
    );
  });

  it("let a secret into a header, and into nothing that is told [Y21]", async () => {
    process.env["WRIT_TEST_TOKEN"] = "tok-4711-secret";
    const model = calling("send");
    const sends = tool({
      name: "send",
      description: "s",
      ...query,
      needs: [net(site), secret("WRIT_TEST_TOKEN"), env("HOME")],
      execute: async (_, { fetch, secret: take }) => {
        const key = take("WRIT_TEST_TOKEN");
        const response = await fetch(site, { headers: { authorization: ["Bearer ", key] } });
        return { said: await response.text(), key, text: key.toString() };
      },
    });
    const told: string[] = [];
    const sender = agent({
      name: "sender",
      model,
      tools: [sends],
      grants: [net(site), secret("WRIT_TEST_TOKEN")],
    });
    const result = await sender.run("go", { onEvent: (event) => told.push(JSON.stringify(event)) });
    expect(seen.at(-1)).toBe("/ Bearer tok-4711-secret");
    const everything = [...told, JSON.stringify(result.transcript), JSON.stringify(model.requests)].join();
    expect(everything).not.toContain("tok-4711-secret");
    expect(everything).toContain("[secret WRIT_TEST_TOKEN]");
    delete process.env["WRIT_TEST_TOKEN"];
  });
});
