import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type AgentEvent, memoryJournal, skill, tool, WritError } from "../../src/index.ts";
import {
  type ArgumentFailure,
  escalate,
  fix,
  fixed,
  type Recovery,
  retry,
  throwException,
  unrecoverable,
} from "../../src/tools.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import type { Json, JsonObject } from "../../src/util/json.ts";

const calling = (name: string, given: JsonObject | string): ScriptStep => ({
  calls: [{ name, arguments: given }],
});

/** A tool that saves notes and remembers them. */
function notebook(recover?: Recovery): { saved: string[]; save: ReturnType<typeof tool> } {
  const saved: string[] = [];
  const save = tool({
    name: "save",
    description: "Save a note",
    inputSchema: z.object({ text: z.string(), stars: z.int() }),
    recover,
    execute: ({ text, stars }) => {
      saved.push(`${text} ${stars}`);
      return `saved ${text}`;
    },
  });
  return { saved, save };
}

/** A tool that throws so many times and then works. */
function flaky(failures: number, recover?: Recovery): { runs: () => number; fetch: ReturnType<typeof tool> } {
  let runs = 0;
  const fetch = tool({
    name: "fetch",
    description: "Fetch a page",
    inputSchema: z.object({}),
    recover,
    execute: () => {
      runs += 1;
      if (runs <= failures) throw new Error(`refused ${runs}`);
      return `page ${runs}`;
    },
  });
  return { runs: () => runs, fetch };
}

async function eventsOf(stream: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  return Array.fromAsync(stream);
}

/** The results of a run's own calls, without those of the runs inside it. */
const endsOf = (events: readonly AgentEvent[]): unknown[] =>
  events.flatMap((event) =>
    event.type === "tool-end" && event.parentRunId === undefined ? [event.result] : [],
  );

describe("wrong arguments", () => {
  it("case 9: the handler gets the raw text and an error that names the field; what it fixes runs once, without another model call [E2, E6, E1.1, T4.4]", async () => {
    const seen: [string, ArgumentFailure][] = [];
    const { saved, save } = notebook({
      invalidArguments: (raw, failure) => {
        expect(saved).toEqual([]);
        seen.push([raw, failure]);
        return fixed('{"text":"milk","stars":3}');
      },
    });
    const wrong: (JsonObject | string)[] = [
      { text: "milk" },
      { text: "milk", stars: "many" },
      '{"text":"milk","stars":3,',
    ];
    for (const given of wrong) {
      seen.length = 0;
      saved.length = 0;
      const model = scripted([calling("save", given), "Done."], { whenDone: "throw" });
      const events = await eventsOf(agent({ name: "a", model, tools: [save] }).stream("save milk"));
      const raw = typeof given === "string" ? given : JSON.stringify(given);
      const kind = typeof given === "string" ? "unreadable" : "mismatch";
      expect(seen).toMatchObject([[raw, { type: kind, tool: "save", round: 0 }]]);
      if (kind === "mismatch") expect(seen[0]?.[1].message).toContain("stars");
      expect(saved).toEqual(["milk 3"]);
      expect(model.requests).toHaveLength(2);
      expect(endsOf(events)).toMatchObject([{ status: "ok", text: "saved milk" }]);
    }
  });

  it("case 10: a fixed value that breaks the schema goes round, at most 8 times, and never to the tool [E3]", async () => {
    let asked = 0;
    const { saved, save } = notebook({
      invalidArguments: () => {
        asked += 1;
        return fixed(asked === 3 ? '{"text":"milk","stars":1}' : '{"text":"milk","stars":"many"}');
      },
    });
    const shopper = agent({
      name: "a",
      model: () => ({ calls: [{ name: "save", arguments: {} }] }),
      tools: [save],
      budget: { turns: 1 },
    });
    await shopper.run("save milk");
    expect([asked, saved]).toEqual([3, ["milk 1"]]);

    saved.length = 0;
    const stubborn = await shopper.run("save milk");
    expect(asked).toBe(11);
    expect(saved).toEqual([]);
    expect(stubborn.outcome).toMatchObject({ type: "failed", code: "tool-failed" });
    expect(stubborn.error?.message).toContain(
      "Tool 'save' received invalid arguments, and argument recovery exceeded 8 repair steps",
    );
  });

  it("are mended by an agent, plain or with a model, whose usage is part of the run's", async () => {
    const plain = agent({
      name: "commas",
      skills: [
        skill({
          name: "mend",
          description: "",
          execute: (text) => String(text).replaceAll(/,(?=\s*[}\]])/g, ""),
        }),
      ],
    });
    const mind = scripted([
      { text: '{"text":"milk","stars":3}', usage: { inputTokens: 30, outputTokens: 12 } },
    ]);
    const spent: number[] = [];
    for (const fixer of [plain, agent({ name: "mender", model: mind })]) {
      const { saved, save } = notebook({ invalidArguments: () => fix(fixer) });
      const model = scripted([calling("save", '{"text":"milk","stars":3,}'), "Done."]);
      const result = await agent({ name: "a", model, tools: [save] }).run("save milk");
      expect(result.text).toBe("Done.");
      expect(saved).toEqual(["milk 3"]);
      spent.push(result.usage.inputTokens + result.usage.outputTokens);
    }
    expect(spent.map((tokens) => tokens - (spent[0] ?? 0))).toEqual([0, 42]);
    expect(JSON.stringify(mind.requests[0]?.messages)).toContain("stars");
  });

  it("are judged by the policy as they are after they were mended", async () => {
    const { saved, save } = notebook({ invalidArguments: () => fixed({ text: "secret", stars: 5 }) });
    const model = scripted([calling("save", {}), "Done."]);
    const careful = agent({
      name: "a",
      model,
      tools: [save],
      policy: (call) =>
        JSON.stringify(call.arguments).includes("secret")
          ? { verdict: "deny", rule: "secrets", reason: "it is a secret" }
          : { verdict: "allow", rule: "secrets", reason: "it is none" },
    });
    await careful("save it");
    expect(saved).toEqual([]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ status: "denied" });
  });

  it("are mended once: a replay asks no handler", async () => {
    let asked = 0;
    const { save } = notebook({ invalidArguments: () => ((asked += 1), fixed({ text: "milk", stars: 3 })) });
    const shopper = agent({ name: "a", model: scripted([calling("save", {}), "Done."]), tools: [save] });
    const journal = memoryJournal();
    const first = await shopper.run("save milk", { journal });
    const again = await shopper.run("save milk", { journal: memoryJournal(journal.records) });
    expect(again.transcript.toJSON()).toEqual(first.transcript.toJSON());
    expect([asked, again.text]).toEqual([1, "Done."]);
  });
});

