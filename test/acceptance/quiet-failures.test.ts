import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  agent,
  type Approve,
  ask,
  inMemorySessions,
  memoryJournal,
  policy,
  session,
  tool,
} from "../../src/index.ts";
import { readTranscript } from "../../src/doors.ts";
import { explain } from "../../src/policy.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const pay = tool({
  name: "pay",
  description: "Pays",
  inputSchema: z.object({ to: z.string().optional() }),
  effect: "irreversible",
  execute: () => "paid",
});
const read = tool({
  name: "read",
  description: "Reads",
  inputSchema: z.object({}),
  effect: "read",
  execute: () => "words of strangers",
});

function warnings(): () => readonly (readonly unknown[])[] {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  return () => warned.mock.calls.map(([text, options]) => [text, (options as { code?: string }).code]);
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("the calls of a result", () => {
  it("say what ran, and what did not and why", async () => {
    warnings();
    const calls = [
      { id: "one", name: "pay", arguments: { to: "A" } },
      { id: "two", name: "read" },
      { id: "three", name: "nope" },
    ];
    const model = scripted([{ calls }, "I paid."]);
    const clerk = agent({
      name: "clerk",
      model,
      tools: [pay, read],
      policy: policy({ name: "p", rules: [ask("pay")] }),
    });
    const result = await clerk.run("Pay");
    expect(result.outcome.type).toBe("answered");
    expect(result.calls).toEqual([
      {
        callId: "one",
        name: "pay",
        arguments: { to: "A" },
        status: "denied",
        reason:
          "Tool 'pay' was denied: it needs an approval (a person must agree to it), and there is nobody to ask",
      },
      { callId: "two", name: "read", arguments: {}, status: "ok" },
      {
        callId: "three",
        name: "nope",
        arguments: {},
        status: "denied",
        reason: "Tool 'nope' is not allowed for skill 'clerk'. Allowed: [pay, read]",
      },
    ]);
    expect(Object.keys(result)).not.toContain("calls");
  });

  it("say with what arguments each ran, and with what others the model wanted it", async () => {
    const model = scripted([
      { calls: [{ name: "pay", arguments: { to: "A" } }] },
      { calls: [{ name: "turn", arguments: { page: 1 } }] },
      "Done.",
    ]);
    const clerk = agent({
      name: "clerk",
      model,
      tools: [pay, fakeTool("turn", "turned", { effect: "read" })],
      policy: policy({ name: "p", rules: [ask("pay")] }),
      hooks: [{ beforeToolCall: ({ tool: name }) => (name === "turn" ? { arguments: { page: 2 } } : {}) }],
    });
    const approve: Approve = () => ({ approved: true, arguments: { to: "B" } });
    const journal = memoryJournal();
    const { calls, transcript } = await clerk.run("Pay", { approve, journal });
    expect(calls).toMatchObject([
      { name: "pay", arguments: { to: "B" }, proposed: { to: "A" }, status: "ok" },
      { name: "turn", arguments: { page: 2 }, proposed: { page: 1 }, status: "ok" },
    ]);
    const stored = readTranscript(JSON.parse(JSON.stringify(transcript)) as never);
    expect(stored.messages).toEqual(transcript.messages);
    const replay = memoryJournal(journal.records, { mode: "replay" });
    expect((await clerk.run("Pay", { journal: replay })).calls).toEqual(calls);
  });

  it("are those of the run alone, also those that a compaction took out", async () => {
    const turns = Array.from({ length: 6 }, (_, n) => ({
      calls: [{ name: "read_page", arguments: { n } }],
    }));
    const page = tool({
      name: "read_page",
      description: "Reads",
      inputSchema: z.object({ n: z.number() }),
      effect: "read",
      execute: ({ n }) => `${n} ${"word ".repeat(100)}`,
    });
    const ends: string[] = [];
    const store = inMemorySessions();
    const reader = agent({
      name: "reader",
      model: scripted([{ calls: [{ name: "read_page", arguments: { n: 99 } }] }, "Yes.", ...turns, "Done."]),
      tools: [page],
      compaction: { atTokens: 300, keepTurns: 1 },
      on: { "compaction-end": ({ type }) => ends.push(type) },
    });
    const inOne = session(store, "s", { history: "all" });
    await reader.run("First", { session: inOne });
    const { calls } = await reader.run("Second", { session: inOne });
    expect(ends.length).toBeGreaterThan(1);
    expect(calls.map(({ arguments: args, status }) => [args, status])).toEqual(
      turns.map((_, n) => [{ n }, "ok"]),
    );
  });
});

describe("warnings", () => {
  it("say once that a call was denied for want of an approver", async () => {
    const told = warnings();
    const denied = agent({
      name: "denied",
      model: scripted([{ calls: [{ name: "read" }] }, { calls: [{ name: "pay" }] }, "Paid."], {
        whenDone: "repeat",
      }),
      tools: [read, pay],
    });
    await denied("Pay");
    expect(told()).toEqual([
      [
        'Agent "denied" was denied the call of "pay": it changes something, after data of strangers, which needs an approval, and the run has no `approve`. Give it one, `run(input, { approve })`, or a policy that allows the call; `result.calls` says what was denied.',
        "WRIT_NO_APPROVER",
      ],
    ]);
    await denied.with({
      model: scripted([{ calls: [{ name: "read" }] }, { calls: [{ name: "pay" }] }, "Paid."]),
    })("Again");
    expect(told()).toHaveLength(1);
  });

  it("say once that an undeclared effect spared a question, and nothing before strangers were read", async () => {
    const told = warnings();
    const silent = tool({
      name: "silent",
      description: "",
      inputSchema: z.object({}),
      execute: () => "wrote",
    });
    const calls = (...names: readonly string[]) => names.map((name) => ({ calls: [{ name }] }));
    const trusting = agent({ name: "trusting", model: scripted([...calls("silent"), "."]), tools: [silent] });
    await trusting("Write");
    expect(told()).toEqual([]);
    await trusting.with({
      model: scripted([...calls("read", "silent", "silent"), "Done."]),
      tools: [read, silent],
    })("Write");
    expect(told()).toEqual([
      [
        'Agent "trusting" ran "silent", which declares no effect, after it had read data of strangers, and nobody was asked. Declare it: `effect: "none"` or `"read"` for a tool that changes nothing, else `"write"` or `"irreversible"`, for which a person is asked.',
        "WRIT_EFFECT_UNDECLARED",
      ],
    ]);
  });

  it("say that a stream was awaited and not read; one that is read is none", async () => {
    const told = warnings();
    vi.useFakeTimers();
    const streaming = agent({ name: "streaming", model: scripted(["One.", "Two."]) });
    const open = async () => streaming.stream("Go"); // an async function looks at it as an await does
    for await (const _ of await open()) continue;
    vi.advanceTimersByTime(5000);
    expect(told()).toEqual([]);
    // oxlint-disable-next-line typescript/await-thenable -- the mistake
    await streaming.stream("Go");
    vi.advanceTimersByTime(5000);
    expect(told()).toEqual([
      [
        "`await streaming.stream(...)` has begun no run: a stream runs while it is read. Write `for await (const event of streaming.stream(...))`, or `await streaming.run(...)`.",
        "WRIT_STREAM_UNREAD",
      ],
    ]);
  });

  it("say that a hook gave back what it may not, and that a policy gave no verdict", async () => {
    const told = warnings();
    const model = () => scripted([{ calls: [{ name: "read" }] }, "Done."]);
    const args = { name: "log", beforeToolCall: () => ({ args: {} }) } as never;
    await agent({ name: "hooked", model: model(), tools: [read], hooks: [args] })("Go");
    const late = (() => Promise.resolve({ verdict: "allow" })) as never;
    await agent({ name: "ruled", model: model(), tools: [read], policy: late })("Go");
    expect(told()).toEqual([
      [
        'A `beforeToolCall` hook of agent "hooked" failed, and the call of "read" was denied: The hook "log" returned the field "args", which `beforeToolCall` may not replace. It may replace: arguments, deny, result.',
        "WRIT_HOOK_FAILED",
      ],
      [
        'Agent "ruled" was denied the call of "read": the policy gave a promise: it must answer at once',
        "WRIT_POLICY_FAILED",
      ],
    ]);
  });

  it("tell that a policy in plain JavaScript says yes or no, and not why", async () => {
    warnings();
    for (const given of [{ verdict: "deny" }, { verdict: "deny", rule: 7, reason: undefined }]) {
      const model = scripted([{ calls: [{ name: "read" }] }, "Done."]);
      const { calls } = await agent({ name: "a", model, tools: [read], policy: (() => given) as never }).run(
        "Go",
        {
          onEvent: (event) => {
            if (event.type !== "call-decided") return;
            expect(explain(event.decision, "people")).toMatch(
              /^Denied: the policy gives no reason\nrule: policy$/,
            );
          },
        },
      );
      expect(calls[0]?.reason).toBe("Tool 'read' was denied: the policy gives no reason");
    }
  });

  it("tell what listens to one run and throws, at once or later: the run goes on", async () => {
    const told = warnings();
    const heard: string[] = [];
    const model = scripted([{ calls: [{ name: "read" }] }, "Done."]);
    const log = async (type: string): Promise<void> => {
      heard.push(type);
      if (type === "run-end") throw new Error("later");
    };
    const result = await agent({ name: "heard", model, tools: [read] }).run("Go", {
      onEvent: ({ type }) => {
        if (type === "tool-end") throw new Error("the logger is down");
        return log(type);
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(result.text).toBe("Done.");
    expect(heard.at(-1)).toBe("run-end");
    expect(told()).toEqual([
      [
        '`onEvent` of a run of "heard" failed, and the run went on: the logger is down',
        "WRIT_OBSERVER_FAILED",
      ],
      ['`onEvent` of a run of "heard" failed, and the run went on: later', "WRIT_OBSERVER_FAILED"],
    ]);
  });
});

it("a run whose stream was left stands in its session at once", async () => {
  const store = inMemorySessions();
  const model = scripted([{ calls: [{ name: "read" }] }, "Done."]);
  const inOne = session(store, "left");
  for await (const event of agent({ name: "left", model, tools: [read] }).stream("Go", { session: inOne }))
    if (event.type === "tool-end") break;
  expect((await inOne.load()).messages.length).toBeGreaterThan(0);
});
