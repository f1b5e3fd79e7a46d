import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Journal, memoryJournal, type RunOptions, type Tool, tool } from "../../src/index.ts";
import { parallel, race } from "../../src/compose.ts";
import { callTool, execute, type JournalRecord } from "../../src/doors.ts";
import { unrecoverable } from "../../src/tools.ts";
import type { PlainReply } from "../../src/model/function-model.ts";
import { scripted } from "../../src/testing.ts";
import type { Step } from "../../src/journal/journal.ts";
import { calling, resultsIn, roundTrip, watch } from "./watching.ts";

type Effect = Exclude<Tool["effect"], "undeclared">;

/** A tool that notes in `log` that it began and that it ended. */
function acting(
  log: string[],
  name: string,
  about: { effect?: Effect; ms?: number; fails?: boolean } = {},
): Tool {
  const { effect, ms = 0, fails = false } = about;
  return tool({
    name,
    description: "",
    ...(effect === undefined ? {} : { effect }),
    inputSchema: z.object({}),
    async execute() {
      log.push(`${name} began`);
      if (ms > 0) await sleep(ms);
      log.push(`${name} ended`);
      if (fails) throw new Error(`${name} refused`);
      return name;
    },
  });
}

const yes = { approve: () => true } satisfies RunOptions;

describe("a failure that ends the run", () => {
  for (const concurrency of [undefined, 1, 2]) {
    it(`lets no later call of the reply begin, with a concurrency of ${String(concurrency)} [C8.1]`, async () => {
      const log: string[] = [];
      const tools = [
        acting(log, "charge", { effect: "irreversible", ms: 5, fails: true }),
        acting(log, "log", { effect: "irreversible", ms: 20 }),
        acting(log, "ship", { effect: "irreversible" }),
      ];
      const model = scripted([calling("charge", "log", "ship"), "end"]);
      const limit = concurrency === undefined ? {} : { concurrency };
      const { result } = await watch(
        agent({ name: "a", model, tools, endOn: ["tool-failure"], ...limit }).stream("x", yes),
      );
      expect(result.outcome).toMatchObject({ type: "failed", code: "tool-failed" });
      expect(log).not.toContain("ship began");
      const inFlight = concurrency === 2 ? "ok" : "skipped"; // what has begun ends by itself
      expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual([
        "error",
        inFlight,
        "skipped",
      ]);
    });
  }

  it("stops undeclared calls as well, and leaves those before it alone [C8.1]", async () => {
    const log: string[] = [];
    const tools = [acting(log, "first"), acting(log, "bad", { fails: true }), acting(log, "last")];
    const model = scripted([calling("first", "bad", "last"), "end"]);
    const skipped: object[] = [];
    const on = {
      "tool-end": (event: { readonly result: { readonly status: string } }) =>
        event.result.status === "skipped" && skipped.push(event),
    };
    const result = await agent({ name: "a", model, tools, endOn: ["tool-failure"], on }).run("x");
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["ok", "error", "skipped"]);
    expect(skipped).toMatchObject([{ durationMs: 0, startedMs: 0 }]);
    expect(result.error).toMatchObject({ code: "tool-failed", data: { tool: "bad" } });
  });

  it("stops after wrong arguments too, which run nothing themselves [C8.1]", async () => {
    const log: string[] = [];
    const tools = [
      acting(log, "first", { effect: "write" }),
      acting(log, "ship", { effect: "irreversible" }),
    ];
    const model = scripted([calling("first", ["ship", "no JSON"], "ship"), "end"]);
    const result = await agent({ name: "a", model, tools, endOn: ["tool-failure"] }).run("x", yes);
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["ok", "invalid", "skipped"]);
    expect(log).not.toContain("ship began");
  });

  it("of a tool that cannot be recovered stops the rest, through the agent and through execute() [C8.1]", async () => {
    const charge = (log: string[]): Tool => ({
      ...acting(log, "charge", { effect: "irreversible", fails: true }),
      recover: { executionFailed: () => unrecoverable("the card is refused") },
    });
    const log: string[] = [];
    const tools = [charge(log), acting(log, "ship", { effect: "irreversible" })];
    const model = scripted([calling("charge", "ship"), "end"]);
    const result = await agent({ name: "a", model, tools }).run("x", yes);
    expect(result.outcome).toMatchObject({ type: "failed" });
    const calls = ["charge", "ship"].map((name, index) => ({
      type: "tool-call" as const,
      id: `c${index}`,
      name,
      arguments: {},
    }));
    const results = await execute({ calls, tools });
    expect(results.map(({ status }) => status)).toEqual(["error", "skipped"]);
    expect(log.filter((line) => line === "ship began")).toEqual([]);
  });

  it("stops the same calls when the run is played again from a journal that ends with the failure [C8.1]", async () => {
    const log: string[] = [];
    const definition = {
      name: "a",
      tools: [
        acting(log, "charge", { effect: "irreversible", fails: true }),
        acting(log, "ship", { effect: "irreversible" }),
      ],
      endOn: ["tool-failure"] as const,
    };
    const steps = [calling("charge", "ship"), "end"];
    const journal = memoryJournal();
    const first = await agent({ ...definition, model: scripted(steps) }).run("x", { ...yes, journal });
    const died = roundTrip(journal.records).filter(({ key }) => key !== "turn/1/call/1");
    const again = await agent({ ...definition, model: scripted(steps) }).run("x", {
      ...yes,
      journal: memoryJournal(died),
    });
    expect(again.transcript.toJSON()).toEqual(first.transcript.toJSON());
    expect(log).toEqual(["charge began", "charge ended"]);
  });
});

