import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { agent, memoryJournal, tool, type Journal } from "../../../src/index.ts";
import type { JournalRecord } from "../../../src/doors.ts";
import { scripted } from "../../../src/testing.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const noArguments = { type: "object" } as const;

/** The records of a process that died while its call was at work: everything up to the end of the call. */
async function killedInCall(options: {
  readonly effect?: "read" | "write" | "irreversible";
  readonly retry?: "always" | "keyed" | "never";
}): Promise<readonly JournalRecord[]> {
  const journal = memoryJournal();
  const pay = payTool(options, () => {
    records = [...journal.records];
    return "paid";
  });
  let records: readonly JournalRecord[] = [];
  await clerk(pay).run("Pay", { journal, runId: "r", approve: () => true });
  return records;
}

function payTool(
  options: Partial<Parameters<typeof tool>[0]>,
  execute: () => unknown,
): ReturnType<typeof tool> {
  return tool({ name: "pay", description: "", inputSchema: noArguments, execute, ...options });
}

function clerk(pay: ReturnType<typeof tool>, more: object = {}, said: readonly JournalRecord[] = []) {
  const proposes = { calls: [{ id: "c", name: "pay", arguments: {} }] };
  const model = scripted(said.some(({ key }) => key === "turn/1/model") ? ["done"] : [proposes, "done"]);
  return agent({ name: "clerk", model, tools: [pay], ...more });
}

/** Goes on in another process: what the call of `pay` ended as, and how often it ran. */
async function goOn(
  records: readonly JournalRecord[],
  options: Partial<Parameters<typeof tool>[0]>,
  more: object = {},
) {
  let times = 0;
  const pay = payTool(options, () => {
    times += 1;
    return "paid";
  });
  const journal = memoryJournal(records);
  const result = await clerk(pay, more, records).run("Pay", { journal, runId: "r", approve: () => true });
  const told = result.transcript.messages.find((message) => message.role === "tool");
  return { times, status: told?.status, text: told?.text, outcome: result.outcome.type, journal };
}

