import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type AgentEvent, isFact, memoryJournal, type Policy, tool } from "../../../src/index.ts";
import { parallel, pipe, race } from "../../../src/compose.ts";
import { type JournalRecord, recordedJournal } from "../../../src/doors.ts";
import type { ModelRequest } from "../../../src/models.ts";
import { WritError } from "../../../src/error/writ-error.ts";
import type { SchemaSource } from "../../../src/schema/to-schema.ts";

type PlannedCall = { readonly name: string; readonly arguments?: Readonly<Record<string, string>> };
type Runner = Parameters<typeof agent>[0];

let touches = 0;

/** A model that makes the planned calls, turn by turn, then answers; only the conversation decides. */
const planned =
  (...turns: readonly (readonly PlannedCall[])[]) =>
  ({ messages }: Pick<ModelRequest, "messages">) => {
    touches += 1;
    const calls = turns[messages.filter(({ role }) => role === "assistant").length];
    if (calls === undefined) return "done";
    return { calls: calls.map(({ name, arguments: args = {} }) => ({ name, arguments: args })) };
  };

function acting(
  name: string,
  effect: "read" | "write",
  { ms = 0, ...more }: { readonly ms?: number; readonly inputSchema?: SchemaSource } = {},
) {
  return tool({
    name,
    description: "",
    inputSchema: { type: "object" },
    effect,
    async execute() {
      touches += 1;
      if (ms > 0) await sleep(ms);
      return `${name} done`;
    },
    ...more,
  });
}
const look = acting("look", "read");
const pay = acting("pay", "write");
const slow = acting("slow", "write", { ms: 60_000 });
const slowRead = acting("wait", "read", { ms: 60_000 });
const slowly = z.object({}).refine(async () => sleep(60, true));
const careful = acting("careful", "read", { inputSchema: slowly });
const asks: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "asks", reason: "a person decides" }
    : { verdict: "allow", rule: "free", reason: "" };

function clerk(model: Runner["model"], more: Partial<Runner> = {}) {
  return agent({
    name: "clerk",
    model,
    tools: [look, pay, slow, slowRead],
    ...more,
  });
}

interface Ended {
  readonly facts: readonly string[];
  readonly outcome: unknown;
}

interface Journalled {
  stream(
    input: never,
    options: object,
  ): AsyncGenerator<AgentEvent, { readonly outcome: unknown; readonly transcript: unknown }>;
}

