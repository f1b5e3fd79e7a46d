import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Agent, llm, net, secret, skill, tool, type Tool } from "../../src/index.ts";
import { repeat } from "../../src/compose.ts";
import { call, callTool, chat, decide, loop, readTranscript, userMessage } from "../../src/doors.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { file, fix, labelled } from "../../src/tools.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const token = "tok-4711-very-secret";
let server: Server;
let site = "";
const seen: string[] = [];

beforeAll(async () => {
  process.env["WRIT_HELD_TOKEN"] = token;
  server = createServer((request, response) => {
    seen.push(String(request.url));
    response.end(request.headers["authorization"] ?? "nothing");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  delete process.env["WRIT_HELD_TOKEN"];
  server.close();
  server.closeAllConnections();
});

const nothing = { inputSchema: z.object({}) };

const calling = (name: string): ReturnType<typeof scripted> =>
  scripted([{ calls: [{ name, arguments: {} }] }, "done"]);

function fetches(path: string): Tool {
  return tool({
    name: "fetches",
    description: "Fetch",
    ...nothing,
    needs: [net(site)],
    execute: async (_, { fetch }) => (await fetch(`${site}/${path}`)).text(),
  });
}

const fetching = (path: string): Promise<unknown> => callTool(fetches(path), {}, { grants: [net(site)] });

async function asked(run: () => Promise<unknown>): Promise<readonly string[]> {
  const before = seen.length;
  await run();
  return seen.slice(before);
}

describe("the ceiling of a run", () => {
  const ceiling = { ceiling: [] };

  it("holds hooks", async () => {
    const hook = { name: "hook", beforeTurn: async () => void (await fetching("hook")) };
    const one = agent({ name: "one", model: scripted(["done", "done"]), hooks: [hook] });
    expect(await asked(() => one.run("go", ceiling))).toEqual([]);
    expect(await asked(() => one.run("go"))).toEqual(["/hook"]);
  });

  it("holds functions of compositions, and what they are told to be part of", async () => {
    const inner = (): Agent<string, string> =>
      agent({
        name: "inner",
        model: calling("fetches"),
        tools: [fetches("inner")],
        grants: [net(site)],
      });
    const draft = agent({ name: "draft", model: () => "draft" });
    const twice = repeat(draft, {
      until: async (_, { parent }) => {
        await fetching("until");
        await inner().run("go", { parent });
        return true;
      },
    });
    expect(await asked(() => twice.run("go", ceiling))).toEqual([]);
    expect(await asked(() => twice.run("go"))).toEqual(["/until", "/inner"]);
  });

  it("holds fixers", async () => {
    const broken = tool({
      name: "broken",
      description: "Fail",
      ...nothing,
      execute: () => {
        throw new Error("broken");
      },
      recover: { executionFailed: () => fix(async () => (await fetching("fixer"), "fixed")) },
    });
    const one = (): Agent<string, string> =>
      agent({ name: "one", model: calling("broken"), tools: [broken] });
    expect(await asked(() => one().run("go", ceiling))).toEqual([]);
    expect(await asked(() => one().run("go"))).toEqual(["/fixer"]);
  });

  it("is no use of powers by a skill that is a function, for the guard of tests", async () => {
    const plain = skill({
      name: "plain",
      description: "Plain",
      execute: () => process.env["WRIT_HELD_TOKEN"],
    });
    const { outcome } = await agent({ name: "one", skills: [plain] }).run("go", ceiling);
    expect(outcome.type).toBe("answered");
  });
});

describe("what a call began", () => {
  it("has the powers of that call, also as turns and as a loop that somebody else walks through", async () => {
    const made: AsyncGenerator[] = [];
    const about = (path: string): object => ({
      model: calling("fetches"),
      tools: [fetches(path)],
      grants: [net(site)],
    });
    const begins = tool({
      name: "begins",
      description: "Begin",
      ...nothing,
      execute: () => {
        made.push(agent({ name: "inner", ...about("turns") }).turns("go"));
        const transcript = readTranscript({ messages: [userMessage("go")] });
        made.push(loop({ transcript, ...about("loop") }));
        return "begun";
      },
    });
    const read = async (): Promise<void> => {
      for (const generator of made) for await (const each of generator) expect(each).toBeTypeOf("object");
    };
    await callTool(begins, {});
    expect(made).toHaveLength(2);
    expect(await asked(read)).toEqual([]);
  });

  it("ends with it: a call inside uses nothing any more when the one around it timed out", async () => {
    let inside: Promise<unknown> = Promise.resolve();
    const slow = tool({
      name: "slow",
      description: "Slow",
      ...nothing,
      needs: [net(site)],
      execute: async (_, { fetch }) => (await pause(80), (await fetch(`${site}/inside`)).text()),
    });
    const outer = tool({
      name: "outer",
      description: "Outer",
      ...nothing,
      needs: [net(site)],
      timeoutMs: 30,
      execute: () => (inside = callTool(slow, {}, { grants: [net(site)] })),
    });
    const run = async (): Promise<void> => {
      expect(await callTool(outer, {}, { grants: [net(site)] })).toMatchObject({ status: "timeout" });
      expect(await inside).toMatchObject({ text: expect.stringContaining("after its call had ended") });
    };
    expect(await asked(run)).toEqual([]);
  });

  it("ends with a function that a program called", async () => {
    let late: Promise<unknown> = Promise.resolve();
    const leaves = tool({
      name: "leaves",
      description: "Leave",
      ...nothing,
      execute: () => {
        late = pause(20).then(() => fetching("left"));
        return "left";
      },
    });
    expect(await asked(async () => [await call(leaves, {}), await late])).toEqual([]);
  });
});

describe("the questions of a tool to its model", () => {
  const usage = { inputTokens: 10, outputTokens: 10 };
  function asks(execute: (ask: (prompt: string) => Promise<string>) => unknown): Tool {
    return tool({
      name: "asks",
      description: "Ask",
      ...nothing,
      needs: [llm],
      execute: async (_, { llm: ask }) => void (await execute(ask)),
    });
  }

  it("that are not waited for end with the call, and are counted", async () => {
    const first = { calls: [{ name: "asks", arguments: {} }], usage };
    const model = scripted([first, () => new Promise<string>(() => undefined), { text: "done", usage }]);
    const forgetful = asks((ask) => void ask("x".repeat(400)));
    const { usage: spent, outcome } = await agent({
      name: "one",
      model,
      tools: [forgetful],
      grants: [llm],
    }).run("go");
    expect(outcome.type).toBe("answered");
    expect(model.requests).toHaveLength(3);
    expect(spent.inputTokens).toBe(10 + 100 + 10);
  });

  it("write no more than the budget has left", async () => {
    const first = { calls: [{ name: "asks", arguments: {} }], usage };
    const model = scripted([first, { text: "y", usage }, { text: "done", usage }]);
    await agent({
      name: "one",
      model,
      tools: [asks((ask) => ask("x"))],
      grants: [llm],
      budget: { tokens: 100 },
    }).run("go");
    expect(model.requests[1]?.settings.maxOutputTokens).toBe(80);
  });

  it("are asked beside each other where nothing bounds them", async () => {
    const first = { calls: [{ name: "asks", arguments: {} }], usage };
    const reply = { text: "y", usage };
    let asked = 0;
    const all = Promise.withResolvers<void>();
    const together = async (): Promise<typeof reply> => {
      if ((asked += 1) === 3) all.resolve();
      await all.promise; // nobody is answered before all three have asked
      return reply;
    };
    const model = scripted([first, together, together, together, { text: "done", usage }]);
    const many = asks((ask) => Promise.all([ask("a"), ask("b"), ask("c")]));
    const { text } = await agent({ name: "one", model, tools: [many], grants: [llm] }).run("go");
    expect(text).toBe("done");
  });
});

describe("a secret that came back", () => {
  const echo = (
    use: (answer: string, context: { readonly progress: (value: never) => void }) => unknown,
  ): Tool =>
    tool({
      name: "echo",
      description: "Echo",
      ...nothing,
      needs: [net(site), secret("WRIT_HELD_TOKEN")],
      execute: async (_, context) => {
        const headers = { authorization: context.secret("WRIT_HELD_TOKEN") };
        return use(await (await context.fetch(site, { headers })).text(), context);
      },
    });
  const grants = (): Parameters<typeof callTool>[2] => ({ grants: [net(site), secret("WRIT_HELD_TOKEN")] });

  it("is no source of a result", async () => {
    const result = await callTool(
      echo((answer) => labelled("x", { sources: [answer] })),
      {},
      grants(),
    );
    expect(result).toMatchObject({ status: "ok", text: "x" });
    expect(JSON.stringify(result)).toContain("[secret WRIT_HELD_TOKEN]");
    expect(JSON.stringify(result)).not.toContain(token);
  });

  it.each(["", "data:text/plain;base64,"])(
    "is not in the bytes of a file, which stay readable: %s",
    async (before) => {
      const { files } = await callTool(
        echo((answer) => file(`${before}${btoa(`é1: ${answer}, and more`)}`, "text/plain")),
        {},
        grants(),
      );
      const { data = "" } = files?.[0] ?? {};
      expect(data).toMatch(/^(?:data:text\/plain;base64,)?[\w+/]+=*$/);
      expect(atob(data.slice(before.length))).toMatch(/^é1: .*\[secret WRIT_HELD_TOKEN\].*, and more$/s);
    },
  );

  it("does not make telling nothing fail", async () => {
    const told = echo((_, { progress }) => progress(undefined as never));
    const { grants: all } = grants() ?? {};
    const one = agent({ name: "one", model: calling("echo"), tools: [told], grants: all });
    const progress: unknown[] = [];
    const { transcript } = await one.run("go", {
      onEvent: (event) => event.type === "tool-progress" && progress.push(event.value),
    });
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "ok" });
    expect(progress).toEqual([null]);
  });

  it("is not in the text that a model goes on from, by whatever way it came there", async () => {
    await callTool(
      echo(() => "used"),
      {},
      grants(),
    );
    const model = scripted(["Answer: ok"], { features: { completion: true } });
    const hooks = [{ beforeTurn: () => ({ say: `It is ${token}.` }) }];
    expect(await agent({ name: "one", model, driver: "lines", hooks })("go")).toBe("ok");
    expect(model.requests[0]?.prompt).toContain("It is [secret WRIT_HELD_TOKEN].");
    expect(JSON.stringify(model.requests)).not.toContain(token);
  });

  it("is not kept in a run that the tool begins, nor in what it says to one: another process may carry it out", async () => {
    const store = memoryRuns();
    const inside = agent({ name: "inside", model: () => "ok" });
    const runs = durableRuns({ store, agents: [inside] });
    const begin = async (answer: string): Promise<string> => {
      await runs.start(inside, `Look: ${answer}`, { id: "begun", instructions: answer });
      await runs.signal("begun", { name: "told", value: { [answer]: answer } });
      await runs.cancel("begun", answer);
      return "begun";
    };
    expect(await callTool(echo(begin), {}, grants())).toMatchObject({ status: "ok" });
    const kept = JSON.stringify([await store.read("begun"), await store.records("begun")]);
    expect(kept).toContain("Look: ");
    expect(kept).toContain("[secret WRIT_HELD_TOKEN]");
    expect(kept).not.toContain(token);
    const said = `What is ${token}?`; // of a user, who may begin it again
    expect(await runs.start(inside, said, { id: "users" })).toMatchObject({ input: said });
  });

  it("is not asked of a model that the tool asks by itself, nor in tools and forms that it makes of the answer", async () => {
    const model = scripted(["ok", "none", "ok"]);
    const askAll = async (answer: string): Promise<string> => {
      const schema = { type: "object", properties: { [answer]: { description: answer } } };
      const made = fakeTool("made", "ok", { description: answer, inputSchema: schema });
      await agent({ name: "inside", model, tools: [made] })("go");
      await decide({ model, question: answer, context: answer, options: [answer, "none"] });
      const format = { type: "schema", schema } as const;
      return (await chat({ model, messages: answer, tools: [made], format })).text;
    };
    await callTool(echo(askAll), {}, grants());
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify(model.requests)).not.toContain(token);
  });
});
