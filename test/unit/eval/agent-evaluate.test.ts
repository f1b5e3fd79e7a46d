import { describe, expect, it, vi } from "vitest";
import { agent, ask, deny, memoryBank, policy, skill, tool } from "../../../src/index.ts";
import { pipe } from "../../../src/compose.ts";
import { evaluate, type CaseReport, type EvalCase } from "../../../src/eval.ts";
import type { Executor } from "../../../src/run/executor.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";
import { add, call, clerk, evaluateOne, mail, sent } from "./agent-scene.ts";

const askedFirst = clerk.with({ policy: policy({ name: "asks", rules: [ask("mail")] }) });
const mailing = [call("mail", { text: "Hello" }), "Done."];

describe("tools in a case", () => {
  it("have the results of the case, and nothing happens in the world", async () => {
    const { run } = await evaluateOne({ replies: mailing, results: { mail: { id: 7 } } });
    expect(run).toMatchObject({ passed: true, calls: [{ tool: "mail", status: "ok", result: '{"id":7}' }] });
    expect(sent).toEqual([]);
  });

  it("have the first result that fits the arguments, and fail with an error of the case", async () => {
    const { run, failures } = await evaluateOne({
      replies: [
        call("add", { a: 1, b: 1 }),
        call("add", { a: 2, b: 2 }),
        call("add", { a: 3, b: 3 }),
        "Done.",
      ],
      results: [
        { tool: "add", with: { a: 1 }, result: "one" },
        { tool: "add", with: { a: 2 }, error: "too many" },
      ],
    });
    expect(run.calls.map(({ status, result }) => [status, result])).toEqual([
      ["ok", "one"],
      ["error", "Tool 'add' failed: too many"],
      ["error", "Tool 'add' failed: there is no result for this call here"],
    ]);
    expect(failures).toEqual(['results.add: none of the results fits add {"a":3,"b":3}']);
  });

  it("do not run where they change something and have no result: that fails the run, unless it is allowed", async () => {
    const { failures } = await evaluateOne({ replies: mailing });
    expect(failures).toEqual([
      'results.mail: mail {"text":"Hello"} would have changed something, and was not carried out: give it a result, or use --allow-effects',
    ]);
    expect(sent).toEqual([]);
    expect((await evaluateOne({ replies: mailing }, { allowEffects: true })).run.passed).toBe(true);
    expect(sent.splice(0)).toEqual(["Hello"]);
  });

  it("stand under policy, schema and approvals as they do elsewhere [C43]", async () => {
    const fields = { replies: mailing, results: { mail: "sent" } };
    const denied = { calls: [{ tool: "mail", status: "denied" as const }] };
    const allowed = { calls: ["mail"] };
    const fails = async (more: Partial<EvalCase>): Promise<number> =>
      (await evaluateOne({ ...fields, ...more }, { agent: askedFirst })).failures.length;
    expect(await fails({ expect: denied })).toBe(0);
    expect(await fails({ expect: allowed })).toBe(1);
    expect(await fails({ expect: allowed, approve: ["mail"] })).toBe(0);
    expect(await fails({ expect: allowed, approve: true })).toBe(0);
    expect(await fails({ expect: denied, approve: ["add"] })).toBe(0);
  });

  it("are replaced wherever they are listed: in collections, skills and what skills read", async () => {
    const deep = fakeTool("deep", "real");
    const named = fakeTool("named", "real");
    const subject = agent({
      name: "nested",
      model: scripted([{ calls: [{ name: "deep" }, { name: "named" }] }, "Done."]),
      tools: [named],
      skills: [skill({ name: "work", description: "", tools: [[[deep]], "named"] })],
    });
    const { run } = await evaluateOne({ results: { deep: "fixed", named: "fixed" } }, { agent: subject });
    expect(run.calls.map(({ result }) => result)).toEqual(["fixed", "fixed"]);
    expect([deep.calls, named.calls]).toEqual([[], []]);
  });

  it("are replaced where they belong to the agent, and where one stands in two lists", async () => {
    const auto = fakeTool("auto", "real", { effect: "irreversible" });
    const both = fakeTool("both", "real");
    const subject = agent({
      name: "owner",
      model: scripted([{ calls: [{ name: "auto" }, { name: "both" }] }, "Done."]),
      autoTools: [auto, [both]],
      skills: [skill({ name: "work", description: "", tools: [both] })],
    });
    const { run, failures } = await evaluateOne({ results: { both: "fixed" } }, { agent: subject });
    expect(run.calls.at(-1)?.result).toBe("fixed");
    expect(failures).toEqual([expect.stringContaining("results.auto: auto {} would have changed something")]);
    expect([auto.calls, both.calls]).toEqual([[], []]);
  });

  it("are not given to an executor of the agent, which carries out the others", async () => {
    const given: string[][] = [];
    const executor: Executor = {
      execute(calls) {
        given.push(calls.map(({ name }) => name));
        return calls.map(({ id }) => ({ callId: id, value: "elsewhere" }));
      },
    };
    const look = fakeTool("look", "real", { effect: "read" });
    const paying = { calls: [{ name: "pay" }] };
    const model = scripted([{ calls: [{ name: "look" }, ...paying.calls] }, paying, "Done."]);
    const pay = fakeTool("pay", "real", { effect: "irreversible" });
    const subject = agent({ name: "remote", model, tools: [look, pay], executor });
    const { run } = await evaluateOne({ results: { pay: "fixed" }, approve: true }, { agent: subject });
    expect(given).toEqual([["look"]]);
    expect(run.calls.map(({ result }) => result)).toEqual(["elsewhere", "fixed", "fixed"]);
  });
});

