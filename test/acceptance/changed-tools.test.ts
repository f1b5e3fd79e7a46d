import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { EndCause, JournalRecord, ResultMessage, Transcript } from "../../src/doors.ts";
import {
  agent,
  type Budget,
  type Hook,
  memoryJournal,
  type Policy,
  tool,
  type Tool,
} from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { fixed, type JsonSchema } from "../../src/tools.ts";
import { roundTrip } from "./watching.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const accept = ["tools"] as const;
const number = { type: "number" } as const;
const optional = { type: "object", properties: { n: number, note: { type: "string" } } } as const;
const required = { ...optional, required: ["n", "note"] } as const;

/** A tool that takes down what it did. */
function paying(
  name: string,
  inputSchema: JsonSchema = optional,
  more: object = {},
): Tool & { paid: unknown[] } {
  const paid: unknown[] = [];
  const made = tool({
    name,
    description: "Pays",
    inputSchema,
    effect: "irreversible",
    execute: (args) => `paid ${paid.push(args)}`,
    ...more,
  });
  return { ...made, paid };
}

interface Code {
  readonly tools: readonly Tool[];
  readonly hooks?: readonly Hook[];
  readonly policy?: Policy;
  readonly budget?: Budget;
  readonly endOn?: readonly EndCause[];
}

const clerk = (code: Code, script: Parameters<typeof scripted>[0]) =>
  agent({ name: "clerk", policy: free, model: scripted(script), ...code });

const two = [
  { calls: [{ name: "refund", arguments: { n: 1 } }] },
  { calls: [{ name: "pay", arguments: { n: 2 } }] },
  "done",
];

/** The results that the model is told, whole. */
function toldIn({ messages }: Transcript): readonly ResultMessage[] {
  return roundTrip(messages.filter((message) => message.role === "tool"));
}

/** The records of a run of that code that died while its model was asked for the third time, and the results of its calls. */
async function diedRun(code: Code, options: object = {}) {
  const journal = memoryJournal();
  const { transcript } = await clerk(code, two).run("Go", { journal, runId: "r", ...options });
  const records = journal.records.filter(({ key }) => key !== "end" && !key.startsWith("turn/3"));
  return { records, results: toldIn(transcript) };
}

async function goOn(records: readonly JournalRecord[], code: Code, options: object = {}) {
  const run = clerk(code, ["done"]).run("Go", {
    journal: memoryJournal(records),
    runId: "r",
    accept,
    ...options,
  });
  return toldIn((await run).transcript);
}

describe("a call that has run", () => {
  const before = { tools: [paying("refund"), paying("pay")] };

  it.each([
    { what: "its tool is gone", code: (): Code => ({ tools: [paying("pay")] }) },
    {
      what: "its schema takes less",
      code: (): Code => ({ tools: [paying("refund", required), paying("pay")] }),
    },
    {
      what: "its tool may be called no more, or after another",
      code: (): Code => ({
        tools: [paying("refund", optional, { constraints: { onlyAfter: ["pay"] } }), paying("pay")],
      }),
    },
  ])("keeps its result where $what, and the model is told nothing else", async ({ code }) => {
    const { records, results } = await diedRun(before);
    const today = code();
    expect(await goOn(records, today)).toEqual(results);
    expect(today.tools.map((each) => (each as ReturnType<typeof paying>).paid)).toEqual(
      today.tools.map(() => []),
    );
  });

  it("is unknown where an earlier process began it and its tool is gone", async () => {
    const { records } = await diedRun(before);
    const begun = records.flatMap(({ key, fingerprint, ...rest }) =>
      key.startsWith("turn/2")
        ? []
        : key === "turn/1/call/0"
          ? [{ key, fingerprint }]
          : [{ key, fingerprint, ...rest }],
    );
    expect(await goOn(begun, { tools: [paying("pay")] })).toMatchObject([
      { name: "refund", status: "unknown" },
    ]);
  });

  it("with the arguments of a person keeps its result where its tool is gone, and where a policy denies them today", async () => {
    const asking: Policy = ({ tool: name }) =>
      name === "refund"
        ? { verdict: "ask", rule: "person", reason: "" }
        : { verdict: "allow", rule: "free", reason: "" };
    const approve = () => ({ approved: true, edited: { n: 7 } }) as const;
    const { records, results } = await diedRun({ ...before, policy: asking }, { approve });
    const parts = { accept: ["tools", "policy"] };
    const denying: Policy = () => ({ verdict: "deny", rule: "closed", reason: "" });
    expect(await goOn(records, { tools: [paying("pay")], policy: asking }, parts)).toEqual(results);
    const today = { tools: [paying("refund"), paying("pay")], policy: denying };
    expect(await goOn(records, today, parts)).toEqual(results);
  });
});