describe("the order of one reply", () => {
  it("is kept where a call changes something, and reads run beside each other [L1.4]", async () => {
    const log: string[] = [];
    const tools = [
      acting(log, "look", { effect: "read", ms: 20 }),
      acting(log, "see", { effect: "read", ms: 5 }),
      acting(log, "insert", { effect: "write", ms: 10 }),
      acting(log, "mail", { effect: "irreversible", ms: 1 }),
      acting(log, "count", { effect: "read" }),
    ];
    const model = scripted([calling("look", "see", "insert", "mail", "count"), "end"]);
    await agent({ name: "a", model, tools }).run("x", yes);
    expect(log.slice(0, 2)).toEqual(["look began", "see began"]);
    expect(new Set(log.slice(2, 4))).toEqual(new Set(["see ended", "look ended"])); // which is first, time says
    expect(log.slice(4)).toEqual([
      "insert began",
      "insert ended",
      "mail began",
      "mail ended",
      "count began",
      "count ended",
    ]);
  });

  /** Two calls of one reply: a row goes in, and the rows are counted, which takes less time. */
  async function counted(effect: Effect | undefined, concurrency?: number): Promise<unknown> {
    const rows: string[] = [];
    const about = { description: "", inputSchema: z.object({}) };
    const insert = tool({
      ...about,
      name: "insert",
      ...(effect === undefined ? {} : { effect }),
      execute: async () => {
        await sleep(5);
        return rows.push("row");
      },
    });
    const count = tool({ ...about, name: "count", execute: () => rows.length });
    const model = scripted([calling("insert", "count"), "end"]);
    const made = agent({ name: "a", model, tools: [insert, count], ...(concurrency && { concurrency }) });
    return resultsIn((await made.run("x", yes)).transcript).map(({ text }) => Number(text));
  }

  it("a later call of one reply sees what an earlier one changed [L1.4]", async () => {
    expect(await counted("write")).toEqual([1, 1]);
    expect(await counted("irreversible")).toEqual([1, 1]);
  });

  it("calls of one reply run one after another where only one may run, and beside each other where no effect is declared [L1.5]", async () => {
    expect(await counted(undefined, 1)).toEqual([1, 1]);
    expect(await counted(undefined)).toEqual([1, 0]);
  });

  it("is the author's to give up: a concurrency lets all run beside each other [L1.6]", async () => {
    const log: string[] = [];
    const tools = [acting(log, "one", { effect: "write", ms: 20 }), acting(log, "two", { effect: "write" })];
    const model = scripted([calling("one", "two"), "end"]);
    await agent({ name: "a", model, tools, concurrency: 8 }).run("x", yes);
    expect(log).toEqual(["one began", "two began", "two ended", "one ended"]);
  });
});

