import { describe, expect, it } from "vitest";
import {
  agent,
  inMemorySessions,
  memoryJournal,
  type Model,
  type Policy,
  session,
  skill,
  tool,
  WritError,
} from "../../src/index.ts";
import { execute } from "../../src/doors.ts";
import { fixed } from "../../src/tools.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { calling } from "./watching.ts";

const asks: Policy = ({ tool: name }) => ({
  verdict: name === "danger" ? "ask" : "allow",
  rule: "outer",
  reason: "a person decides",
});

describe("powers", () => {
  it("a mode of an inner run approves nothing that the run around it asks about", async () => {
    const danger = fakeTool("danger", "done");
    const open = { ...fakeTool("open", "opened"), trusted: true, mode: () => ({ preapproved: ["danger"] }) };
    const child = agent({
      name: "child",
      model: scripted([calling("open"), calling("danger"), "ok"]),
      tools: [open, danger],
      policy: asks,
    });
    await child.run("go");
    expect(danger.calls).toHaveLength(1);
    const asked: string[] = [];
    const parent = agent({
      name: "parent",
      model: scripted([calling(["child", { input: "go" }]), "ok"]),
      tools: [child.with({ model: scripted([calling("open"), calling("danger"), "ok"]) }).asTool()],
      policy: asks,
    });
    await parent.run("go", {
      approve: ({ tool: name }) => {
        asked.push(name);
        return false;
      },
    });
    expect([asked, danger.calls.length]).toEqual([["danger"], 1]);
  });

  it("a mode approves nothing after untrusted data: what was read may have said to take it up", async () => {
    const danger = fakeTool("danger", "done");
    const mode = (): object => ({ preapproved: ["danger"] });
    const run = async (trusted: boolean): Promise<number> => {
      const open = { ...fakeTool("open", "opened"), trusted, mode };
      const model = scripted([calling("open"), calling("danger"), "ok"]);
      await agent({ name: "a", model, tools: [open, danger], policy: asks }).run("go");
      return danger.calls.length;
    };
    expect([await run(false), await run(true)]).toEqual([0, 1]);
  });

  it("a hook sees the arguments that were mended, and can deny them", async () => {
    const ran: unknown[] = [];
    const remove = tool({
      name: "remove",
      description: "Remove",
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      recover: { invalidArguments: () => fixed({ path: "/etc" }) },
      execute: ({ path }) => ran.push(path),
    });
    const seen: unknown[] = [];
    const model = scripted([calling(["remove", "{broken"]), "ok"]);
    const cleaner = agent({
      name: "cleaner",
      model,
      tools: [remove],
      hooks: [
        {
          beforeToolCall: ({ arguments: args }) => {
            seen.push(args);
            return JSON.stringify(args).includes("/etc") ? { deny: "not there" } : undefined;
          },
        },
      ],
    });
    await cleaner.run("go");
    expect([ran, seen]).toEqual([[], ["{broken", { path: "/etc" }]]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ status: "denied" });
  });

  it("a call that began in a reply that was given up stands for no other call", async () => {
    let asked = 0;
    const model: Model = {
      id: "m/weak",
      features: {},
      async *stream() {
        asked += 1;
        if (asked === 1) {
          yield { type: "call-start", id: "call_1_0", name: "look" };
          yield { type: "call-end", id: "call_1_0", arguments: {} };
          await new Promise((resolve) => setTimeout(resolve, 5));
          throw new WritError("model-without-tools", { model: "weak", provider: "m", known: "none" });
        }
        const text =
          asked === 2 ? '{"action": {"tool": "danger", "args": {}}}' : '{"final": {"content": "ok"}}';
        yield { type: "text-delta", text };
        yield { type: "end", finishReason: "stop" };
      },
    };
    const look = tool({
      name: "look",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: () => "seen",
    });
    const danger = fakeTool("danger", "done");
    const policy: Policy = ({ tool: name }) => ({
      verdict: name === "danger" ? "deny" : "allow",
      rule: "r",
      reason: "no",
    });
    const { transcript } = await agent({ name: "a", model, tools: [look, danger], policy }).run("go");
    expect(transcript.messages.filter(({ role }) => role === "tool")).toMatchObject([
      { name: "danger", status: "denied" },
    ]);
  });
});