it.each(["before it began", "while it was at work"])(
  "a call whose arguments a person changed runs with these, and no others, where its process died %s and the policy asks nobody today",
  async (when) => {
    const asking: Policy = () => ({ verdict: "ask", rule: "person", reason: "" });
    const refund = paying("refund", optional, { retry: "always" });
    const approve = () => ({ approved: true, arguments: { n: 1, note: "half" } });
    const { records } = await diedRun({ tools: [refund, paying("pay")], policy: asking }, { approve });
    const call = records.findIndex(({ key }) => key === "turn/1/call/0");
    const { key = "", fingerprint = "" } = records[call] ?? {};
    const begun = when.startsWith("while") ? [{ key, fingerprint }] : [];
    const today = [paying("refund", optional, { retry: "always" }), paying("pay")];
    const kept = [...records.slice(0, call), ...begun];
    await goOn(kept, { tools: today, policy: free }, { accept: ["policy", "tools"] });
    expect(today[0]?.paid).toEqual([{ n: 1, note: "half" }]);
  },
);

describe("what the author says of wrong arguments", () => {
  const asked = () => {
    const told: string[] = [];
    return {
      told,
      recover: { invalidArguments: (raw: string) => (told.push(raw), fixed({ n: 9, note: "new" })) },
    };
  };

  it("counts for no call that was refused, or has run, before it was said", async () => {
    const { told, recover } = asked();
    const today = { tools: [paying("refund", required, { recover }), paying("pay")] };
    const refused = await diedRun({ tools: [paying("refund", required), paying("pay")] });
    expect(await goOn(refused.records, today)).toEqual(refused.results);
    const ran = await diedRun({ tools: [paying("refund"), paying("pay")] });
    expect(await goOn(ran.records, today)).toEqual(ran.results);
    expect(told).toEqual([]);
    expect(today.tools.map(({ paid }) => paid)).toEqual([[], []]);
  });

  it("counts for one whose arguments it mended then, as it did", async () => {
    const { told, recover } = asked();
    const code = { tools: [paying("refund", required, { recover }), paying("pay")] };
    const { records, results } = await diedRun(code);
    expect(await goOn(records, code)).toEqual(results);
    expect(await goOn(records, { tools: [paying("refund", required), paying("pay")] })).toEqual(results);
    expect(told).toHaveLength(1);
    expect(code.tools.map(({ paid }) => paid)).toEqual([[{ n: 9, note: "new" }], [{ n: 2 }]]);
  });
});

describe("a hook before calls that is new", () => {
  const before = { tools: [paying("refund"), paying("pay")] };

  it.each<{ readonly what: string; readonly answer: object }>([
    { what: "denies", answer: { deny: "closed" } },
    { what: "answers in their place", answer: { result: 3 } },
    { what: "wants other arguments", answer: { arguments: { n: 7 } } },
  ])(
    "is asked about no call that ran, or was refused, before it was there, where it $what",
    async ({ answer }) => {
      const told: string[] = [];
      const hooks: Hook[] = [{ beforeToolCall: ({ tool: name }) => (told.push(name), answer) }];
      const { records, results } = await diedRun(before);
      expect(await goOn(records, { ...before, hooks })).toEqual(results);
      const refused = await diedRun({ tools: [paying("pay")] });
      expect(await goOn(refused.records, { ...before, hooks })).toEqual(refused.results);
      expect(told).toEqual([]);
    },
  );
});

describe("a run whose code would end it at a turn that is past", () => {
  const tools = [paying("refund"), paying("pay")];

  it("fails, and says so: what came after that would be forgotten", async () => {
    const { records } = await diedRun({ tools: tools.slice(1) });
    await expect(goOn(records, { tools: tools.slice(1), endOn: ["unknown-tool"] })).rejects.toMatchObject({
      code: "journal-longer",
      data: { run: "r", key: "turn/2/model" },
    });
  });

  it("fails too where it took an answer that it refused then", async () => {
    const typed = (output: z.ZodType, script: Parameters<typeof scripted>[0]) =>
      agent({ name: "clerk", policy: free, model: scripted(script), tools, output });
    const journal = memoryJournal();
    const script = ['{"m":1}', { calls: [{ name: "pay", arguments: { n: 2 } }] }, '{"n":1}'];
    await typed(z.object({ n: z.number() }), script).run("Go", { journal, runId: "r" });
    const records = journal.records.filter(({ key }) => key !== "end" && !key.startsWith("turn/3"));
    const loose = typed(z.looseObject({}), ["{}"]);
    const options = { runId: "r", accept: ["settings", "instructions", "messages", "tools"] as const };
    await expect(loose.run("Go", { journal: memoryJournal(records), ...options })).rejects.toMatchObject({
      code: "journal-longer",
      data: { key: "turn/2/model" },
    });
  });
});