describe("an effect that the end overtook", () => {
  const slow = (effect: Effect): Tool =>
    tool({
      name: "mail",
      description: "",
      effect,
      inputSchema: z.object({}),
      execute: () => sleep(300),
    });

  for (const effect of ["write", "irreversible"] as const) {
    it(`is not known when a stop overtook it, in the transcript and in the journal: ${effect} [C30]`, async () => {
      const stopping = new AbortController();
      const journal = memoryJournal();
      const mail = { ...slow(effect), execute: () => (stopping.abort(new Error("SIGTERM")), sleep(300)) };
      const a = agent({ name: "a", model: scripted([calling("mail", "mail")]), tools: [mail] });
      const { result } = await watch(a.stream("x", { ...yes, signal: stopping.signal, journal }));
      expect(result.outcome).toEqual({ type: "cancelled", reason: "SIGTERM" });
      expect(resultsIn(result.transcript)).toMatchObject([
        { status: "unknown", text: expect.stringContaining("may have happened") as string },
        { status: "cancelled" }, // the second had not begun
      ]);
      const record = journal.records.find(({ key }) => key === "turn/1/call/0");
      expect(JSON.parse(record?.json ?? "")).toMatchObject({ result: { status: "unknown" } });
    });

    it(`is not known when its time was over: ${effect} [C29]`, async () => {
      const mail = { ...slow(effect), timeoutMs: 10 };
      const result = await agent({ name: "a", model: scripted([calling("mail"), "end"]), tools: [mail] }).run(
        "x",
        yes,
      );
      expect(resultsIn(result.transcript)).toMatchObject([
        { status: "unknown", text: expect.stringMatching(/10 ms.*may have happened/) as string },
      ]);
      expect(await callTool(slow(effect), {}, { timeoutMs: 10 })).toMatchObject({ status: "unknown" });
      const stopped = callTool(slow(effect), {}, { signal: AbortSignal.timeout(10) });
      expect(await stopped).toMatchObject({ status: "unknown" });
    });
  }

  it("is a failure for an author who ends runs at failures", async () => {
    const mail = { ...slow("write"), timeoutMs: 10 };
    const model = scripted([calling("mail"), "end"]);
    const result = await agent({ name: "a", model, tools: [mail], endOn: ["tool-failure"] }).run("x");
    expect(result.outcome).toMatchObject({ type: "failed", code: "tool-failed" });
  });

  it("is none when the tool only looks: it was cancelled, or timed out", async () => {
    const looking = { ...slow("read"), timeoutMs: 10 };
    expect(await callTool(looking, {}, {})).toMatchObject({ status: "timeout" });
    const stopped = callTool(slow("none"), {}, { signal: AbortSignal.timeout(10) });
    expect(await stopped).toMatchObject({ status: "cancelled" });
  });
});

/** A journal that fails once, at the step with this key; everything else it keeps. */
function failingAt(
  failing: RegExp,
  records: readonly JournalRecord[] = [],
): Journal & { records: JournalRecord[] } {
  const inner = memoryJournal(records);
  let hasFailed = false;
  const step = async <Result>(given: Step<Result>): Promise<Result> => {
    if (hasFailed || !failing.test(given.key)) return inner.step(given);
    hasFailed = true;
    throw new Error("the disk is full for a moment");
  };
  return {
    get records() {
      return [...inner.records];
    },
    step,
    all: (steps) => Promise.all(steps.map(step)),
  };
}

