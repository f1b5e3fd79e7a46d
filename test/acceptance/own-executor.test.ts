import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { agent, deny, isWritError, memoryJournal, policy, secret, tool } from "../../src/index.ts";
import { execute, type Executor } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { labelled } from "../../src/tools.ts";
import { trustedLabel } from "../../src/message/label.ts";
import { call, double, plain, ran, resultsOf } from "./executor-scene.ts";

describe("an executor of one's own", () => {
  it("takes the calls of a reply in the place of the runtime's, also in a copy of an agent [C3.2, C9.2]", async () => {
    const seen: unknown[] = [];
    const batching: Executor = {
      execute(calls, { turn }) {
        seen.push([turn, calls.map(({ name, args, effect }) => [name, args, effect])]);
        return calls.map(({ id }, index) => ({ callId: id, value: 10 + index }));
      },
    };
    const steps = [{ calls: [call("double", { n: "1" }), call("double", { n: 2 })] }, "done"];
    const first = agent({ name: "a", model: scripted(steps), tools: [double] });
    const second = first.with({ executor: batching, model: scripted(steps) });
    expect(resultsOf(await second.run("go"))).toEqual([
      ["ok", "10"],
      ["ok", "11"],
    ]);
    expect(seen).toEqual([
      [
        1,
        [
          ["double", { n: 1 }, "none"],
          ["double", { n: 2 }, "none"],
        ],
      ],
    ]);
    expect(resultsOf(await first.run("go"))).toEqual([
      ["ok", "2"],
      ["ok", "4"],
    ]);
  });

  it("runs a call as the runtime would, and each only once [C3.2]", async () => {
    const add = fakeTool("add", 3);
    const twice: Executor = {
      async execute(calls, { run }) {
        const [one] = calls;
        if (one === undefined) return [];
        const [given] = await Promise.all([run(one), run(one)]);
        expect(given).toMatchObject({ callId: one.id, result: { status: "ok", value: 3 } });
        return [given];
      },
    };
    expect((await ran(twice, { tools: [add], calls: [call("add")] })).results).toEqual([
      ["ok", expect.any(String)],
    ]);
    expect(add.calls).toHaveLength(1);
  });

  it("is given no call that allow-list, arguments, policy, a hook or the budget refused [C3.2]", async () => {
    const given: string[] = [];
    const noting: Executor = {
      execute(calls, context) {
        given.push(...calls.map(({ id }) => id));
        return plain.execute(calls, context);
      },
    };
    const calls = [
      { id: "unknown", ...call("rm") },
      { id: "wrong", ...call("double", { n: "x" }) },
      { id: "denied", ...call("secret") },
      { id: "hooked", ...call("hooked") },
      { id: "good", ...call("double", { n: 1 }) },
      { id: "over", ...call("double", { n: 2 }) },
    ];
    const { results } = await ran(noting, {
      tools: [double, fakeTool("secret", 1), fakeTool("hooked", 1)],
      policy: policy({ name: "p", rules: [deny("secret")] }),
      hooks: [{ beforeToolCall: ({ tool: name }) => (name === "hooked" ? { deny: "no" } : undefined) }],
      budget: { toolCalls: 5 },
      calls,
    });
    expect(given).toEqual(["good"]);
    expect(results.map((result) => (result as string[])[0])).toEqual([
      "denied",
      "invalid",
      "denied",
      "denied",
      "ok",
      "skipped",
    ]);
  });

  it("cannot change the arguments that were judged [C3.2]", async () => {
    const got: unknown[] = [];
    const send = tool({
      name: "send",
      description: "",
      inputSchema: z.object({ to: z.object({ name: z.string() }) }),
      execute: ({ to }) => void got.push(to.name),
    });
    const sly: Executor = {
      async execute(calls, { run }) {
        for (const { args } of calls) (args as { to: { name: string } }).to.name = "mallory";
        return Promise.all(
          calls.map((each) => run(Object.assign({}, each, { args: { to: { name: "mallory" } } }))),
        );
      },
    };
    await ran(sly, { tools: [send], calls: [call("send", { to: { name: "bob" } })] });
    expect(got).toEqual(["bob"]);
  });

  it("has its own values held to schema, hooks, size, secrets and labels like a tool's [C3.2]", async () => {
    process.env["OWN_EXECUTOR_KEY"] = "s3cr3t-value-of-the-key";
    const grants = [secret("OWN_EXECUTOR_KEY")];
    const leaks = tool({
      name: "leaks",
      description: "",
      inputSchema: z.object({}),
      needs: [secret("OWN_EXECUTOR_KEY")],
      execute: (_args, { secret: take }) => typeof take("OWN_EXECUTOR_KEY"),
    });
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const values: Readonly<Record<string, unknown>> = {
      double: "no number",
      leaks: "it is s3cr3t-value-of-the-key",
      long: "x".repeat(500),
      strange: labelled("said", { integrity: "untrusted", sources: ["web"] }),
      circle,
    };
    const giving: Executor = {
      async execute(calls, { run }) {
        const [read] = await Promise.all(calls.slice(-1).map((each) => run(each)));
        const given = calls.slice(0, -1).map(({ id, name }) => ({ callId: id, value: values[name] }));
        return read === undefined ? given : [...given, read];
      },
    };
    const masked: unknown[] = [];
    const trusted = { trusted: true } as const;
    const ended = await agent({
      name: "a",
      model: scripted([
        {
          calls: [
            call("double", { n: 1 }),
            call("leaks"),
            call("long"),
            call("strange"),
            call("circle"),
            call("leaks"),
          ],
        },
        "done",
      ]),
      tools: [
        double,
        leaks,
        fakeTool("long", 1),
        tool({ name: "strange", description: "", inputSchema: z.object({}), ...trusted, execute: () => "" }),
        fakeTool("circle", 1),
      ],
      grants,
      budget: { resultBytes: 100 },
      executor: giving,
      hooks: [{ afterToolCall: ({ tool: name, result }) => void masked.push([name, result.status]) }],
    }).run("go");
    const results = ended.transcript.messages.flatMap((message) =>
      message.role === "tool" ? [message] : [],
    );
    expect(results.map(({ status }) => status)).toEqual(["error", "ok", "ok", "ok", "error", "ok"]);
    expect(JSON.stringify(results)).not.toContain("s3cr3t-value");
    expect(results[2]?.text).toContain("[cut off");
    expect(results[3]?.label).toMatchObject({
      integrity: "untrusted",
      sources: expect.arrayContaining(["web"]),
    });
    expect(masked).toHaveLength(6);
  });

  it.each([
    ["a value", (callId: string, text: string) => ({ callId, value: text })],
    ["a reason to skip", (callId: string, text: string) => ({ callId, skipped: text })],
  ])("gives %s that is no better than what the calls beside it read [C3.2]", async (_name, giving) => {
    const web = fakeTool("web", "from a stranger");
    const note = tool({
      name: "note",
      description: "",
      inputSchema: z.object({}),
      trusted: true,
      execute: () => "mine",
    });
    const mixing: Executor = {
      async execute([first, second], { run }) {
        if (first === undefined || second === undefined) return [];
        const read = await run(first);
        return [read, giving(second.id, read.result.text)];
      },
    };
    const ended = await agent({
      name: "a",
      model: scripted([{ calls: [call("web"), call("note")] }, "done"]),
      tools: [web, note],
      executor: mixing,
    }).run("go");
    const results = ended.transcript.messages.flatMap((message) =>
      message.role === "tool" ? [message] : [],
    );
    expect(results[1]?.label).toMatchObject({ integrity: "untrusted" });
  });

  it("may say that a call failed or did not run, and the model is told [C3.2]", async () => {
    const honest: Executor = {
      execute: ([first, second]) => [
        { callId: first?.id ?? "", error: new Error("the queue is full") },
        { callId: second?.id ?? "", skipped: "dry run" },
      ],
    };
    const add = fakeTool("add", 1);
    expect(await ran(honest, { tools: [add], calls: [call("add"), call("add")] })).toMatchObject({
      outcome: { type: "answered" },
      results: [
        ["error", expect.stringContaining("Tool 'add' failed: the queue is full")],
        ["skipped", expect.stringContaining("Not run: dry run.")],
      ],
    });
    expect(add.calls).toHaveLength(0);
  });

  it("skips a call with words that are no more trusted than its tool's, and as secret [C3.2]", async () => {
    const skipping: Executor = { execute: (calls) => calls.map(({ id }) => ({ callId: id, skipped: "no" })) };
    const label = async (about: { readonly trusted?: boolean; readonly secrecy?: "private" }) => {
      const look = tool({
        name: "look",
        description: "",
        inputSchema: z.object({}),
        execute: () => "",
        ...about,
      });
      const model = scripted([{ calls: [call("look")] }, "done"]);
      return (await agent({ name: "a", model, tools: [look], executor: skipping }).run("go")).label;
    };
    expect(await label({})).toMatchObject({ integrity: "untrusted", sources: ["tool/look"] });
    expect(await label({ trusted: true })).toEqual(trustedLabel);
    expect(await label({ trusted: true, secrecy: "private" })).toMatchObject({ secrecy: "private" });
  });

  it("keeps the order of calls that change something, as it asked for them [C3.2]", async () => {
    const order: string[] = [];
    const write = tool({
      name: "write",
      description: "",
      inputSchema: z.object({ n: z.number() }),
      effect: "write",
      async execute({ n }) {
        order.push(`begin ${n}`);
        await new Promise((resolve) => setTimeout(resolve, 5 - n));
        order.push(`end ${n}`);
      },
    });
    const backwards: Executor = {
      execute: (calls, { run }) => Promise.all(calls.toReversed().map((each) => run(each))),
    };
    const calls = [1, 2, 3].map((n) => call("write", { n }));
    await ran(backwards, { tools: [write], calls });
    expect(order).toEqual(["begin 3", "end 3", "begin 2", "end 2", "begin 1", "end 1"]);
  });

  it("is not waited for when the run is stopped: what may have happened is `unknown` [C3.2]", async () => {
    const controller = new AbortController();
    const hanging: Executor = {
      execute(_calls, { signal }) {
        signal.addEventListener("abort", () => undefined);
        setTimeout(() => controller.abort(), 5);
        return new Promise<never>(() => undefined);
      },
    };
    const write = tool({
      name: "write",
      description: "",
      inputSchema: z.object({}),
      effect: "write",
      execute: () => 1,
    });
    const ended = await agent({
      name: "a",
      model: scripted([{ calls: [call("write"), call("double", { n: 1 })] }]),
      tools: [write, double],
      executor: hanging,
    }).run("go", { signal: controller.signal });
    expect(ended.outcome.type).toBe("cancelled");
    expect(resultsOf(ended).map((result) => (result as string[])[0])).toEqual(["unknown", "cancelled"]);
  });

  it("runs nothing after it has given its results, and waits for what it began [C3.2]", async () => {
    let late: (() => Promise<unknown>) | undefined;
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: z.object({}),
      execute: () => new Promise((resolve) => setTimeout(() => resolve("done"), 10)),
    });
    const hasty: Executor = {
      execute(calls, { run }) {
        const [first, second] = calls;
        if (first === undefined || second === undefined) return [];
        void run(first);
        late = () => run(second);
        return [{ callId: second.id, value: 1 }];
      },
    };
    const { outcome, results } = await ran(hasty, { tools: [slow], calls: [call("slow"), call("slow")] });
    expect(outcome).toMatchObject({ type: "failed", code: "executor-result-invalid" });
    expect(results).toMatchObject([
      ["ok", expect.any(String)],
      ["ok", expect.any(String)],
    ]);
    await expect(late?.()).rejects.toSatisfy((error) => isWritError(error, "executor-result-invalid"));
  });

  it("is not asked again at a replay, and after a crash runs only what is not recorded [C3.2]", async () => {
    const add = fakeTool("add", (args: unknown) => (args as { n: number }).n + 1);
    const works = vi.fn<Executor["execute"]>(async ([first, second], { run }) =>
      first === undefined || second === undefined
        ? []
        : [await run(first), { callId: second.id, value: "own" }],
    );
    const steps = [{ calls: [call("add", { n: 1 }), call("add", { n: 2 })] }, "done"];
    const make = (said: Parameters<typeof scripted>[0] = steps): ReturnType<typeof agent> =>
      agent({ name: "a", model: scripted(said), tools: [add], executor: { execute: works } });
    const journal = memoryJournal();
    const first = await make().run("go", { journal });
    const again = await make().run("go", { journal: memoryJournal(journal.records) });
    expect(resultsOf(again)).toEqual(resultsOf(first));
    expect(resultsOf(first)).toMatchObject([
      ["ok", expect.any(String)],
      ["ok", expect.any(String)],
    ]);
    expect(works).toHaveBeenCalledTimes(1);
    expect(add.calls).toHaveLength(1);
    const crashed = journal.records.filter(
      ({ key }) => !key.includes("executor") && !key.startsWith("turn/2") && key !== "end",
    );
    const resumed = await make(["done"]).run("go", { journal: memoryJournal(crashed) });
    expect(resultsOf(resumed)).toEqual(resultsOf(first));
    expect(works).toHaveBeenCalledTimes(2);
    expect(add.calls).toHaveLength(1);
  });

  it("replays a failure of its own as well [C3.2]", async () => {
    const execute_ = vi.fn<Executor["execute"]>(() => []);
    const make = (): ReturnType<typeof agent> =>
      agent({
        name: "a",
        model: scripted([{ calls: [call("double", { n: 1 })] }]),
        tools: [double],
        executor: { execute: execute_ },
      });
    const journal = memoryJournal();
    const first = await make().run("go", { journal });
    const again = await make().run("go", { journal: memoryJournal(journal.records) });
    expect(again.outcome).toEqual(first.outcome);
    expect(again.outcome).toMatchObject({ type: "failed", code: "executor-result-invalid" });
    expect(execute_).toHaveBeenCalledTimes(1);
  });

  it("starts no call while the model still writes, and tells the ends in the order of the calls [C3.2]", async () => {
    const order: string[] = [];
    const look = tool({
      name: "look",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      execute: () => void order.push("looked"),
    });
    const noting: Executor = {
      execute(calls, context) {
        order.push(`given ${calls.length}`);
        return plain.execute(calls, context);
      },
    };
    const calls = [call("look"), call("look")];
    for await (const event of agent({
      name: "a",
      model: scripted([{ calls }, "done"]),
      tools: [look],
      executor: noting,
    }).stream("go"))
      if (event.type === "tool-end") order.push(`end ${event.callId}`);
    expect(order).toEqual([
      "given 2",
      "looked",
      "looked",
      expect.stringMatching(/^end/),
      expect.stringMatching(/^end/),
    ]);
  });

  it("serves execute() too, where a broken contract is thrown [C3.2]", async () => {
    const calls = [{ type: "tool-call", id: "one", name: "double", arguments: { n: 2 } } as const];
    expect(await execute({ calls, tools: [double], executor: plain })).toMatchObject([
      { callId: "one", status: "ok", value: 4 },
    ]);
    await expect(execute({ calls, tools: [double], executor: { execute: () => [] } })).rejects.toMatchObject({
      code: "executor-result-invalid",
      data: { call: "one" },
    });
  });

  it("must be one [C9.2]", () => {
    expect(() => agent({ name: "a", model: () => "", executor: {} as Executor })).toThrow(/executor/);
  });
});
