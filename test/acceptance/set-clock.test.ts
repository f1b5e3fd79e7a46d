import { afterEach, describe, expect, it, vi } from "vitest";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

const clock = Date.now.bind(Date);
const hourMs = 3_600_000;
/** Sets the clock of the machine, as its owner, a time server, or a laptop that slept does. */
const setClock = (byMs: number): unknown => vi.spyOn(Date, "now").mockImplementation(() => clock() + byMs);
const proposal = { calls: [{ name: "pay", arguments: {} }] };

const payer = (model: Parameters<typeof agent>[0]["model"], whilePaid?: () => unknown) =>
  agent({
    name: "payer",
    model,
    tools: [
      tool({
        name: "pay",
        description: "Pays",
        inputSchema: { type: "object" },
        effect: "irreversible",
        timeoutMs: 30_000,
        execute() {
          whilePaid?.();
          return "paid";
        },
      }),
    ],
  });

describe.each([hourMs, -hourMs])("a clock that is set by %i ms", (byMs) => {
  afterEach(() => vi.restoreAllMocks());

  it("while a call is at work takes no time of it, nor of its run", async () => {
    const events: { type: string; durationMs?: number }[] = [];
    const paid = payer(scripted([proposal, "Done."]), () => setClock(byMs));
    const result = await paid.run("Pay", {
      approve: () => true,
      onEvent: (event) => void events.push(event),
    });
    expect(result.outcome.type).toBe("answered");
    expect(result.transcript.messages.at(-2)).toMatchObject({ status: "ok", text: "paid" });
    const [took = hourMs] = events.flatMap(({ type, durationMs }) =>
      type === "tool-end" ? [durationMs] : [],
    );
    expect(took >= 0 && took < 30_000).toBe(true);
  });

  it("while a model replies takes no time of the run, and events have the new time", async () => {
    const ends: (number | undefined)[] = [];
    const onEvent = (event: { type: string; at?: number }): void =>
      void (event.type === "run-end" && ends.push(event.at));
    let asked = 0;
    const model = () => {
      asked += 1;
      if (asked === 1) setClock(byMs);
      return asked === 1 ? proposal : "Done.";
    };
    const { outcome } = await payer(model).run("Pay", { approve: () => true, onEvent });
    expect(outcome.type).toBe("answered");
    expect(Math.abs(Date.now() - (ends[0] ?? 0))).toBeLessThan(10_000);
  });

  it("before a tool sleeps until a time is the one that it sleeps by", async () => {
    const sleeper = tool({
      name: "pay",
      description: "Pays tomorrow",
      inputSchema: { type: "object" },
      async execute(_args, { sleepUntil }) {
        setClock(byMs);
        await sleepUntil(Date.now() + 20);
        return "paid";
      },
    });
    const slow = agent({
      name: "payer",
      model: scripted([proposal, "Done."]),
      tools: [sleeper],
      budget: { durationMs: 5000 },
    });
    const { outcome } = await slow.run("Pay", { approve: () => true });
    expect(outcome.type).toBe("answered");
  });
});