describe("a journal that fails below a call", () => {
  const child = (answer = "done"): ReturnType<typeof agent> =>
    agent({ name: "child", model: scripted([answer]) });
  const inside = /^turn\/1\/call\/0\/child~[^/]+\/1\/turn\/1\/model$/;

  it("ends the run and leaves no record of the call, whatever the tool makes of it", async () => {
    const log: string[] = [];
    const swallowing = tool({
      name: "sub",
      description: "",
      inputSchema: z.object({ input: z.string() }),
      retry: "always", // it does nothing itself
      execute: (_args, { run }) =>
        child()
          .run("y", { parent: run })
          .catch(() => "it did not work")
          .then(() => "done"),
    });
    const retried = child().asTool({ name: "sub", description: "" });
    for (const sub of [
      child().asTool({ name: "sub", description: "" }),
      swallowing,
      { ...retried, recover: { executionFailed: () => ({ type: "fixed", value: "mended" }) as const } },
    ] as const) {
      log.length = 0;
      const tools = [sub, acting(log, "mail", { ms: 30 })];
      const begin = (journal: Journal, ...steps: readonly PlainReply[]): Promise<unknown> =>
        agent({ name: "a", model: scripted([...steps, "end"]), tools }).run("x", { journal, runId: "r" });
      const journal = failingAt(inside);
      await expect(begin(journal, calling(["sub", { input: "y" }], "mail"))).rejects.toMatchObject({
        code: "run-broken",
        message: expect.stringContaining("the disk is full") as string,
      });
      const keys = journal.records.map(({ key }) => key);
      expect(keys).not.toContain("turn/1/call/0");
      expect(keys).toContain("turn/1/call/1"); // the call beside it was let end, and its result kept
      expect(await begin(memoryJournal(journal.records))).toMatchObject({ text: "end" });
      expect(log).toEqual(["mail began", "mail ended"]);
    }
  });

  it("is no denial either when a hook's answer could not be recorded", async () => {
    const a = agent({
      name: "a",
      model: scripted([calling("mail"), "end"]),
      tools: [acting([], "mail")],
      hooks: [{ beforeToolCall: () => ({}) }],
    });
    const journal = failingAt(/^turn\/1\/hook\/beforeToolCall\/0$/);
    await expect(a.run("x", { journal })).rejects.toMatchObject({ code: "run-broken" });
  });

  it("passes a mismatch through calls, children and groups", async () => {
    const a = (told: string): ReturnType<typeof agent> =>
      agent({
        name: "a",
        model: scripted([calling(["sub", { input: "y" }]), "end"]),
        tools: [
          agent({ name: "child", instructions: told, model: scripted(["done"]) }).asTool({
            name: "sub",
            description: "",
          }),
        ],
      });
    const journal = memoryJournal();
    await a("Be brief.").run("x", { journal, runId: "r" });
    const died = roundTrip(journal.records).filter(
      ({ key }) => key !== "turn/1/call/0" && !key.startsWith("turn/2"),
    );
    await expect(a("Be long.").run("x", { journal: memoryJournal(died), runId: "r" })).rejects.toMatchObject({
      code: "journal-mismatch",
    });
  });

  it("ends a group that could do without the member", async () => {
    const first = agent({ name: "first", model: scripted(["one"]) });
    const second = agent({ name: "second", model: async () => (await sleep(20), "two") });
    for (const group of [race([first, second]), parallel([first, second])]) {
      const journal = failingAt(/^0\/first~\w+\/1\/turn\/1\/model$/);
      await expect(group.run("x", { journal })).rejects.toMatchObject({ code: "run-broken" });
      expect(journal.records.map(({ key }) => key)).not.toContain("settled");
    }
  });
});
