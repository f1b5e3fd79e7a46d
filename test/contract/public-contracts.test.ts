import { afterEach, describe, expect, it, vi } from "vitest";
import type { Executor } from "../../src/doors.ts";
import {
  commandDriver,
  decideBy,
  type Driver,
  jsonDriver,
  nativeDriver,
  reactDriver,
} from "../../src/drivers.ts";
import { driverContract, type DriverSubject, executorContract } from "../../src/testing.ts";

const plain: Executor = { execute: (calls, { run }) => Promise.all(calls.map((each) => run(each))) };
const oneByOne: Executor = {
  async execute(calls, { run }) {
    const results = [];
    for (const each of calls.toReversed()) results.push(await run(each));
    return results;
  },
};
const dry: Executor = {
  execute: (calls, { run }) =>
    Promise.all(
      calls.map(async (each) =>
        each.effect === "write" ? { callId: each.id, skipped: "dry run" } : run(each),
      ),
    ),
};
const batching: Executor = {
  execute: (calls) =>
    calls.map(({ id, name, args }) => ({ callId: id, value: `${name} ${(args as { n: number }).n}` })),
};

describe("executorContract", () => {
  describe.each(Object.entries({ plain, oneByOne, dry, batching }))(
    "of an executor that is right: %s",
    (_name, executor) => {
      for (const { name, run } of executorContract(() => executor)) it(`${name} [C3.2]`, run);
    },
  );

  it.each<[string, Executor]>([
    ["for a call alone", { execute: (calls, context) => plain.execute(calls.slice(1), context) }],
    [
      "result of another",
      { execute: (calls) => calls.map(({ id, name }) => ({ callId: id, value: `${name} 0` })) },
    ],
    [
      "tool fails",
      {
        async execute(calls, { run }) {
          const results = await Promise.all(calls.map((each) => run(each)));
          if (results.some(({ result }) => result.status === "error")) throw new Error("a tool failed");
          return results;
        },
      },
    ],
    ["was stopped", { execute: () => new Promise(() => undefined) }],
  ])("finds one that breaks the promise of: %s [C3.2]", async (promise, executor) => {
    const broken = executorContract(() => executor).find(({ name }) => name.includes(promise));
    await expect(broken?.run()).rejects.toMatchObject({ code: "contract-broken" });
  });
});

describe("a check that has ended", () => {
  afterEach(() => vi.useRealTimers());

  it.each(executorContract(() => plain))("leaves no timer behind: $name [C3.2]", async ({ run }) => {
    vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ["setTimeout", "clearTimeout"] });
    await run();
    expect(vi.getTimerCount()).toBe(0);
  });
});

const native: DriverSubject = {
  make: () => nativeDriver,
  call: (name, args) => [{ calls: [{ name, arguments: args }] }],
  answer: (text) => text,
};
const subjects: Readonly<Record<string, DriverSubject>> = {
  native,
  wrapped: {
    ...native,
    make: () => ({ ...nativeDriver, decide: (turn, ask) => decideBy(nativeDriver, turn, ask) }),
  },
  json: {
    make: () => jsonDriver(),
    call: (tool, args) => [JSON.stringify({ action: { tool, args } })],
    answer: (content) => JSON.stringify({ final: { content } }),
  },
  react: {
    make: () => reactDriver(),
    call: (tool, args) => [JSON.stringify({ thought: "t", type: "call_tool", tool, args })],
    answer: (answer) => JSON.stringify({ thought: "t", type: "final_answer", answer }),
  },
  command: {
    make: () => commandDriver(),
    call: (tool, args) => [`@tool ${tool} ${JSON.stringify(args)}`],
    answer: (text) => text,
  },
};

describe("driverContract", () => {
  describe.each(Object.entries(subjects))("of a driver that is right: %s", (_name, subject) => {
    for (const { name, run } of driverContract(subject)) it(`${name} [C2.2]`, run);
  });

  let count = 0;
  it.each<[string, Driver]>([
    ["runs a call", { ...nativeDriver, read: ({ message }) => ({ type: "final", message, content: "x" }) }],
    [
      "tells the model",
      { ...nativeDriver, request: (turn) => ({ ...nativeDriver.request(turn), messages: [], tools: [] }) },
    ],
    ["empty reply", { ...nativeDriver, read: ({ message }) => ({ type: "final", message, content: "" }) }],
    [
      "same request",
      {
        ...nativeDriver,
        request(turn) {
          const request = nativeDriver.request(turn);
          return { ...request, settings: { ...request.settings, seed: (count += 1) } };
        },
      },
    ],
    [
      "without a throw",
      {
        ...nativeDriver,
        read(reply, turn) {
          if (reply.message.parts.length === 0) throw new Error("nothing there");
          return nativeDriver.read(reply, turn);
        },
      },
    ],
    [
      "without a throw",
      {
        ...nativeDriver,
        read(reply, turn) {
          const [part] = reply.message.parts;
          if (part?.type === "text") JSON.parse(part.text === "[]" ? "[" : "[]");
          return nativeDriver.read(reply, turn);
        },
      },
    ],
  ])("finds one that breaks the promise of: %s [C2.2]", async (promise, driver) => {
    const broken = driverContract({ ...native, make: () => driver }).find(({ name }) =>
      name.includes(promise),
    );
    await expect(broken?.run()).rejects.toMatchObject({ code: "contract-broken" });
  });
});