describe("a call that did not run", () => {
  it.each([
    { what: "its tool is there", before: [paying("pay")], today: () => [paying("refund"), paying("pay")] },
    {
      what: "its schema takes more",
      before: [paying("refund", required), paying("pay")],
      today: () => [paying("refund"), paying("pay")],
    },
    {
      what: "nothing has to come before it",
      before: [paying("refund", optional, { constraints: { onlyAfter: ["pay"] } }), paying("pay")],
      today: () => [paying("refund"), paying("pay")],
    },
  ])("does not run by and by, since $what now: the model was told so", async ({ before, today }) => {
    const { records, results } = await diedRun({ tools: before });
    expect(results[0]?.status).not.toBe("ok");
    const tools = today();
    const asked: unknown[] = [];
    const policy: Policy = (request) => (asked.push(request.tool), free(request));
    expect(await goOn(records, { tools, policy }, { accept: ["tools", "policy"] })).toEqual(results);
    expect(tools.map(({ paid }) => paid)).toEqual([[], []]);
  });

  it("does not run where a hook that answered in its place is gone", async () => {
    const hooks: Hook[] = [
      { beforeToolCall: ({ tool: name }) => (name === "refund" ? { result: { n: 3 } } : {}) },
    ];
    const { records, results } = await diedRun({ tools: [fakeTool("refund", ""), paying("pay")], hooks });
    expect(results[0]).toMatchObject({ status: "ok", value: { n: 3 } });
    const tools = [paying("refund"), paying("pay")];
    expect(await goOn(records, { tools })).toEqual(results);
    expect(tools[0]?.paid).toEqual([]);
  });

  it("of which a later turn knows nothing does not run, and the journal says that it is of other code", async () => {
    const tools = [paying("refund"), paying("pay")];
    const { records } = await diedRun({ tools: [paying("refund"), paying("pay")] });
    const without = records.filter(({ key }) => key !== "turn/1/call/0");
    await expect(goOn(without, { tools })).rejects.toMatchObject({
      code: "journal-mismatch",
      data: { key: "turn/2/model", parts: "messages" },
    });
    expect(tools[0]?.paid).toEqual([]);
  });

  it.each(["in a turn that is past", "just before its process died"])(
    "since a person said no, %s, does not run where the policy asks nobody today",
    async (when) => {
      const tools = [paying("refund"), paying("pay")];
      const policy: Policy = ({ tool: name }) => ({
        verdict: name === "refund" ? "ask" : "allow",
        rule: "person",
        reason: "",
      });
      const approve = () => ({ approved: false, reason: "too much" });
      const { records, results } = await diedRun({ tools, policy }, { approve });
      expect(results[0]).toMatchObject({ status: "denied", text: "Tool 'refund' was denied: too much" });
      const answer = records.findIndex(({ key }) => key === "turn/1/approval/0");
      expect(answer).toBeGreaterThan(0);
      const kept = when.startsWith("in") ? records : records.slice(0, answer + 1);
      const today = [paying("refund"), paying("pay")];
      const told = await goOn(kept, { tools: today }, { accept: ["policy"] });
      expect(told[0]).toEqual(results[0]);
      expect(today[0]?.paid).toEqual([]);
    },
  );

  it("is asked about by nobody", async () => {
    const { records, results } = await diedRun({ tools: [paying("pay")] });
    const policy: Policy = () => ({ verdict: "ask", rule: "person", reason: "" });
    const approve = () => Promise.reject(new Error("somebody was asked"));
    const parts = { accept: ["tools", "policy"], approve };
    expect(await goOn(records, { tools: [paying("refund"), paying("pay")], policy }, parts)).toEqual(results);
  });
});

it.each([{ turns: 1 }, { toolCalls: 1 }, { argumentBytes: 2 }])(
  "a bound that was lowered to %j takes back nothing that an earlier process did",
  async (budget) => {
    const code = { tools: [paying("refund"), paying("pay")] };
    const { records, results } = await diedRun(code);
    expect(await goOn(records, { ...code, budget })).toEqual(results);
  },
);

it("a call that a bound left out is left out by the next process of its turn too", async () => {
  const code = { tools: [paying("refund"), paying("pay")], budget: { toolCalls: 1 } };
  const script = [{ calls: ["refund", "pay"].map((name) => ({ name, arguments: { n: 1 } })) }, "done"];
  const journal = memoryJournal();
  await clerk(code, script).run("Go", { journal, runId: "r" });
  const records = journal.records.filter(({ key }) => key !== "end");
  expect(records.map(({ key }) => key)).toContain("turn/1/call/1/refused");
  const { outcome } = await clerk(code, script).run("Go", { journal: memoryJournal(records), runId: "r" });
  expect(outcome).toMatchObject({ type: "exhausted", field: "toolCalls" });
  expect(code.tools.map(({ paid }) => paid)).toEqual([[{ n: 1 }], []]);
});

it("a call that was left out behind a blocked one is left out in a replay, and nothing is kept of it", async () => {
  const policy: Policy = () => ({ verdict: "deny", rule: "no", reason: "never" });
  const code = { tools: [paying("refund"), paying("pay")], policy, endOn: ["blocked-call"] } as const;
  const script = [{ calls: ["refund", "pay"].map((name) => ({ name, arguments: { n: 1 } })) }, "done"];
  const journal = memoryJournal();
  const { transcript } = await clerk(code, script).run("Go", { journal, runId: "r" });
  const kept = memoryJournal(journal.records);
  const again = await clerk(code, []).run("Go", { journal: kept, runId: "r" });
  expect(toldIn(again.transcript)).toEqual(toldIn(transcript));
  expect(kept.records).toEqual(journal.records);
});