describe("evaluate()", () => {
  it.each<[unknown, object, string]>([
    ["desk", {}, "evaluate(): `agent` must be an agent, got a string."],
    [undefined, {}, "evaluate(): `agent` must be an agent, got nothing."],
    [clerk, { allowEffects: "no" }, "evaluate(): `allowEffects` must be true or false, got a string."],
  ])("refuses what is no agent, and options of another form: %j %j", async (given, options, message) => {
    const made = evaluate(given as typeof clerk, [{ name: "a", input: "?", replies: ["Hi"] }], options);
    await expect(made).rejects.toMatchObject({ code: "definition-invalid", message });
  });
});

describe("a case", () => {
  it("goes on with a conversation", async () => {
    const subject = agent({
      name: "talker",
      model: ({ messages }) => messages.map(({ role }) => role).join(" "),
    });
    const { run } = await evaluateOne(
      {
        input: [
          { role: "user", text: "I am Kim." },
          { role: "assistant", text: "Hello Kim." },
          { role: "user", text: "Who am I?" },
        ],
      },
      { agent: subject },
    );
    expect(run.answer).toMatch(/user assistant user$/);
  });

  it("has an empty memory in each run, and leaves nothing in that of the agent", async () => {
    const bank = memoryBank();
    await bank.write("writer", "secret");
    const model = scripted([
      call("memory_read", {}),
      call("memory_write", { content: "seen" }),
      call("memory_read", {}),
      "Done.",
    ]);
    const subject = agent({ name: "writer", model, memory: bank, tools: [] });
    const { run } = await evaluateOne({}, { agent: subject });
    expect(run.calls.map(({ result }) => result)).not.toContain("secret");
    expect(run.calls.at(-1)?.result).toContain("seen");
    expect(await bank.read("writer")).toBe("secret");
  });

  it("passes with the share of runs that it wants [C43]", async () => {
    let count = 0;
    const model = (): string => ((count += 1) % 4 === 0 ? "no" : "yes");
    const subject = agent({ name: "moody", model });
    const fields = { runs: 8, expect: { answer: { equals: "yes" } } };
    const { report } = await evaluateOne({ ...fields, atLeast: 0.75 }, { agent: subject });
    expect(report.cases[0]).toMatchObject({ status: "passed", wanted: 8, passedRuns: 6 });
    expect((await evaluateOne({ ...fields, atLeast: 0.8 }, { agent: subject })).report).toMatchObject({
      passed: false,
      counts: { passed: 0, failed: 1, notRun: 0 },
    });
  });

  it("is not over by a share that floating point makes larger", async () => {
    let count = 0;
    const subject = agent({ name: "moody", model: () => ((count += 1) > 14 ? "no" : "yes") });
    expect(0.56 * 25).toBeGreaterThan(14);
    const fields = { runs: 25, atLeast: 0.56, expect: { answer: { equals: "yes" } } };
    expect((await evaluateOne(fields, { agent: subject })).report.passed).toBe(true);
  });

  it("fails with the reason when the run throws", async () => {
    const broken = agent({
      name: "broken",
      model: () => {
        throw new Error("the provider is away");
      },
      retry: false,
    });
    const { run, failures } = await evaluateOne(
      { expect: { calls: [] as never[] } },
      { agent: broken },
    ).catch(() => evaluateOne({}, { agent: broken }));
    expect(run).toMatchObject({ outcome: "failed", error: { code: "provider-failed" } });
    expect(failures[0]).toContain("the provider is away");
  });

  it("is told as soon as it has ended, and the report keeps the order of the cases", async () => {
    const told: CaseReport[] = [];
    const subject = agent({
      name: "slow",
      model: async ({ messages }) => {
        const last = messages.at(-1);
        const isSlow = last?.role === "user" && JSON.stringify(last).includes("slow");
        await new Promise((resolve) => void setTimeout(resolve, isSlow ? 60 : 1));
        return "yes";
      },
    });
    const cases = ["slow", "quick"].map((name) => ({ name, input: name }));
    const report = await evaluate(subject, cases, { onCase: (one) => told.push(one) });
    expect(told.map(({ name }) => name)).toEqual(["quick", "slow"]);
    expect(report.cases.map(({ name }) => name)).toEqual(["slow", "quick"]);
  });

  it("runs beside as many others as the evaluation allows, by default one", async () => {
    const most = async (concurrency?: number): Promise<number> => {
      let now = 0;
      let most = 0;
      const subject = agent({
        name: "counted",
        model: async () => {
          most = Math.max(most, (now += 1));
          await new Promise((resolve) => void setTimeout(resolve, 5));
          now -= 1;
          return "yes";
        },
      });
      await evaluate(
        subject,
        [{ name: "many", input: "Go", runs: 9 }],
        concurrency === undefined ? {} : { concurrency },
      );
      return most;
    };
    expect(await most()).toBe(2);
    expect(await most(4)).toBe(4);
    expect(await most(Number.MAX_SAFE_INTEGER)).toBe(9);
    await expect(evaluate(clerk, [{ name: "one", input: "" }], { concurrency: 0 })).rejects.toMatchObject({
      code: "option-invalid",
    });
  });

  it("that was stopped counts for nothing, and those that ended are told", async () => {
    const controller = new AbortController();
    const subject = agent({
      name: "stopped",
      model: async ({ messages }) => {
        if (JSON.stringify(messages).includes("long")) await new Promise(() => undefined);
        return "yes";
      },
    });
    const cases = ["short", "long", "later"].map((name) => ({ name, input: name }));
    const report = await evaluate(subject, cases, {
      concurrency: 1,
      signal: controller.signal,
      onCase: () => void setTimeout(() => controller.abort(), 10),
    });
    expect(report.cases.map(({ status }) => status)).toEqual(["passed", "not-run", "not-run"]);
    expect(report).toMatchObject({ passed: false, counts: { passed: 1, failed: 0, notRun: 2 } });
  });

  it("runs agents put together, of which nothing can be replaced", async () => {
    const chain = pipe(agent({ name: "a", model: () => "one" }), agent({ name: "b", model: () => "two" }));
    const { run } = await evaluateOne(
      { expect: { answer: { equals: "two" }, atMost: { turns: 2 } } },
      { agent: chain },
    );
    expect(run).toMatchObject({ passed: true, turns: 2 });
    await expect(evaluateOne({ replies: ["three"] }, { agent: chain })).rejects.toMatchObject({
      code: "eval-cases-invalid",
    });
  });

  it("has another model where the evaluation names one, and its own script before it", async () => {
    const model = scripted(["from the evaluation"]);
    expect((await evaluateOne({}, { model })).run.answer).toBe("from the evaluation");
    expect((await evaluateOne({ replies: ["from the case"] }, { model })).run.answer).toBe("from the case");
  });
});

