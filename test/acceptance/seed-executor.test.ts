import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Hook, type Message, type Model, tool } from "../../src/index.ts";
import type { EndCause } from "../../src/doors.ts";
import { type Driver, driverNames } from "../../src/drivers.ts";
import type { ModelRequest } from "../../src/models.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { add } from "./calculator.ts";

const call = (name: string, args: JsonObject = {}): { name: string; arguments: JsonObject } => ({
  name,
  arguments: args,
});

/** What the model was told of the calls of its last reply. */
function resultsIn(request: ModelRequest | undefined): readonly Message[] {
  const messages = request?.messages ?? [];
  return messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
}

describe("the executor", () => {
  it("takes each call through hook, check, run and hook; the tool has the call and the run at hand; events tell the result [C7.1, C7.2]", async () => {
    const order: string[] = [];
    const echo = tool({
      name: "echo",
      description: "",
      inputSchema: z.object({ n: z.number() }),
      execute: ({ n }, { call: { id }, run }) => {
        order.push(`run ${n} for ${id}, ${run.transcript.messages.length} messages before`);
        return n;
      },
    });
    const hook: Hook = {
      beforeToolCall({ callId, arguments: given }) {
        order.push(`before ${callId}`);
        const { n } = given as { n: number };
        if (n === 0) return { deny: "no zeros" };
        return { arguments: { n: n < 0 ? "minus" : n + 1 } };
      },
      afterToolCall({ callId, result }) {
        order.push(`after ${callId} ${result.status}`);
        return { result: { ...result, text: `${result.text}!` } };
      },
    };
    const calls = [1, 0, -1].map((n) => ({ id: `call_${n}`, ...call("echo", { n }) }));
    const model = scripted([{ calls }, "done"]);
    const events: string[] = [];
    const running = agent({
      name: "a",
      model,
      tools: [echo],
      hooks: [hook],
      concurrency: 1,
    }).stream("go");
    for await (const event of running)
      if (event.type === "tool-start" || event.type === "tool-end")
        events.push(
          event.type === "tool-end" ? `end ${event.result.text}` : `start ${JSON.stringify(event.arguments)}`,
        );
    expect(order).toEqual([
      "before call_1",
      "before call_0",
      "before call_-1",
      "run 2 for call_1, 2 messages before",
      "after call_1 ok",
    ]);
    expect(events).toEqual([
      'start {"n":2}',
      "end 2!",
      "end Tool 'echo' was denied: no zeros",
      expect.stringContaining("end Tool 'echo' received invalid arguments: n: "),
    ]);
    expect(resultsIn(model.requests[1])).toMatchObject([
      { status: "ok", text: '{"tool":"echo","trusted":false,"value":"2!"}' }, // the model is told whose words these are
      { status: "denied" },
      { status: "invalid" },
    ]);
  });

  it("stops at the first failure, or skips the rest after a block, where the author wants that [C8.3]", async () => {
    const fails = fakeTool("fails", () => {
      throw new Error("broken");
    });
    const calls = [call("fails"), call("blocked"), call("fine")];
    const run = async (endOn: readonly EndCause[]): Promise<unknown> => {
      const tools = [fails, fakeTool("blocked", 1), fakeTool("fine", 1)];
      const hooks: Hook[] = [
        { beforeToolCall: ({ tool: name }) => (name === "blocked" ? { deny: "no" } : undefined) },
      ];
      const model = scripted([{ calls }, "done"]);
      const ended = await agent({ name: "a", model, tools, hooks, concurrency: 1, endOn }).run("go");
      const results = ended.transcript.messages.flatMap((message) =>
        message.role === "tool" ? [message.status] : [],
      );
      return [ended.outcome.type, results];
    };
    expect(await run([])).toEqual(["answered", ["error", "denied", "ok"]]);
    expect(await run(["blocked-call"])).toEqual(["answered", ["error", "denied", "skipped"]]);
    expect(await run(["tool-failure"])).toEqual(["failed", ["error", "denied", "skipped"]]);
  });
});

