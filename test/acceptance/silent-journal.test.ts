import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type JournalRecord, recordedJournal } from "../../src/doors.ts";
import { agent, isRunError, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

type Hangs = (record: JournalRecord) => boolean;

const call = "turn/1/call/0";
const begins: Hangs = ({ key, json }) => key === call && json === undefined;
const ends: Hangs = ({ key, json }) => key === call && json !== undefined;
const last: Hangs = ({ key }) => key.startsWith("end");

/** A journal that does not answer about the records that hang, until they are let go. */
function silentAbout(hangs: Hangs) {
  const { promise: answer, resolve: letGo } = Promise.withResolvers<undefined>();
  const kept: JournalRecord[] = [];
  const keep = async (record: JournalRecord): Promise<undefined> => {
    if (hangs(record)) await answer;
    kept.push(record);
    return undefined;
  };
  return { journal: recordedJournal([], keep), letGo: () => letGo(undefined), kept };
}

function payer(effect: "read" | "write") {
  const paid: string[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays",
    inputSchema: { type: "object" },
    effect,
    retry: "never",
    execute() {
      paid.push("paid");
      return "paid";
    },
  });
  const model = scripted([{ calls: [{ name: "pay", arguments: {} }] }, "Done."]);
  return { paid, agent: agent({ name: "payer", model, tools: [pay], budget: { durationMs: 1000 } }) };
}

const statuses = (transcript: { readonly messages: readonly object[] }) =>
  transcript.messages.flatMap((message) => ("status" in message ? [message.status] : []));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a journal that does not answer", () => {
  it.each([
    { effect: "write", hangs: begins, status: "unknown" },
    { effect: "read", hangs: begins, status: "cancelled" },
    { effect: "write", hangs: ends, status: "ok" },
  ] as const)("holds no run beyond its time: $effect, $status", async ({ effect, hangs, status }) => {
    const { journal } = silentAbout(hangs);
    const running = payer(effect).agent.run("Pay", { journal });
    await vi.advanceTimersByTimeAsync(11_000);
    const { outcome, transcript } = await running;
    expect(outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
    expect(statuses(transcript)).toEqual([status]);
  });

  it("holds no run that is cancelled", async () => {
    const aborting = new AbortController();
    const { journal } = silentAbout(begins);
    const running = payer("write").agent.run("Pay", { journal, signal: aborting.signal });
    await vi.advanceTimersByTimeAsync(100);
    aborting.abort("enough");
    await vi.advanceTimersByTimeAsync(10_000);
    const { outcome, transcript } = await running;
    expect(outcome).toEqual({ type: "cancelled", reason: "enough" });
    expect(statuses(transcript)).toEqual(["unknown"]);
  });

  it("about a call of an agent inside leaves the call of that agent unknown: it may have changed something", async () => {
    const { journal } = silentAbout(({ key, json }) => /payer.*call\/0$/.test(key) && json !== undefined);
    const { agent: inside, paid } = payer("write");
    const model = scripted([{ calls: [{ name: "payer", arguments: { input: "Pay" } }] }, "Done."]);
    const budget = { durationMs: 1000 };
    const outer = agent({ name: "outer", model, tools: [inside.asTool({ description: "Pays" })], budget });
    const running = outer.run("Pay", { journal });
    await vi.advanceTimersByTimeAsync(12_000);
    const { transcript } = await running;
    expect(paid).toEqual(["paid"]);
    expect(statuses(transcript)).toEqual(["unknown"]);
  });

  it.each(["time", "signal"] as const)("about the end breaks the run when it has to end: %s", async (by) => {
    const aborting = new AbortController();
    const { journal } = silentAbout(last);
    const { signal } = aborting;
    const running = payer("write")
      .agent.run("Pay", { journal, signal })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(100);
    if (by === "signal") aborting.abort();
    await vi.advanceTimersByTimeAsync(11_000);
    const error = await running;
    expect(error).toMatchObject({ code: "run-broken" });
    expect(isRunError(error) && statuses(error.transcript)).toEqual(["ok"]);
  });

  it("begins no call by answering after the end of the run", async () => {
    const { journal, letGo, kept } = silentAbout(begins);
    const { agent: clerk, paid } = payer("write");
    const running = clerk.run("Pay", { journal });
    await vi.advanceTimersByTimeAsync(11_000);
    await running;
    letGo();
    await vi.advanceTimersByTimeAsync(1000);
    expect(paid).toEqual([]);
    expect(JSON.parse(kept.at(-1)?.json ?? "{}")).toMatchObject({ result: { status: "cancelled" } });
  });

  it("for a while, and then does, keeps what the run did", async () => {
    const { journal, letGo, kept } = silentAbout(ends);
    const running = payer("write").agent.run("Pay", { journal });
    await vi.advanceTimersByTimeAsync(10_000);
    letGo();
    const { outcome, transcript } = await running;
    expect(outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
    expect(statuses(transcript)).toEqual(["ok"]);
    expect(kept.map(({ key }) => key)).toContain("end/1");
  });
});