describe("a judge", () => {
  const judging = (passes: boolean): ReturnType<typeof scripted> =>
    scripted([JSON.stringify({ reason: "It is short.", passes })]);
  const fields = { replies: ["Short."], expect: { judge: "The answer is short." } };

  it("passes or fails a run, with its reason [TEST-eval]", async () => {
    const judge = judging(true);
    const { run } = await evaluateOne(fields, { judge });
    expect(run).toMatchObject({
      passed: true,
      verdict: { passes: true, reason: "It is short.", advisory: false },
    });
    const [question] = judge.requests;
    expect(JSON.stringify(question?.messages)).toContain("The answer is short.");
    expect((await evaluateOne(fields, { judge: judging(false) })).failures).toEqual(["judge: It is short."]);
  });

  it("that only advises fails no run [TEST-eval]", async () => {
    const advisory = { ...fields, expect: { judge: { rubric: "Is it short?", advisory: true } } };
    expect((await evaluateOne(advisory, { judge: judging(false) })).run).toMatchObject({
      passed: true,
      verdict: { passes: false, advisory: true },
    });
  });

  it("that gives no verdict fails the run and says why", async () => {
    const { failures } = await evaluateOne(fields, { judge: scripted(["I would say yes."]) });
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(/^judge: the judge gave no verdict: /);
  });

  it("is not asked about an answer that is not there", async () => {
    const judge = judging(true);
    const short = clerk.with({ budget: { turns: 1 } });
    await evaluateOne({ ...fields, replies: [call("add", { a: 1, b: 2 })] }, { judge, agent: short });
    expect(judge.requests).toEqual([]);
  });
});