describe("drivers", () => {
  /** One way of speaking that writ does not know: `do add {…}`, anything else is the answer. */
  const spoken: Driver = {
    name: "spoken",
    passthrough: false,
    toolName: (name) => name,
    request: ({ transcript, settings }) => ({
      messages: transcript.messages.map((message) =>
        message.role === "tool"
          ? { role: "user", parts: [{ type: "text", text: `It gave ${message.text}` }] }
          : message,
      ),
      tools: [],
      toolChoice: "none",
      settings,
    }),
    read({ message }) {
      const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
      const [, name, given] = /^do (\w+) (.*)$/.exec(text) ?? [];
      if (name === undefined || given === undefined) return { type: "final", message, content: text };
      const part = { type: "tool-call", id: "", name, arguments: JSON.parse(given) as JsonObject } as const;
      return { type: "calls", message: { role: "assistant", parts: [part], raw: text } };
    },
  };

  it("decide what to call, also one's own; the same executor runs it, with the same allow-list and bounds [C1.1, C1.2, C2.1]", async () => {
    const speaks = (
      driver: "native" | "json" | Driver,
      steps: Parameters<typeof scripted>[0],
    ): Promise<unknown> =>
      agent({ name: "a", model: scripted(steps), driver, tools: [add], budget: { toolCalls: 2 } })
        .run("1 + 2")
        .then(({ transcript, outcome }) => [
          outcome.type,
          transcript.messages.flatMap((message) =>
            message.role === "tool" ? [message.status, message.text] : [],
          ),
        ]);
    const args = { a: 1, b: 2 };
    const ran = ["ok", "3", "denied", "Tool 'rm' is not allowed for skill 'a'. Allowed: [add]"];
    const expected = ["answered", ran];
    expect(await speaks("native", [{ calls: [call("add", args)] }, { calls: [call("rm")] }, "3"])).toEqual(
      expected,
    );
    const action = (name: string): string => JSON.stringify({ action: { tool: name, args } });
    expect(await speaks("json", [action("add"), action("rm"), '{"final":{"content":"3"}}'])).toEqual(
      expected,
    );
    expect(await speaks(spoken, ['do add {"a":1,"b":2}', "do rm {}", "3"])).toEqual(expected);
    const endless = [1, 2, 3].map((a) => `do add {"a":${a},"b":0}`);
    expect(await speaks(spoken, endless)).toEqual([
      "exhausted",
      ["ok", "1", "ok", "2", "skipped", expect.any(String)],
    ]);
  });

  it("native: schemas and the choice of tool go to the model, calls come back, each paired with its result [C4.1]", async () => {
    for (const toolChoice of ["auto", "required", { tool: "add" }] as const) {
      const calls = [1, 2].map((a) => ({ id: `call_${a}`, ...call("add", { a, b: 0 }) }));
      const model = scripted([{ text: "Both.", calls }, "1 and 2"]);
      await agent({ name: "a", model, driver: "native", tools: [add], toolChoice }).run("go");
      const [first, second] = model.requests;
      expect(first).toMatchObject({
        toolChoice,
        tools: [{ name: "add", inputSchema: add.input.jsonSchema }],
      });
      expect(second?.messages.slice(1)).toMatchObject([
        { role: "assistant", parts: [{ text: "Both." }, { id: "call_1" }, { id: "call_2" }] },
        { role: "tool", callId: "call_1", text: "1" },
        { role: "tool", callId: "call_2", text: "2" },
      ]);
    }
  });

  it("are replaced in a copy, as are tools and what the executor does with failures [C9.1]", async () => {
    const failing = fakeTool("add", () => {
      throw new Error("no");
    });
    const steps = [{ calls: [call("add", { a: 1, b: 2 })] }, "done"];
    const first = agent({ name: "a", model: scripted(steps), tools: [add] });
    const second = first.with({ tools: [failing], model: scripted(steps) });
    const third = second.with({ endOn: ["tool-failure"], model: scripted(steps) });
    const fourth = first.with({ driver: spoken, model: scripted(["by a driver of one's own"]) });
    expect((await first.run("go")).transcript.messages.at(-2)).toMatchObject({ status: "ok", value: 3 });
    expect((await second.run("go")).transcript.messages.at(-2)).toMatchObject({ status: "error" });
    expect((await third.run("go")).outcome).toMatchObject({ type: "failed", code: "tool-failed" });
    expect(await fourth("go")).toBe("by a driver of one's own");
  });

  it("are chosen by what the model can [C10.1]", async () => {
    const chosen = async (features: Model["features"], reply: string): Promise<unknown> => {
      for await (const event of agent({
        name: "a",
        model: scripted([reply], { features }),
        tools: [add],
      }).stream("x"))
        if (event.type === "message-end") return event.driver;
      return undefined;
    };
    expect(await chosen({ tools: true }, "3")).toBe("native");
    expect(await chosen({}, "3")).toBe("native");
    expect(await chosen({ tools: false }, '{"final":{"content":"3"}}')).toBe("json");
    expect(await chosen({ tools: false, small: true, completion: true }, "3")).toBe("guided");
  });

  it("are told with what each is for: what it requires, how it chooses and reasons, how far it can be relied on [C10.2]", () => {
    const page = readFileSync(new URL("../../docs/drivers.md", import.meta.url), "utf8");
    const rows = new Map(
      page
        .split("\n")
        .filter((line) => line.startsWith("| "))
        .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
        .map(([, name = "", ...cells]) => [name.replaceAll("`", ""), cells.slice(0, -1)]),
    );
    for (const name of driverNames) expect(rows.get(name)?.at(-1), name).toMatch(/\w+ \w+/);
    // The table of the page "which driver when", column by column.
    expect(rows.get("requires")).toEqual([
      expect.stringContaining("function calling"),
      expect.stringContaining("any model that writes JSON"),
    ]);
    expect(rows.get("chooses a tool")).toEqual([
      expect.stringContaining("natively"),
      expect.stringContaining("decision"),
    ]);
    expect(rows.get("reasoning")).toEqual([
      expect.stringContaining("implicit"),
      expect.stringContaining("`thought`"),
    ]);
    expect(rows.get("reliability")).toEqual([
      expect.stringContaining("higher"),
      expect.stringContaining("lower"),
    ]);
  });
});
