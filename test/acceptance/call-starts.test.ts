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
