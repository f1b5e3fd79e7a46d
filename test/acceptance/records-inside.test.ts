import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { agent, memoryJournal, tool } from "../../src/index.ts";
import type { Delta } from "../../src/model/model.ts";
import { scripted } from "../../src/testing.ts";

const texts = { type: "object", properties: { input: { type: "string" } } } as const;

describe("the records of runs inside a call", () => {
  it("stay with their runs when those begin in another order", async () => {
    const child = (name: string) => agent({ name, model: ({ messages }) => `${name} ${messages.length}` });
    const both = (order: readonly (readonly [string, number])[]) =>
      tool({
        name: "both",
        description: "",
        inputSchema: texts,
        retry: "always",
        execute: async (_args, { run }) => {
          const begin = async ([name, ms]: readonly [string, number]): Promise<string> => {
            await sleep(ms);
            return child(name)
              .run(`Ask ${name}`, { parent: run })
              .then(({ text }) => text);
          };
          return (await Promise.all(order.map(begin))).toSorted().join(", ");
        },
      });
    const boss = (order: Parameters<typeof both>[0], ...steps: Parameters<typeof scripted>[0]) =>
      agent({ name: "boss", model: scripted(steps), tools: [both(order)] });
    const journal = memoryJournal();
    const calls = [{ name: "both", arguments: { input: "x" } }];
    const first = await boss(
      [
        ["a", 0],
        ["b", 10],
        ["b", 20],
      ],
      { calls },
      "done",
    ).run("Go", { journal, runId: "r" });
    const died = journal.records.filter(
      ({ key }) => key.includes("~") || key === "start" || key === "turn/1/model",
    );
    const inside = died.filter(({ key }) => key.includes("~")).length;
    const later = memoryJournal(died);
    const again = await boss(
      [
        ["b", 0],
        ["a", 20],
        ["b", 10],
      ],
      "done",
    ).run("Go", { journal: later, runId: "r" });
    expect(again.transcript.toJSON()).toEqual(first.transcript.toJSON());
    expect(later.records.filter(({ key }) => key.includes("~"))).toHaveLength(inside);
  });

  it("of a call that begins while the model writes are not mixed with those of the reply that comes instead", async () => {
    const kid = agent({ name: "kid", model: ({ messages }) => `seen by ${messages.length}` });
    const results: unknown[] = [];
    for (const journal of [undefined, memoryJournal()]) {
      let requests = 0;
      const model = {
        id: "m",
        features: { nativeTools: true, price: 0 },
        async *stream(): AsyncGenerator<Delta> {
          requests += 1;
          if (requests > 2) {
            yield { type: "text-delta", text: "done" };
            yield { type: "end", finishReason: "stop" };
            return;
          }
          const args = JSON.stringify({ input: requests === 1 ? "first" : "second" });
          yield { type: "call-start", id: `c${requests}`, name: "kid" };
          yield { type: "call-delta", id: `c${requests}`, text: args };
          yield { type: "call-end", id: `c${requests}` };
          await sleep(20);
          if (requests === 1) throw new Error("the line broke");
          yield { type: "end", finishReason: "tool-calls" };
        },
      };
      const boss = agent({
        name: "boss",
        model: model as never,
        tools: [kid.asTool({ effect: "read" })],
        hooks: [{ onError: () => ({ retryAfterMs: 1 }) }],
      });
      const { transcript } = await boss.run("Go", {
        runId: "r",
        ...(journal === undefined ? {} : { journal }),
      });
      results.push(
        transcript.messages.flatMap((message) =>
          message.role === "tool" ? [[message.status, message.text]] : [],
        ),
      );
      if (journal === undefined) continue;
      const keys = journal.records.map(({ key }) => key);
      expect(keys.filter((key) => key.endsWith("/start"))).toHaveLength(1); // that of the second alone
      const answered = keys.indexOf("turn/1/model");
      expect(keys.findIndex((key) => key.startsWith("turn/1/call/0"))).toBeGreaterThan(answered);
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[0]).toEqual([["ok", "seen by 1"]]);
  });

  it("of a call that begins while the model writes are all there, and a replay tells the same", async () => {
    const kid = agent({
      name: "kid",
      budget: { durationMs: 100 },
      model: ({ messages }) =>
        messages.length > 2
          ? new Promise<string>(() => undefined)
          : { calls: [{ name: "no_such_tool", arguments: {} }] },
    });
    let requests = 0;
    const model = {
      id: "m",
      features: { nativeTools: true, price: 0 },
      async *stream(): AsyncGenerator<Delta> {
        requests += 1;
        if (requests > 1) {
          yield { type: "text-delta", text: "done" };
          yield { type: "end", finishReason: "stop" };
          return;
        }
        yield { type: "call-start", id: "c1", name: "kid" };
        yield { type: "call-delta", id: "c1", text: JSON.stringify({ input: "go" }) };
        yield { type: "call-end", id: "c1" };
        await sleep(20);
        yield { type: "end", finishReason: "tool-calls" };
      },
    };
    const boss = agent({ name: "boss", model: model as never, tools: [kid.asTool({ effect: "read" })] });
    const journal = memoryJournal();
    const first = await boss.run("Go", { runId: "r", journal });
    const inside = journal.records.flatMap(({ key }) => key.split(/kid~\w+\/1\//)[1] ?? []);
    expect(inside).toEqual(["start", "turn/1/model", "turn/1/call/0/refused", "end/1"]);
    const replay = { ...memoryJournal(journal.records), mode: "replay", tellsInside: true } as const;
    const replayed = await boss.run("Go", { runId: "r", journal: replay });
    expect(replayed.transcript.toJSON()).toEqual(first.transcript.toJSON());
    expect(requests).toBe(2);
  });
});