describe("what was recorded", () => {
  const live = agent({
    name: "live",
    model: scripted([
      { ...call("add", { a: 1, b: 2 }), usage: { inputTokens: 9, outputTokens: 3 } },
      "3",
      "wrong",
    ]),
    tools: [add, mail],
  });
  const judge = scripted(['{"reason":"It is 3.","passes":true}', '{"reason":"It is wrong.","passes":false}']);
  const fields = { input: "1 + 2?", expect: { judge: "It is 3.", calls: ["add"] } };

  it("plays again what the models said, the judge too, and notices when they would be asked something else", async () => {
    const first = await evaluateOne(fields, { agent: live, judge, record: true });
    const recorded = [first.run.recorded ?? {}];
    expect(JSON.parse(JSON.stringify(recorded))).toEqual(recorded);
    const off = live.with({
      model: () => {
        throw new Error("asked");
      },
    });
    const again = await evaluateOne({ ...fields, recorded }, { agent: off });
    const { durationMs: _one, recorded: _kept, ...before } = first.run;
    const { durationMs: _two, ...after } = again.run;
    expect(after).toEqual(before);
    expect(again.run).not.toHaveProperty("outdated");
    const changed = off.with({ instructions: "Another agent." });
    expect((await evaluateOne({ ...fields, recorded }, { agent: changed })).run).toMatchObject({
      passed: true,
      outdated: true,
    });
  });

  it("has no secret of the environment, and is played again without a difference", async () => {
    vi.stubEnv("SHOP_TOKEN", "s3cret-of-the-shop");
    const shop = tool({
      name: "shop",
      description: "",
      inputSchema: { type: "object", properties: { at: { type: "string" } } },
      effect: "read",
      execute: () => "Use s3cret-of-the-shop.",
    });
    const model = scripted([call("shop", { at: "s3cret-of-the-shop" }), "It is s3cret-of-the-shop."]);
    const subject = agent({ name: "keeper", model, tools: [shop] });
    const expecting = { expect: { snapshot: true } };
    const first = await evaluateOne(expecting, { agent: subject, record: true });
    const recorded = [first.run.recorded ?? {}];
    expect(JSON.stringify(recorded)).not.toContain("s3cret");
    expect(JSON.stringify(recorded)).toContain("It is [secret SHOP_TOKEN].");
    const again = await evaluateOne({ ...expecting, recorded }, { agent: subject });
    expect(again.run).toMatchObject({ passed: true });
    expect(again.run).not.toHaveProperty("outdated");
    vi.unstubAllEnvs();
  });

  it("is a snapshot, where the case wants that: what the agent's code makes of the same replies [TEST-eval]", async () => {
    const subject = agent({
      name: "snap",
      model: scripted([call("add", { a: 1, b: 2 }), "3"]),
      tools: [add],
    });
    const first = await evaluateOne({ expect: { snapshot: true } }, { agent: subject, record: true });
    const recorded = [first.run.recorded ?? {}];
    const again = (changed: Parameters<typeof subject.with>[0]): Promise<string[]> =>
      evaluateOne({ recorded, expect: { snapshot: true } }, { agent: subject.with(changed) }).then(
        ({ failures }) => failures,
      );
    expect(await again({})).toEqual([]);
    expect(await again({ tools: [{ ...add, execute: () => 4 }] })).toEqual([
      expect.stringMatching(/^snapshot: call 1 was \{.*"result":"3"\}, and is \{.*"result":"4"\}; --record/),
    ]);
    expect(await again({ policy: policy({ name: "no", rules: [deny("add")] }) })).toEqual([
      expect.stringContaining('"status":"denied"'),
    ]);
    const more = scripted([call("add", { a: 1, b: 2 }), call("add", { a: 1, b: 2 }), "3"]);
    const { failures } = await evaluateOne(
      { recorded: [{ snapshot: recorded[0]?.snapshot }], expect: { snapshot: true } },
      { agent: subject, model: more },
    );
    expect(failures).toEqual([expect.stringMatching(/^snapshot: call 2 is new: /)]);
    expect(await again({ hooks: [{ afterRun: () => ({ output: "four" }) }] })).toEqual([
      'snapshot: the answer was "3", and is "four"; --record takes it as it is now',
    ]);
  });
});

it("says what is wrong with cases that are none, a promise of them too", async () => {
  const refusal = async (cases: unknown): Promise<string> => {
    const [settled] = await Promise.allSettled([evaluate(clerk, cases as EvalCase[])]);
    return settled?.status === "rejected" ? String(settled.reason) : "it was evaluated";
  };
  expect(await refusal({})).toContain(
    "WritError: evaluate(): `cases` must be a list of cases, got an object",
  );
  expect(await refusal([null])).toContain("WritError: evaluate(): `cases[0]` must be an object, got null");
  expect(await refusal(Promise.resolve([]))).toContain("got a promise (`await` it)");
});
