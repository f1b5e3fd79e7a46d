import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { agent, memoryJournal, type Policy, tool } from "../../src/index.ts";
import { parallel } from "../../src/compose.ts";
import type { JournalRecord, MemoryJournal } from "../../src/doors.ts";
import type { ModelRequest } from "../../src/models.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { randomFrom } from "../random.ts";

type PlannedCall = readonly [name: string, to: string];

/** A model that makes the planned calls, turn by turn, then answers; only the conversation decides. */
const planned =
  (...turns: readonly (readonly PlannedCall[])[]) =>
  async ({ messages }: Pick<ModelRequest, "messages">) => {
    await sleep(2);
    const calls = turns[messages.filter(({ role }) => role === "assistant").length];
    if (calls === undefined) return "done";
    const given = (name: string, to: string): Record<string, string> =>
      name.startsWith("kid") ? { input: to } : { to };
    return { calls: calls.map(([name, to]) => ({ name, arguments: given(name, to) })) };
  };

let log: string[] = [];
const acting = (name: string, effect: "read" | "irreversible", ms = 4) =>
  tool({
    name,
    description: "",
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    effect,
    async execute({ to }: { to?: unknown }) {
      const line = `${name} ${String(to)}`;
      log.push(`begin ${line}`);
      await sleep(ms);
      log.push(`end ${line}`);
      return line;
    },
  });
const [look, pay] = [acting("look", "read"), acting("pay", "irreversible")];
const kid = (name: string) =>
  agent({
    name,
    model: planned([
      ["look", name],
      ["pay", name],
    ]),
    tools: [look, pay],
  }).asTool();

/** A tool that may not run twice, and begins a run inside. */
const together = tool({
  name: "together",
  description: "",
  inputSchema: { type: "object" },
  effect: "irreversible",
  async execute(_args, { run }) {
    log.push("begin together");
    const inner = agent({ name: "inner", model: planned([["look", "inner"]]), tools: [look] });
    const { text } = await inner.run("x", { parent: run });
    log.push("end together");
    return text;
  },
});
const boss = agent({
  name: "boss",
  model: planned(
    [
      ["look", "a"],
      ["pay", "a"],
      ["look", "b"],
      ["pay", "b"],
    ],
    [
      ["kid1", "x"],
      ["kid2", "y"],
    ],
    [
      ["together", ""],
      ["pay", "c"],
    ],
  ),
  tools: [look, pay, kid("kid1"), kid("kid2"), together],
  budget: { toolCalls: 20 },
});
const approve = (): boolean => true;
const tellsOf = (records: readonly JournalRecord[]): string => JSON.stringify(records);

/** Goes on with a run until it has ended, handed over after so many milliseconds each time. */
async function carriedOn(after: readonly number[]) {
  log = [];
  let journal: MemoryJournal = memoryJournal();
  for (const ms of [...after, undefined]) {
    const leaving = ms === undefined ? {} : { handOver: AbortSignal.timeout(ms) };
    const result = await boss.run("Go", { journal, runId: "r", approve, ...leaving });
    const begun = log.filter((line) => line.startsWith("begin")).length;
    expect(log.filter((line) => line.startsWith("end"))).toHaveLength(begun); // nothing is at work any more
    expect(tellsOf(journal.records)).not.toMatch(/cancelled|unknown/);
    if (result.outcome.type !== "suspended") return result;
    expect([result.outcome.field, result.error?.code]).toEqual(["handover", "run-handed-over"]);
    journal = memoryJournal(journal.records);
  }
  throw new Error("the run never ended");
}

const rounds = Number(process.env["HAND_OVERS"] ?? 30);

describe("a run that is handed over", () => {
  it("ends in another process as if nobody had disturbed it, wherever it was: 30 random points", async () => {
    const whole = await carriedOn([]);
    const wanted = [...log].toSorted();
    const next = randomFrom(Number(process.env["SEED"] ?? 5));
    for (let round = 0; round < rounds; round += 1) {
      const points = Array.from({ length: 1 + Math.floor(next() * 3) }, () => 1 + Math.floor(next() * 60));
      const ended = await carriedOn(points);
      expect(ended.transcript.toJSON(), points.join(" ")).toEqual(whole.transcript.toJSON());
      expect(ended.usage).toEqual(whole.usage);
      expect([...log].toSorted(), points.join(" ")).toEqual(wanted); // each effect once
    }
  }, 600_000);

  it("begins nothing when it is told so at once", async () => {
    log = [];
    const journal = memoryJournal();
    const { outcome } = await boss.run("Go", { journal, handOver: AbortSignal.abort() });
    expect([outcome.type, log, journal.records]).toEqual(["suspended", [], []]);
  });

  it("waits for no person and for no provider that asks it to come back later", async () => {
    const asks: Policy = () => ({ verdict: "ask", rule: "asks", reason: "" });
    const one = agent({ name: "a", model: planned([["look", "a"]]), tools: [look], policy: asks });
    const journal = memoryJournal();
    const leaving = new AbortController();
    const approve = (): Promise<never> => {
      setTimeout(() => leaving.abort());
      return new Promise(() => undefined);
    };
    const waiting = await one.run("Go", { journal, handOver: leaving.signal, approve });
    expect(waiting.outcome).toMatchObject({ type: "suspended", field: "handover" });
    expect(journal.records.map(({ key }) => key)).toEqual(["start", "turn/1/model"]);
    const busy = { provider: "p", model: "m", reason: "429" };
    const model = () => {
      throw new WritError("model-rate-limited", busy, { retryable: true, retryAfterMs: 20_000 });
    };
    const late = agent({ name: "late", model, retry: { attempts: 3, maxDelayMs: 60_000 } });
    const handOver = AbortSignal.timeout(20);
    expect((await late.run("Go", { journal: memoryJournal(), handOver })).outcome).toMatchObject({
      field: "handover",
    });
  });

  it("keeps what a composition has, and says so where it is called as a function", async () => {
    log = [];
    const one = (name: string) => agent({ name, model: planned([["look", name]]), tools: [look] });
    const both = parallel({ one: one("one"), two: one("two") });
    const journal = memoryJournal();
    const { outcome } = await both.run("Go", { journal, runId: "r", handOver: AbortSignal.timeout(3) });
    expect(outcome).toMatchObject({ type: "suspended", field: "handover" });
    const left = both("Go", { journal, runId: "r", handOver: AbortSignal.abort() });
    await expect(left).rejects.toMatchObject({ code: "run-handed-over" });
    expect((await both.run("Go", { journal, runId: "r" })).output).toEqual({ one: "done", two: "done" });
    expect(log.toSorted()).toEqual(["begin look one", "begin look two", "end look one", "end look two"]);
  });

  it("needs a journal", async () => {
    const running = boss.run("Go", { handOver: new AbortController().signal });
    await expect(running).rejects.toMatchObject({ code: "run-option-unusable" });
  });
});