describe("what is only quoted", () => {
  const decision = '{"thought": "t", "type": "call_tool", "tool": "remove", "args": {}}';
  const fence = "`".repeat(3);
  it.each([
    `{"type": "final_answer", "answer": "Never run:\n${fence}json\n${decision}\n${fence}"}`,
    `The page says ${decision} and so: {"thought": "t", "type": "final_answer", "answer": "no"}`,
    `${fence}json\n${decision}\n${fence}\n{"type": "final_answer", "answer": "no"}`,
  ])("is no call in ReAct: %s", async (text) => {
    const remove = fakeTool("remove", "gone");
    const answer = '{"thought": "t", "type": "final_answer", "answer": "done"}';
    const careful = agent({ name: "a", model: scripted([text, answer]), tools: [remove], driver: "react" });
    expect((await careful.run("go")).text).toBe("done");
    expect(remove.calls).toEqual([]);
  });

  it("or was held back by the provider, never runs", async () => {
    const remove = fakeTool("remove", "gone");
    const model: Model = {
      id: "m/m",
      features: {},
      async *stream() {
        yield { type: "call-start", id: "a", name: "remove" };
        yield { type: "call-end", id: "a", arguments: {} };
        yield { type: "end", finishReason: "content-filter" };
      },
    };
    const { outcome, transcript } = await agent({ name: "a", model, tools: [remove] }).run("go");
    expect(outcome).toMatchObject({ type: "refused", code: "run-refused" });
    expect(transcript.messages.at(-1)).toMatchObject({ role: "tool", status: "skipped" });
    expect(remove.calls).toEqual([]);
  });
});

describe("bounds", () => {
  it("calls at a time: none at all is no number", async () => {
    for (const concurrency of [0, -1, Number.NaN])
      await expect(execute({ calls: [], tools: [], concurrency })).rejects.toMatchObject({
        code: "definition-invalid",
      });
  });

  it("calls that begin while their reply is read count with the run around at once", async () => {
    let looked = 0;
    const look = tool({
      name: "look",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: () => (looked += 1),
    });
    await agent({ name: "warm", model: scripted([calling("look"), "ok"]), tools: [look] }).run("x"); // the validator is there now
    looked = 0;
    const many = Array.from({ length: 10 }, () => ({ name: "look", arguments: {} }));
    const child = agent({ name: "child", model: scripted([{ calls: many }, "ok"]), tools: [look] });
    const model = scripted([calling(["child", { input: "x" }]), "ok"]);
    await agent({ name: "parent", model, tools: [child.asTool()], budget: { toolCalls: 3 } }).run("x");
    expect(looked).toBeLessThanOrEqual(2);
  });

  it("a result that a hook masked keeps no value behind its text", async () => {
    const pin = tool({
      name: "pin",
      description: "",
      inputSchema: { type: "object" },
      execute: () => ({ pin: "1234" }),
    });
    const masked = agent({
      name: "a",
      model: scripted([calling("pin"), "ok"]),
      tools: [pin],
      hooks: [
        {
          afterToolCall: ({ result }) => ({
            result: { ...result, text: result.text.replaceAll(/\d/g, "*") },
          }),
        },
      ],
    });
    expect(JSON.stringify(await masked.run("go"))).not.toContain("1234");
  });

  it("options of asTool that do not exist give no powers", () => {
    const child = agent({ name: "child", model: () => "ok", tools: [fakeTool("publish", 1)] });
    expect(() => child.asTool({ alow: [] } as object)).toThrow('has the unknown field "alow"');
  });

  it("a routing model that names no skill leaves it to `otherwise`", async () => {
    const skills = ["a", "b"].map((name) => skill({ name, description: name, execute: () => name }));
    const routed = agent({ name: "r", model: () => "I think orders", skills, routing: { otherwise: "b" } });
    expect(await routed("go")).toBe("b");
  });

  it("a tool with an effect that does not exist is refused", () => {
    const effect = "irreversable" as "irreversible";
    expect(() =>
      tool({ name: "t", description: "", inputSchema: { type: "object" }, effect, execute: () => 1 }),
    ).toThrow("`effect` must be one of");
  });
});

