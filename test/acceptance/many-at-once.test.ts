import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it, vi } from "vitest";
import { agent, type Agent, memoryJournal, tool } from "../../src/index.ts";
import type { ModelRequest, PlainReply } from "../../src/models.ts";

const count = 300;

/** Looks once and answers; `execute` is what the look does. */
function looker(
  execute: () => unknown,
  onAsked: (request: ModelRequest) => void = () => undefined,
): Agent<string, string> {
  const look = tool({ name: "look", description: "Looks", inputSchema: {}, effect: "none", execute });
  const model = (request: ModelRequest): PlainReply => {
    onAsked(request);
    const hasSeen = request.messages.at(-1)?.role === "tool";
    return hasSeen ? { text: "done" } : { calls: [{ name: "look", arguments: {} }] };
  };
  return agent({ name: "looker", model, tools: [look] });
}

/** Begins so many runs in one turn of the event loop. */
function together<Value>(begin: (index: number) => Promise<Value>): Promise<Value[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => begin(index)));
}

it("does not hold a great many runs in memory together that wait for nothing", async () => {
  let underWay = 0;
  let most = 0;
  const subject = looker(
    () => Promise.resolve("a page"),
    ({ messages }) => {
      if (messages.at(-1)?.role === "user") most = Math.max(most, (underWay += 1));
    },
  );
  const texts = await together(async (index) => {
    const { text } = await subject.run(`go ${index}`);
    underWay -= 1;
    return text;
  });
  expect(new Set(texts)).toEqual(new Set(["done"]));
  expect(most).toBeLessThanOrEqual(65);
});

it("begins all runs that wait for something, however many wait already", async () => {
  const waiting: (() => void)[] = [];
  const subject = looker(
    () =>
      new Promise<void>((resolve) => {
        if (waiting.push(resolve) === count) for (const goOn of waiting) goOn();
      }),
  );
  const results = await together((index) => subject.run(`go ${index}`));
  expect(results.every(({ outcome }) => outcome.type === "answered")).toBe(true);
});

it("begins a few runs, and every run with a journal, before the caller goes on", async () => {
  let asked = 0;
  const subject = looker(
    () => Promise.resolve("a page"),
    () => (asked += 1),
  );
  const few = subject.run("go");
  expect(asked).toBe(1);
  await few;
  asked = 0;
  const running = together(() => subject.run("go", { journal: memoryJournal() }));
  for (let round = 0; round < 1000; round += 1) await Promise.resolve(); // a run that let others go first would begin after all of these
  expect(asked).toBeGreaterThanOrEqual(count);
  await running;
});

it("keeps the caller's context and cancelling for runs that begin later", async () => {
  const storage = new AsyncLocalStorage<number>();
  const seen: (number | undefined)[] = [];
  const subject = looker(() => void seen.push(storage.getStore()));
  const cancel = new AbortController();
  const results = together((index) =>
    storage.run(index, () => subject.run("go", index % 2 === 0 ? {} : { signal: cancel.signal })),
  );
  cancel.abort(new Error("enough"));
  const ended = (await results).map(({ outcome }) => outcome.type);
  expect(ended[count - 1]).toBe("cancelled");
  expect(ended[count - 2]).toBe("answered");
  const later = seen.filter((index) => index !== undefined && index > 100);
  expect(later).toEqual(Array.from({ length: (count - 102) / 2 }, (_, place) => 102 + 2 * place));
});

it("carries out any number of runs while a test holds the clock", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "Date"] });
  try {
    const subject = looker(() => "a page");
    for (let index = 0; index < count; index += 1) expect((await subject.run("go")).text).toBe("done");
  } finally {
    vi.useRealTimers();
  }
}, 10_000);