describe("a tool that throws", () => {
  it("case 12: it runs again as often as said and ends once; when it never works, the error names tool and count [E3, E6]", async () => {
    const { runs, fetch } = flaky(2, { executionFailed: () => retry(3) });
    const steps = [calling("fetch", {}), "Read."];
    const events = await eventsOf(
      agent({ name: "a", model: scripted(steps), tools: [fetch] }).stream("read"),
    );
    expect(runs()).toBe(3);
    expect(endsOf(events)).toMatchObject([{ status: "ok", text: "page 3" }]);

    const down = flaky(99, { executionFailed: () => retry(3) });
    const model = scripted(steps);
    const reader = agent({ name: "a", model, tools: [down.fetch] });
    await expect(reader("read")).rejects.toMatchObject({
      code: "tool-failed",
      message: "Tool 'fetch' failed after 3 retries: refused 4",
      cause: { message: "refused 1" },
    });
    expect([down.runs(), model.requests.length]).toEqual([4, 1]);
  });

  it("a fixed value stands in the place of the result, and must match the output schema like it", async () => {
    const count = (value: Json): ReturnType<typeof tool> =>
      tool({
        name: "count",
        description: "",
        inputSchema: z.object({}),
        outputSchema: z.int(),
        recover: { executionFailed: () => fixed(value) },
        execute: () => {
          throw new Error("no counter");
        },
      });
    for (const [value, status] of [
      [7, "ok"],
      ["seven", "error"],
    ] as const) {
      const model = scripted([calling("count", {}), "Counted."]);
      const events = await eventsOf(agent({ name: "a", model, tools: [count(value)] }).stream("count"));
      expect(endsOf(events)).toMatchObject([{ status }]);
    }
  });

  it("case 13: a fixer that calls escalate: the model is told and calls again with other arguments [E3, E5, T11]", async () => {
    const parsed: string[] = [];
    const corrected = '{"name":"world"}';
    const fixer = agent({
      name: "json-fixer",
      model: scripted([calling("escalate", { reason: `Unquoted keys. Corrected: ${corrected}` })]),
      tools: [escalate],
    });
    const parse = tool({
      name: "parse",
      description: "",
      inputSchema: z.object({ json: z.string() }),
      recover: { executionFailed: () => fix(fixer, { attempts: 2 }) },
      execute: ({ json }) => {
        parsed.push(json);
        return Object.keys(JSON.parse(json) as object).length;
      },
    });
    const model = scripted([
      calling("parse", { json: "{name: world}" }),
      calling("parse", { json: corrected }),
      "1",
    ]);
    expect(await agent({ name: "a", model, tools: [parse], markResults: false })("count")).toBe("1");
    expect(parsed).toEqual(["{name: world}", corrected]);
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      text: `ERROR: Tool 'parse' failed: Unquoted keys. Corrected: ${corrected} (severity: HIGH). Please retry with corrected arguments.`,
    });
  });

  it("case 13: a fixer that calls throwException ends the run at once, whatever attempts are left [E5, T11]", async () => {
    const mind = scripted([calling("throwException", { reason: "binary data" }), "never"]);
    const fixer = agent({ name: "json-fixer", model: mind, tools: [escalate, throwException] });
    const { runs, fetch } = flaky(99, { executionFailed: () => fix(fixer, { attempts: 5 }) });
    const model = scripted([calling("fetch", {}), "never"]);
    const reader = agent({ name: "a", model, tools: [fetch] });
    const events = await eventsOf(reader.stream("read"));
    expect(events.at(-1)).toMatchObject({
      type: "run-end",
      outcome: {
        type: "failed",
        code: "tool-failed",
        message: "Tool 'fetch' failed and cannot be recovered: binary data",
      },
    });
    expect(endsOf(events)).toMatchObject([{ status: "error" }]);
    expect([runs(), mind.requests.length, model.requests.length]).toEqual([1, 1, 1]);

    const alone = await fixer
      .with({ model: scripted([calling("throwException", { reason: "no" })]) })
      .run("x");
    expect(alone).toMatchObject({ outcome: { type: "failed", code: "tool-unrecoverable" }, turns: 1 });
  });

  it("a handler that throws on purpose escalates, as a fixer does [E5]", async () => {
    const { fetch } = flaky(99, {
      executionFailed: () => {
        throw new WritError("tool-escalated", { reason: "ask again", severity: "low" });
      },
    });
    const model = scripted([calling("fetch", {}), "Told."]);
    const { text } = await agent({ name: "a", model, tools: [fetch] }).run("read");
    expect(text).toBe("Told.");
    expect(JSON.stringify(model.requests[1])).toContain("ask again (severity: LOW)");
  });

  it("a plain fixer judges by throwing, and one that only fails uses up its attempts [E5]", async () => {
    const judge = (error: () => Error) => {
      let asked = 0;
      const execute = (): never => {
        asked += 1;
        throw error();
      };
      const fixer = agent({ name: "judge", skills: [skill({ name: "judge", description: "", execute })] });
      return { fixer, asked: () => asked };
    };
    const soft = judge(() => new WritError("tool-escalated", { reason: "ask again", severity: "low" }));
    const hard = judge(() => new WritError("tool-unrecoverable", { reason: "no page" }));
    const moody = judge(() => new Error("not today"));
    const outcomes: unknown[] = [];
    for (const { fixer } of [soft, hard, moody]) {
      const { fetch } = flaky(99, { executionFailed: () => fix(fixer, { attempts: 3 }) });
      const model = scripted([calling("fetch", {}), "Told."]);
      const { outcome, error, transcript } = await agent({ name: "a", model, tools: [fetch] }).run("read");
      outcomes.push(outcome.type === "answered" ? JSON.stringify(transcript) : error?.message);
    }
    expect(outcomes).toEqual([
      expect.stringContaining(
        "ERROR: Tool 'fetch' failed: ask again (severity: LOW). Please retry with corrected arguments.",
      ),
      "Tool 'fetch' failed and cannot be recovered: no page",
      expect.stringMatching(
        /^Tool 'fetch' failed and cannot be recovered: the fixer 'judge' failed 3 times: .*not today/,
      ),
    ]);
    expect([soft, hard, moody].map(({ asked }) => asked())).toEqual([1, 1, 3]);
  });

  it("case 14: the tool's own rule comes before the agent's for its name, and that before the default; without any the model is told [E4]", async () => {
    const rule = (name: string): Recovery => ({ executionFailed: () => fixed(`by ${name}`) });
    const nothing: Recovery = { invalidArguments: () => unrecoverable() };
    const answers: (string | undefined)[] = [];
    const rules = { tools: { fetch: rule("name") }, default: rule("default") };
    for (const [own, recover] of [
      [rule("tool"), rules],
      [undefined, rules],
      [undefined, { default: rule("default") }],
      [nothing, rules],
      [undefined, undefined],
    ] as const) {
      const { fetch } = flaky(99, own);
      const model = scripted([calling("fetch", {}), "Told."]);
      const { transcript } = await agent({ name: "a", model, tools: [fetch], recover }).run("read");
      answers.push(
        transcript.messages.flatMap((message) => (message.role === "tool" ? [message.text] : []))[0],
      );
    }
    const original = "Tool 'fetch' failed: refused 1";
    expect(answers).toEqual(["by tool", "by name", "by default", original, original]);

    const strict = agent({
      name: "a",
      model: scripted([calling("fetch", {})]),
      tools: [flaky(99).fetch],
      endOn: ["tool-failure"],
    });
    await expect(strict("read")).rejects.toMatchObject({
      code: "tool-failed",
      message: original,
      cause: { message: "refused 1" },
    });
  });

  it("case 30: the exhausted budget of a nested agent comes to no handler and ends the run [T12, E3]", async () => {
    let asked = 0;
    const recover: Recovery = { executionFailed: () => ((asked += 1), fixed("swallowed")) };
    const inner = agent({
      name: "inner",
      model: scripted([calling("look", {})]),
      tools: [fakeTool("look", "nothing")],
      budget: { turns: 2 },
    });
    let runs = 0;
    const research = tool({
      name: "research",
      description: "",
      inputSchema: z.object({}),
      recover,
      execute: () => {
        runs += 1;
        return inner("look");
      },
    });
    const model = scripted([calling("research", {}), "never"]);
    const result = await agent({
      name: "outer",
      model,
      tools: [research],
      recover: { default: recover },
    }).run("go");
    expect([asked, runs, model.requests.length]).toEqual([0, 1, 1]);
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 2 });
  });

  it("goes on no longer than the tool's time", async () => {
    let runs = 0;
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: z.object({}),
      timeoutMs: 60,
      recover: { executionFailed: () => retry(1000) },
      execute: async () => {
        runs += 1;
        await sleep(15);
        throw new Error("down");
      },
    });
    const model = scripted([calling("slow", {}), "It took too long."]);
    expect(await agent({ name: "a", model, tools: [slow] })("go")).toBe("It took too long.");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ status: "timeout" });
    const soFar = runs;
    expect(soFar).toBeLessThan(10);
    await sleep(60);
    expect(runs - soFar).toBeLessThanOrEqual(1);
  });

  it("has timed out when it throws after its time, also where it held up the thread", async () => {
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: z.object({}),
      timeoutMs: 5,
      execute: () => {
        for (const until = Date.now() + 20; Date.now() < until;);
        throw new Error("down");
      },
    });
    const model = scripted([calling("slow", {}), "It took too long."]);
    await agent({ name: "a", model, tools: [slow] })("go");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ status: "timeout" });
  });

  it("is retried once: a replay runs nothing and asks nobody", async () => {
    const { runs, fetch } = flaky(1, { executionFailed: () => retry(3) });
    const reader = agent({ name: "a", model: scripted([calling("fetch", {}), "Read."]), tools: [fetch] });
    const journal = memoryJournal();
    await reader.run("read", { journal });
    const again = await reader.run("read", { journal: memoryJournal(journal.records) });
    expect([runs(), again.text]).toEqual([2, "Read."]);
  });
});

describe("definitions", () => {
  it("say what is wrong with a recovery, and keep the built-in names for the built-in tools [T11]", () => {
    const { save } = notebook();
    const define =
      (recover: unknown): (() => unknown) =>
      () =>
        agent({ name: "a", model: () => "hi", tools: [save], recover: recover as never });
    expect(define({ tools: { sav: {} } })).toThrow('"sav"');
    expect(define({ default: { executionError: () => retry(1) } })).toThrow("executionError");
    const shadow = fakeTool("escalate", "mine");
    expect(() => agent({ name: "a", model: () => "hi", tools: [shadow] })).toThrow('"escalate"');
    expect(agent({ name: "a", model: () => "hi", tools: [escalate, throwException] }).skills).toMatchObject([
      { tools: ["escalate", "throwException"] },
    ]);
    expect(agent({ name: "a", model: () => "hi", tools: [save] }).skills).toMatchObject([
      { tools: ["save"] },
    ]);
  });
});