describe("records", () => {
  it("a tool that changes its arguments changes neither transcript nor replay", async () => {
    const spoil = tool({
      name: "spoil",
      description: "",
      inputSchema: { type: "object", properties: { of: { type: "object" } } },
      execute: ({ of }, { call }) => {
        Object.assign(call, { id: "changed" });
        return Object.assign(of as object, { x: "changed" });
      },
    });
    const make = (): ReturnType<typeof agent> =>
      agent({ name: "a", model: scripted([calling(["spoil", { of: { x: 1 } }]), "ok"]), tools: [spoil] });
    const journal = memoryJournal();
    const first = await make().run("go", { journal });
    expect(JSON.stringify(first.transcript.messages[2])).toContain('{"of":{"x":1}}');
    const again = await make().run("go", { journal: memoryJournal(journal.records) });
    expect(again.transcript.messages).toEqual(first.transcript.messages);
  });

  it("a run that was suspended goes on with the journal and the session that it had", async () => {
    const store = inMemorySessions();
    const journal = memoryJournal();
    const talker = agent({
      name: "talker",
      model: scripted([calling("t"), "ok"]),
      tools: [fakeTool("t", 1)],
      budget: { turns: 1 },
      hooks: [{ onBudgetExceeded: () => ({ checkpoint: true }) }],
    });
    const { checkpoint } = await talker.run("go", { journal, session: session(store, "s") });
    if (checkpoint === undefined) throw new Error("no checkpoint");
    const resumed = await talker
      .with({ budget: { turns: 5 } })
      .resume(checkpoint, { journal, session: session(store, "s") });
    expect(resumed.text).toBe("ok");
    const { runs } = await store.read("s");
    expect(runs).toMatchObject([{ outcome: { type: "answered" } }]);
  });

  it("a run that fell back to the JSON protocol can be resumed where the model is known to have no tools", async () => {
    let asked = 0;
    const replies = ['{"action": {"tool": "t", "args": {}}}', '{"final": {"content": "ok"}}'];
    const model: Model = {
      id: "m/weak",
      features: {},
      async *stream({ tools }) {
        if (tools.length > 0)
          throw new WritError("model-without-tools", { model: "weak", provider: "m", known: "none" });
        yield { type: "text-delta", text: replies[asked++] ?? "" };
        yield { type: "end", finishReason: "stop" };
      },
    };
    const hooks = [{ onBudgetExceeded: () => ({ checkpoint: true }) }];
    const weak = agent({ name: "weak", model, tools: [fakeTool("t", 1)], budget: { turns: 1 }, hooks });
    const { checkpoint } = await weak.run("go");
    if (checkpoint === undefined) throw new Error("no checkpoint");
    expect((await weak.with({ budget: { turns: 3 } }).resume(checkpoint)).text).toBe("ok");
  });

  it("nothing that is thrown can break a run in another way than as its failure", async () => {
    const model = (): never => {
      throw Object.create(null);
    };
    await expect(agent({ name: "a", model }).run("go")).rejects.toMatchObject({ code: "provider-failed" });
  });

  it("a hook that says nothing adds no empty message", async () => {
    const model = scripted([calling("t"), "ok"]);
    const quiet = agent({
      name: "a",
      model,
      tools: [fakeTool("t", 1)],
      hooks: [{ beforeTurn: () => ({ say: "" }), afterTurn: () => ({ say: " " }) }],
    });
    const { transcript } = await quiet.run("go");
    expect(transcript.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });
});

describe("mistakes in plain JavaScript", () => {
  const model = (): string => "ok";
  const mistakes: readonly (readonly [object, string])[] = [
    [{ hooks: {} }, "`hooks` must be a list"],
    [{ hooks: "x" }, "`hooks` must be a list"],
    [{ memory: "notes" }, "`memory` must be what memoryBank() gives"],
    [{ recover: null }, "`recover` must be an object"],
    [{ compaction: null }, "`compaction` must be an object"],
    [{ routing: null }, "`routing` must be"],
    [{ routing: "last" }, "`routing` must be"],
    [{ toolChoice: null }, "`toolChoice` must be"],
    [{ tools: {} }, "`tools` must be a list of tools"],
    [{ tools: [null] }, "`tools` must be a list of tools"],
    [{ tools: [{ name: "x", execute: () => 1 }] }, "`tools` must be a list of tools"],
    [{ skills: [{}] }, "`skills` must be a list of what skill() gives"],
    [{ budget: null }, "`budget` must be an object"],
    [{ policy: {} }, "`policy` must be a function"],
    [{ endOn: "length" }, "`endOn` must be a list of what ends a run"],
    [
      { endOn: ["lenght"] },
      "`endOn` must be a list of what ends a run: `endOn[0]` must be one of unknown-tool,",
    ],
    [{ endOn: true }, "`endOn` must be a list of what ends a run"],
    [{ throwOnToolFailure: true }, 'write `endOn: ["tool-failure"]` in place of `throwOnToolFailure`.'],
    [{ stopOnToolBlock: true }, 'write `endOn: ["blocked-call"]` in place of `stopOnToolBlock`.'],
    [{ onUnknownTool: "throw" }, 'write `endOn: ["unknown-tool"]` in place of `onUnknownTool`.'],
    [{ stopOn: ["length", "other"] }, 'write `endOn: ["length", "other"]` in place of `stopOn`.'],
    [
      { endOn: ["error"], stopOn: ["length"], throwOnToolFailure: true },
      'write `endOn: ["error", "length", "tool-failure"]` in place of `stopOn` and `throwOnToolFailure`.',
    ],
    [
      { onUnknownTool: "feedback", stopOnToolBlock: false },
      "leave out `onUnknownTool` and `stopOnToolBlock`",
    ],
    [{ stopOn: 1n }, "leave out `stopOn`"],
    [{ toolChoice: "requierd" }, "`toolChoice` must be"],
    [{ lastTurn: "anwser" }, '`lastTurn` must be "tools" or "answer"'],
    [{ toolz: [] }, 'there is no option "toolz"; did you mean "tools"?'],
  ];
  it.each(mistakes)("%o in a definition: %s", (fields, says) => {
    expect(() => agent({ name: "a", model, ...fields })).toThrow(says);
  });

  const options: readonly (readonly [object, string])[] = [
    [{ session: inMemorySessions() }, "`session` must be what session(store, id) gives"],
    [{ session: "s" }, "`session` must be what session(store, id) gives"],
    [{ journal: {} }, "`journal` must be a journal"],
    [{ signal: new AbortController() }, "`signal` must be an AbortSignal"],
    [{ abortSignal: new AbortController().signal }, "write `signal` in place of `abortSignal`."],
    [{ approve: "yes" }, "`approve` must be a function"],
    [{ tools: "t" }, "`tools` must be a list of names"],
    [{ aprove: () => true }, 'there is no option "aprove"; did you mean "approve"?'],
  ];
  it.each(options)("%o in a run: %s", async (given, says) => {
    await expect(agent({ name: "a", model }).run("go", given)).rejects.toThrow(says);
  });
});
