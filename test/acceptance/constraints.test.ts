import { describe, expect, it } from "vitest";
import { agent, inMemorySessions, memoryJournal, session, skill, tool } from "../../src/index.ts";
import { execute } from "../../src/doors.ts";
import type { Delta } from "../../src/models.ts";
import type { Constraints } from "../../src/tools.ts";
import { safeLoop } from "../../src/adapters/lower-doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { FakeTool } from "../../src/tool/fake-tool.ts";
import { calling, ofType, resultsIn, roundTrip, watch } from "./watching.ts";

function held(name: string, constraints: Constraints, result: unknown = `${name} done`): FakeTool {
  return { ...fakeTool(name, result), constraints };
}

const tooOften = "Tool 'pay' was denied: it exceeded its maxCalls constraint (2 per run)";
const tooEarly = "Tool 'pay' was denied: it may only be called in a turn after 'login' succeeded";

describe("constraints of a tool", () => {
  it("bound its calls in a run, before hooks are asked, and the model is told and goes on [T8]", async () => {
    const pay = held("pay", { maxCalls: 2 });
    const asked: string[] = [];
    const payer = agent({
      name: "payer",
      model: scripted([calling("pay"), calling("pay"), calling("pay"), "Paid twice."]),
      tools: [pay],
      hooks: [{ beforeToolCall: ({ tool: name }) => void asked.push(name) }],
    });
    const { events, result } = await watch(payer.stream("Pay"));
    expect(result.text).toBe("Paid twice.");
    expect(resultsIn(result.transcript).map(({ text }) => text)).toEqual(["pay done", "pay done", tooOften]);
    expect(pay.calls).toHaveLength(2);
    expect(asked).toHaveLength(2);
    expect(ofType(events, "call-decided").at(-1)?.decision).toMatchObject({
      verdict: "deny",
      rule: "max-calls",
      remedy: "a higher `maxCalls` of the tool",
    });
  });

  it("count the earlier calls of a turn, and no call that did not run [T8]", async () => {
    const pay = tool({
      name: "pay",
      description: "Pays",
      inputSchema: { type: "object", properties: { euro: { type: "number" } }, required: ["euro"] },
      constraints: { maxCalls: 2 },
      execute: ({ euro }) => euro,
    });
    const denyOne = { beforeToolCall: ({ arguments: args }: { arguments: unknown }) => refuseThree(args) };
    const model = scripted([
      calling(
        ["pay", {}],
        ["pay", { euro: 3 }],
        ["pay", { euro: 1 }],
        ["pay", { euro: 2 }],
        ["pay", { euro: 4 }],
      ),
      "Done.",
    ]);
    const { transcript } = await agent({ name: "payer", model, tools: [pay], hooks: [denyOne] }).run("Pay");
    expect(resultsIn(transcript).map(({ status, text }) => (status === "ok" ? text : status))).toEqual([
      "invalid",
      "denied",
      "1",
      "2",
      "denied",
    ]);
  });

  it("forbid a tool altogether, and let one be called only in a turn after another succeeded [T8]", async () => {
    let attempts = 0;
    const login = fakeTool("login", () => {
      attempts += 1;
      if (attempts === 1) throw new Error("wrong password");
      return "in";
    });
    const pay = held("pay", { onlyAfter: ["login"] });
    const erase = held("erase", { maxCalls: 0 });
    const model = scripted([
      calling("pay", "erase"),
      calling("login", "pay"),
      calling("login", "pay"),
      calling("pay"),
      "Done.",
    ]);
    const { transcript } = await agent({ name: "payer", model, tools: [login, pay, erase] }).run("Pay");
    expect(resultsIn(transcript).map(({ text }) => text)).toEqual([
      tooEarly,
      "Tool 'erase' was denied: its constraint maxCalls forbids it",
      "Tool 'login' failed: wrong password",
      tooEarly, // in the turn of a login that fails
      "in",
      tooEarly, // and beside one that succeeds
      "pay done",
    ]);
    expect([pay.calls.length, erase.calls.length]).toEqual([1, 0]);
  });

  it("hold over compaction, when the run is resumed and when it is replayed, and begin anew in a session", async () => {
    const pay = held("pay", { maxCalls: 1, onlyAfter: ["login"] });
    const tools = [fakeTool("login", "in".repeat(400)), pay];
    const steps = [calling("login"), calling("pay"), calling("pay"), "Done."];
    const payer = agent({
      name: "payer",
      model: scripted(steps),
      tools,
      compaction: { atTokens: 60, keepTurns: 1 },
    });
    const journal = memoryJournal();
    const { events, result } = await watch(payer.stream("Pay", { journal }));
    expect(ofType(events, "compaction-end").length).toBeGreaterThan(0);
    expect(ofType(events, "tool-end").map((end) => end.result.status)).toEqual(["ok", "ok", "denied"]);
    const replayed = await payer.run("Pay", { journal: memoryJournal(roundTrip(journal.records)) });
    expect(replayed.transcript.messages).toEqual(result.transcript.messages);
    expect(pay.calls).toHaveLength(1);

    const waiting = agent({
      name: "payer",
      model: scripted(steps.slice(0, 2)),
      tools,
      budget: { turns: 2 },
      hooks: [{ onBudgetExceeded: () => ({ checkpoint: true }) }],
    });
    const { checkpoint } = await waiting.run("Pay");
    if (checkpoint === undefined) throw new Error("the run should wait");
    const later = payer.with({ model: scripted([calling("pay"), "Done."]) });
    const resumed = await later.resume(roundTrip(checkpoint));
    expect(resultsIn(resumed.transcript).at(-1)?.status).toBe("denied");
    const forged = { ...checkpoint, ledger: { ...checkpoint.ledger, uses: "none" as never } };
    await expect(later.resume(forged)).rejects.toMatchObject({ code: "checkpoint-invalid" });

    const handle = session(inMemorySessions(), "s");
    for (const expected of [2, 3]) {
      // oxlint-disable-next-line no-await-in-loop -- a session is one run after another
      await payer.with({ model: scripted(steps), compaction: undefined }).run("Pay", { session: handle });
      expect(pay.calls).toHaveLength(expected + 1);
    }
  });

  it("keep a tool from starting while the model still writes", async () => {
    const order: string[] = [];
    const made = (name: string, constraints?: Constraints) =>
      tool({
        name,
        description: name,
        inputSchema: { type: "object" },
        effect: "read",
        constraints,
        execute: () => void order.push(name),
      });
    async function* deltas(): AsyncGenerator<Delta> {
      for (const name of ["held", "behind", "free"]) {
        yield { type: "call-start", id: name, name };
        yield { type: "call-end", id: name, arguments: {} };
      }
      await Promise.resolve();
      order.push("written");
      yield { type: "end", finishReason: "tool-calls" };
    }
    let turn = 0;
    const reader = agent({
      name: "reader",
      model: () => (turn++ === 0 ? deltas() : "Done."),
      tools: [made("held", { maxCalls: 1 }), made("behind", { onlyAfter: ["held"] }), made("free")],
    });
    const { calls } = await reader.run("Read");
    expect(calls.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "held ok",
      "behind denied",
      "free ok",
    ]);
    expect(order).toEqual(["free", "written", "held"]);
  });

  it("hold in the lower doors: execute() is a run of its own, safeLoop() counts its steps", async () => {
    const pay = held("pay", { maxCalls: 1 });
    const call = (id: string) => ({ type: "tool-call" as const, id, name: "pay", arguments: {} });
    const results = await execute({ calls: [call("a"), call("b")], tools: [pay] });
    expect(results.map(({ status }) => status)).toEqual(["ok", "denied"]);
    const late = held("late", { onlyAfter: ["pay"] });
    const contexts: string[] = [];
    await safeLoop({
      question: "Pay",
      model: scripted([calling("late"), calling("pay"), calling("pay"), calling("late"), "Done."]),
      tools: { pay, late },
      maxSteps: 9,
      budget: 10_000,
      onStep: ({ context }) => contexts.push(context),
    });
    expect(contexts.at(-1)).toBe(
      " [late => Tool 'late' was denied: it may only be called in a turn after 'pay' succeeded] [pay => pay done]" +
        " [pay => Tool 'pay' was denied: it exceeded its maxCalls constraint (1 per run)] [late => late done]",
    );
  });

  it("that nothing could meet are refused when they are defined", () => {
    const made = (constraints: unknown) => () =>
      tool({
        name: "pay",
        description: "",
        inputSchema: { type: "object" },
        constraints: constraints as never,
        execute: () => 1,
      });
    for (const wrong of [
      { maxCalls: -1 },
      { maxCalls: 1.5 },
      { onlyAfter: [] },
      { onlyAfter: "login" },
      { onlyAfter: ["pay"] },
      { max: 1 },
    ])
      expect(made(wrong), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({ code: "definition-invalid" }),
      );
    const model = scripted(["x"]);
    const pay = held("pay", { onlyAfter: ["login"] });
    const login = fakeTool("login", 1);
    expect(() => agent({ name: "payer", model, tools: [pay] })).toThrow(
      /`onlyAfter` of "pay".*"login".*There are: pay/,
    );
    const skills = [
      skill({ name: "a", description: "a", tools: [pay, login] }),
      skill({ name: "b", description: "b", tools: [pay] }),
    ];
    expect(() => agent({ name: "payer", model, skills })).toThrow(/skill "b" of agent "payer"/);
    const spread = { ...login, constraints: { maxCalls: -1 } };
    expect(() => agent({ name: "payer", model, tools: [spread] })).toThrow(/maxCalls/);
  });
});

function refuseThree(args: unknown): { deny: string } | undefined {
  return (args as { euro?: number }).euro === 3 ? { deny: "not three" } : undefined;
}