/** All facts of a run, but for the time of day, and its end. */
async function endOf(one: unknown, options: object): Promise<Ended> {
  const facts: string[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- agents and compositions of any types are run alike
  const stream = (one as Journalled).stream("go" as never, options);
  try {
    for (;;) {
      const next = await stream.next();
      if (next.done === true) {
        const { outcome, transcript } = next.value;
        return { facts, outcome: JSON.stringify([outcome, transcript]) };
      }
      const { at: _at, ...event } = next.value;
      if (isFact(event) && event.parentRunId === undefined) facts.push(JSON.stringify(event));
    }
  } catch (error) {
    const { code, message } = error as WritError;
    return { facts, outcome: [code, message] };
  }
}

/** A journal in memory in which runs can wait. */
function waitingJournal(records: JournalRecord[]) {
  return recordedJournal(
    [...records],
    (record) => void records.push(record),
    () => undefined,
  );
}

const soon = (ms = 20): AbortSignal => AbortSignal.timeout(ms);
const busy = new WritError(
  "provider-failed",
  { provider: "p", model: "m", reason: "503" },
  { retryable: true },
);
const retry = { attempts: 2, firstDelayMs: 1 };
const child = clerk(planned([{ name: "look" }], [{ name: "pay" }]), {
  name: "child",
  policy: asks,
});

const ends: readonly {
  readonly name: string;
  readonly one: () => unknown;
  readonly options?: () => object;
}[] = [
  { name: "answered", one: () => clerk(planned([{ name: "look" }, { name: "pay" }])) },
  {
    name: "answered, a call denied by a person",
    one: () => clerk(planned([{ name: "pay" }]), { policy: asks }),
    options: () => ({ approve: () => false }),
  },
  { name: "failed by a tool", one: () => clerk(planned([{ name: "nothing" }]), { endOn: ["unknown-tool"] }) },
  {
    name: "exhausted by turns",
    one: () => clerk(planned([{ name: "look" }], [{ name: "look" }]), { budget: { turns: 1 } }),
  },
  {
    name: "exhausted by its time, in a call",
    one: () =>
      clerk(planned([{ name: "look" }, { name: "slow" }, { name: "pay" }]), { budget: { durationMs: 30 } }),
  },
  { name: "exhausted by its time, in the model", one: () => clerk(silent(), { budget: { durationMs: 30 } }) },
  {
    name: "cancelled in a call that changes something",
    one: () => clerk(planned([{ name: "look" }], [{ name: "slow" }, { name: "pay" }])),
    options: () => ({ signal: soon() }),
  },
  {
    name: "cancelled in one that looks",
    one: () => clerk(planned([{ name: "look" }, { name: "wait" }])),
    options: () => ({ signal: soon() }),
  },
  { name: "cancelled in the model", one: () => clerk(silent()), options: () => ({ signal: soon() }) },
  {
    name: "cancelled before it began",
    one: () => clerk(planned()),
    options: () => ({ signal: AbortSignal.abort("no") }),
  },
  {
    name: "cancelled while a person is asked",
    one: () => clerk(planned([{ name: "pay" }, { name: "look" }]), { policy: asks }),
    options: () => ({ signal: soon(), approve: () => new Promise(() => undefined) }),
  },
  {
    name: "cancelled by a hook",
    one: () =>
      clerk(planned([{ name: "look" }]), { hooks: [{ name: "h", afterTurn: () => ({ stop: "enough" }) }] }),
  },
  {
    name: "failed by a hook",
    one: () =>
      clerk(planned([{ name: "look" }]), {
        hooks: [
          {
            name: "h",
            afterTurn: () => {
              throw new Error("broken");
            },
          },
        ],
      }),
  },
  { name: "failed by its provider, after retries", one: () => clerk(failing(), { retry }) },
  {
    name: "waiting for an answer",
    one: () => clerk(planned([{ name: "look" }, { name: "pay" }]), { policy: asks }),
  },
  {
    name: "waiting in an agent inside",
    one: () =>
      agent({
        name: "boss",
        model: planned([{ name: "child", arguments: { input: "x" } }, { name: "look" }]),
        tools: [child.asTool(), look],
      }),
  },
  {
    name: "a group that waits",
    one: () => parallel({ one: child, other: clerk(planned(), { name: "free" }) }),
  },
  {
    name: "a pipe that was cancelled",
    one: () => pipe(clerk(planned([{ name: "look" }])), clerk(silent())),
    options: () => ({ signal: soon() }),
  },
  {
    name: "a group that was cancelled",
    one: () => parallel({ one: clerk(planned([{ name: "look" }])), other: clerk(silent()) }),
    options: () => ({ signal: soon() }),
  },
  {
    name: "an agent inside that was cancelled after others",
    one: () =>
      pipe(
        agent({
          name: "boss",
          model: planned([{ name: "kid", arguments: { input: "x" } }]),
          tools: [clerk(planned([{ name: "look" }]), { name: "kid" }).asTool()],
        }),
        clerk(silent()),
      ),
    options: () => ({ signal: soon(60) }),
  },
  { name: "a race", one: () => race([clerk(silent()), clerk(planned())]) },
  {
    name: "a member whose time was over",
    one: () => pipe(clerk(planned()), clerk(silent(), { budget: { durationMs: 30 } })),
  },
  {
    name: "cancelled while its arguments are checked",
    one: () => clerk(planned([{ name: "careful" }]), { tools: [careful] }),
    options: () => ({ signal: soon() }),
  },
  {
    name: "a pipe whose second part has no provider",
    one: () => pipe(clerk(planned()), clerk(failing(), { retry: false })),
  },
  {
    name: "a plain function that failed",
    one: () =>
      agent({
        name: "plain",
        skills: [
          {
            type: "plain",
            name: "f",
            description: "",
            execute: () => {
              touches += 1;
              throw new Error("no line");
            },
          },
        ],
      } as never),
  },
];

function silent() {
  return {
    ...scriptless(),
    async *stream(_request: object, { signal }: { signal: AbortSignal }) {
      touches += 1;
      yield* [];
      await new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("gone"))),
      );
    },
  } as never;
}
function failing() {
  return {
    ...scriptless(),
    async *stream() {
      touches += 1;
      yield* [];
      throw busy;
    },
  } as never;
}
function scriptless() {
  return { id: "m", features: { nativeTools: true, price: 0 } };
}

describe("a run that is replayed", () => {
  it.each(ends)("tells the same facts and touches nothing: $name", async ({ one, options = () => ({}) }) => {
    const records: JournalRecord[] = [];
    const runner = one();
    const first = await endOf(runner, { journal: waitingJournal(records), runId: "r", ...options() });
    const before = touches;
    const kept = JSON.stringify(records);
    const journal = memoryJournal(records, { mode: "replay" });
    const again = await endOf(runner, { journal, runId: "r" });
    expect(again).toEqual(first);
    expect([touches - before, JSON.stringify(records), journal.records.length]).toEqual([
      0,
      kept,
      records.length,
    ]);
  });
});

it("a replay tells the whole run where the records of an agent inside are not all there", async () => {
  const reader = agent({ name: "reader", model: planned([{ name: "look" }]), tools: [look] });
  const model = planned([{ name: "reader", arguments: { input: "a" } }]);
  const boss = agent({ name: "boss", model, tools: [reader.asTool()] });
  const journal = memoryJournal();
  const { text } = await boss.run("Go", { journal, runId: "r" });
  const records = journal.records.filter(({ key }) => !/call\/0\/.*turn\/2/.test(key));
  expect(records.length).toBeLessThan(journal.records.length);
  const told: string[] = [];
  const onEvent = (event: AgentEvent): void =>
    void (isFact(event) && told.push(`${event.agent} ${event.type}`));
  const replay = { ...memoryJournal(records, { mode: "replay" }), tellsInside: true as const };
  expect((await boss.run("Go", { journal: replay, runId: "r", onEvent })).text).toBe(text);
  expect(told).toContain("reader tool-end");
});