describe("a call that was at work when its process died", () => {
  it.each([
    [{ effect: "irreversible" }, 0, "unknown"],
    [{ effect: "write" }, 0, "unknown"],
    [{}, 0, "unknown"],
    [{ effect: "read" }, 1, "ok"],
    [{ effect: "write", retry: "keyed" }, 1, "ok"],
    [{ effect: "irreversible", retry: "always" }, 1, "ok"],
    [{ effect: "read", retry: "never" }, 0, "unknown"],
  ] as const)("of a tool with %o runs %i times again and is %s", async (options, times, status) => {
    const ended = await goOn(await killedInCall(options), options);
    expect(ended).toMatchObject({ times, status, outcome: "answered" });
  });

  it("tells the model that the effect may have happened, and is replayed so", async () => {
    const { text, journal } = await goOn(await killedInCall({ effect: "write" }), { effect: "write" });
    expect(text).toBe("Tool 'pay' was at work when the program stopped. Its effect may have happened.");
    const again = await goOn(journal.records, { effect: "write", reconcile: () => ({ happened: false }) });
    expect(again).toMatchObject({ times: 0, status: "unknown" });
  });

  it("is what reconcile says: it happened, it did not, or nobody knows", async () => {
    const effect = "irreversible" as const;
    const records = await killedInCall({ effect });
    const keys: string[] = [];
    const happened = await goOn(records, {
      effect,
      reconcile: (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return Promise.resolve({ happened: true, value: "paid yesterday" });
      },
    });
    expect(happened).toMatchObject({ times: 0, status: "ok", text: "paid yesterday" });
    expect(keys).toEqual([sha256("r/turn/1/call/0")]);
    const nothing = await goOn(records, { effect, reconcile: () => ({ happened: true, value: 0 }) });
    expect(nothing).toMatchObject({ times: 0, status: "ok", text: "0" });
    const not = await goOn(records, { effect, reconcile: () => ({ happened: false }) });
    expect(not).toMatchObject({ times: 1, status: "ok", text: "paid" });
    expect(await goOn(records, { effect, reconcile: () => undefined })).toMatchObject({
      times: 0,
      status: "unknown",
    });
    expect(await goOn(records, { effect, reconcile: () => ({ happened: true }) })).toMatchObject({
      times: 0,
      status: "ok",
      text: "Tool 'pay' did this before the program stopped. Its result is not known.",
    });
  });

  it("is unknown when reconcile fails, takes too long, or answers with something else, whatever the recovery says", async () => {
    const effect = "write" as const;
    const records = await killedInCall({ effect });
    const recover = { executionFailed: ({ again }: { again: () => unknown }) => again() } as never;
    const fails = () => {
      throw new Error("the bank is closed");
    };
    const unknown = { times: 0, status: "unknown" };
    expect(await goOn(records, { effect, reconcile: fails })).toMatchObject(unknown);
    expect(await goOn(records, { effect, reconcile: fails, recover })).toMatchObject(unknown);
    for (const said of ["yes", null, { happened: "no" }])
      expect(await goOn(records, { effect, reconcile: () => said as never })).toMatchObject(unknown);
    const slow = { effect, timeoutMs: 5, reconcile: () => new Promise<never>(() => undefined) };
    expect(await goOn(records, slow)).toMatchObject(unknown);
  });

  it("runs again where the run begins anew, and has one record in the end", async () => {
    const { journal } = await goOn([], { effect: "write" });
    expect(journal.records.map(({ key }) => key)).toEqual([
      "start",
      "turn/1/model",
      "turn/1/call/0",
      "turn/2/model",
      "end",
    ]);
    expect(journal.records.every(({ json }) => json !== undefined)).toBe(true);
  });

  it("ends a run whose author ends it by failures", async () => {
    const records = await killedInCall({ effect: "write" });
    expect(await goOn(records, { effect: "write" }, { endOn: ["tool-failure"] })).toMatchObject({
      times: 0,
      status: "unknown",
      outcome: "failed",
    });
  });

  it("is unknown too where an executor of the author's has the calls", async () => {
    let records: readonly JournalRecord[] = [];
    const journal = memoryJournal();
    const own = { executor: runsAll() };
    const dying = payTool({ effect: "write" }, () => {
      records = [...journal.records];
      return "paid";
    });
    await clerk(dying, own).run("Pay", { journal, runId: "r", approve: () => true });
    expect(await goOn(records, { effect: "write" }, own)).toMatchObject({ times: 0, status: "unknown" });
  });

  it("of an agent as a tool goes on inside, and repeats nothing there", async () => {
    const inner = memoryJournal();
    let records: readonly JournalRecord[] = [];
    let times = 0;
    const make = (execute: () => unknown, isFirst = false) => {
      const pay = payTool({ effect: "write" }, execute);
      const payer = agent({
        name: "payer",
        model: scripted([
          ...(isFirst ? [{ calls: [{ id: "c", name: "pay", arguments: {} }] }] : []),
          "paid it",
        ]),
        tools: [pay],
      });
      const delegates = { calls: [{ id: "d", name: "payer", arguments: { input: "Pay" } }] };
      const model = scripted([...(isFirst ? [delegates] : []), "done"]);
      return agent({ name: "boss", model, tools: [payer.asTool()] });
    };
    const dying = make(() => {
      records = [...inner.records];
      return "paid";
    }, true);
    await dying.run("Pay", { journal: inner, runId: "r", approve: () => true });
    const result = await make(() => (times += 1)).run("Pay", {
      journal: memoryJournal(records),
      runId: "r",
      approve: () => true,
    });
    expect(result.outcome.type).toBe("answered");
    expect(times).toBe(0);
  });
});

describe("a journal of one's own that knows nothing of lost steps", () => {
  it("runs them like all others", async () => {
    const known = new Map<string, string>();
    const journal: Journal = {
      async step({ key, run }) {
        const result = await run();
        known.set(key, JSON.stringify(result));
        return result;
      },
      all: (steps) => Promise.all(steps.map((step) => journal.step(step))),
    };
    const result = await clerk(payTool({ effect: "write" }, () => "paid")).run("Pay", {
      journal,
      approve: () => true,
    });
    expect(result.outcome.type).toBe("answered");
    expect([...known.keys()]).toContain("turn/1/call/0");
  });
});

function runsAll() {
  return {
    execute: (
      calls: readonly { id: string }[],
      { run }: { run: (call: { id: string }) => Promise<unknown> },
    ) => Promise.all(calls.map((call) => run(call))),
  };
}
