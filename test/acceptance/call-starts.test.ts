import { describe, expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type AgentEvent, type Policy } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const calls = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name })) });
const asks: Policy = ({ tool }) => ({ verdict: tool === "pay" ? "ask" : "allow", rule: "money", reason: "" });

/** What was told of the beginning and the end of calls. */
function toldOf(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === "tool-start") return [`${event.name} begins`];
    return event.type === "tool-end" ? [`${event.name} ${event.result.status}`] : [];
  });
}

describe("the beginning of a call", () => {
  it("is not told while it waits for a person, nor once the run is cancelled before anybody answers", async () => {
    const live: AgentEvent[] = [];
    const pay = fakeTool("pay", "paid");
    const look = fakeTool("look", "seen", { effect: "read" });
    const clerk = agent({
      name: "clerk",
      model: scripted([calls("look", "pay")]),
      tools: [pay, look],
      policy: asks,
      onEvent: (event) => void live.push(event),
    });
    const runs = durableRuns({ store: memoryRuns(), agents: [clerk] });
    await using _worker = runs.work();
    await runs.start(clerk, "Go", { id: "r" });
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
    expect(toldOf(live)).toEqual(["look begins", "look ok"]);
    await runs.cancel("r");
    const facts = await Array.fromAsync(runs.events("r"));
    expect(toldOf(facts)).toEqual(["look begins", "look ok", "pay cancelled"]);
    expect(pay.calls).toEqual([]);
  });

  it("is told of one that was at work beside a question when the run was cancelled", async () => {
    const live: AgentEvent[] = [];
    const slow = fakeTool("slow", () => new Promise(() => undefined), { effect: "read" });
    const clerk = agent({
      name: "clerk",
      model: scripted([calls("slow", "pay")]),
      tools: [slow, fakeTool("pay", "paid", { effect: "read" })],
      policy: asks,
      onEvent: (event) => void live.push(event),
    });
    const runs = durableRuns({ store: memoryRuns(), agents: [clerk] });
    const worker = runs.work();
    await runs.start(clerk, "Go", { id: "r" });
    await expect.poll(() => slow.calls.length).toBe(1);
    expect(toldOf(live)).toEqual(["slow begins"]);
    await runs.cancel("r");
    await worker.drain();
    const facts = await Array.fromAsync(runs.events("r"));
    expect(toldOf(facts)).toEqual(["slow cancelled", "pay cancelled"]); // of one that may be repeated no record says that it began
  });

  it("is told when those before it have ended, and of none that a stop or a failure kept from beginning", async () => {
    const stopping = new AbortController();
    const note = fakeTool("note", () => stopping.abort("enough"), { effect: "write" });
    const send = fakeTool("send", "sent", { effect: "write" });
    const no = (): never => {
      throw new Error("no");
    };
    const fails = fakeTool("fails", no, { effect: "write" });
    const eventsOf = async (first: string, signal?: AbortSignal): Promise<readonly AgentEvent[]> => {
      const events: AgentEvent[] = [];
      const model = scripted([calls(first, "send"), "Done."]);
      const one = agent({ name: "clerk", model, tools: [note, send, fails], endOn: ["tool-failure"] });
      const running = one.run("Go", {
        onEvent: (event) => void events.push(event),
        ...(signal && { signal }),
      });
      await running.catch(() => undefined);
      return events;
    };
    expect(toldOf(await eventsOf("note", stopping.signal))).toEqual([
      "note begins",
      "note ok",
      "send cancelled",
    ]);
    expect(toldOf(await eventsOf("fails"))).toEqual(["fails begins", "fails error", "send skipped"]);
    expect(toldOf(await eventsOf("send"))).toEqual(["send begins", "send ok", "send begins", "send ok"]);
  });
});

describe("the progress of a call", () => {
  type Say = (value: never) => void;
  const said = async (use: (say: Say) => unknown): Promise<readonly unknown[]> => {
    const look = fakeTool(
      "look",
      (_args: unknown, { progress }: { readonly progress: Say }) => use(progress),
      { timeoutMs: 20 },
    );
    const model = scripted([calls("look"), async () => (await pause(30), "Done.")]);
    const clerk = agent({ name: "clerk", model, tools: [look], onEvent: () => undefined });
    const events = await Array.fromAsync(clerk.stream("Go"));
    expect(toldOf(events).at(-1)).not.toContain("error");
    return events.flatMap((event) => (event.type === "tool-progress" ? [event.value] : []));
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  it("is told as it was then: a tool may go on with the object that it told", async () => {
    const state = { done: 0 };
    const told = await said((progress) => {
      for (; state.done < 3; state.done += 1) progress(state as never);
    });
    expect(told).toEqual([{ done: 0 }, { done: 1 }, { done: 2 }]);
  });

  it("is JSON whatever a tool tells, and its call does not fail by it", async () => {
    const circle: { self?: object } = {};
    circle.self = circle;
    const odd: unknown[] = [circle, 10n, undefined, Symbol("s"), new Date(0), () => 1];
    const told = await said((progress) => odd.forEach((each) => progress(each as never)));
    expect(told).toEqual([null, "10", null, null, "1970-01-01T00:00:00.000Z", null]);
  });

  it("is told nobody once the call has ended", async () => {
    const told = await said(async (progress) => {
      progress("before" as never);
      await pause(40);
      progress("after its time" as never);
    });
    expect(told).toEqual(["before"]);
  });
});
