import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, inMemorySessions, llm, memoryJournal, session, type Tool, tool } from "../../src/index.ts";
import { pipe } from "../../src/compose.ts";
import { scripted } from "../../src/testing.ts";
import { calling, resultsIn } from "./watching.ts";

/** An irreversible payment inside an agent; `ms` is how long it takes. */
function payer(after: string | Error, ms = 0): { paid: string[]; sub: Tool; pay: Tool } {
  const paid: string[] = [];
  const pay = tool({
    name: "pay",
    description: "",
    effect: "irreversible",
    inputSchema: z.object({ to: z.string() }),
    async execute({ to }) {
      paid.push(to);
      if (ms > 0) await sleep(ms);
      return "receipt 7";
    },
  });
  const model = scripted([calling(["pay", { to: "A1" }]), after]);
  const inner = agent({ name: "payer", model, tools: [pay], retry: false });
  return { paid, pay, sub: inner.asTool({ name: "payer", description: "" }) };
}

const ask = calling(["payer", { input: "Pay A1" }]);
const yes = { approve: () => true };

describe("an effect inside an agent that is a tool", () => {
  it("is told to the model that called the agent when that failed [C39]", async () => {
    const { sub, paid } = payer(new Error("503"));
    const model = scripted([ask, "I could not pay A1."]);
    const result = await agent({ name: "boss", model, tools: [sub] }).run("Pay A1", yes);
    expect(paid).toEqual(["A1"]);
    const [told] = resultsIn(result.transcript);
    expect(told).toMatchObject({
      status: "error",
      text: expect.stringContaining('pay {"to":"A1"}: ok') as string,
    });
    expect(told?.text).toContain("receipt 7");
  });

  for (const [what, answer] of [
    ["failed, and the outer run answered", new Error("503")],
    ["answered, and so did the outer run", "Paid."],
  ] as const)
    it(`is told to the next run of the session when the agent ${what}`, async () => {
      const { sub } = payer(answer);
      const store = inMemorySessions();
      const boss = agent({ name: "boss", model: scripted([ask, "Done, or not."]), tools: [sub] });
      await boss.run("Pay A1", { ...yes, session: session(store, "s") });
      const next = scripted(["?"]);
      await boss.with({ model: next }).run("Then pay A1", { session: session(store, "s") });
      expect(JSON.stringify(next.requests[0]?.messages)).toContain("receipt 7");
    });

  it("makes the outer call unknown when a stop or a time-out overtakes it, in the journal too", async () => {
    const stopping = new AbortController();
    const { sub } = payer("Paid.", 300);
    const journal = memoryJournal();
    const boss = agent({ name: "boss", model: scripted([ask, "end"]), tools: [sub] });
    setTimeout(() => stopping.abort(new Error("SIGTERM")), 60);
    const stopped = await boss.run("Pay A1", { ...yes, signal: stopping.signal, journal });
    expect(resultsIn(stopped.transcript)).toMatchObject([{ status: "unknown" }]);
    const record = journal.records.find(({ key }) => key === "turn/1/call/0");
    expect(JSON.parse(record?.json ?? "{}")).toMatchObject({ result: { status: "unknown" } });

    const { sub: slow } = payer("Paid.", 300);
    const timed = agent({ name: "boss", model: scripted([ask, "end"]), tools: [{ ...slow, timeoutMs: 60 }] });
    const [late] = resultsIn((await timed.run("Pay A1", yes)).transcript);
    expect(late).toMatchObject({
      status: "unknown",
      text: expect.stringContaining('pay {"to":"A1"}') as string,
    });
  });

  it("is told through compositions and agents within agents", async () => {
    const { pay } = payer("Paid.");
    const inner = agent({
      name: "payer",
      model: scripted([calling(["pay", { to: "A1" }]), new Error("503")]),
      tools: [pay],
      retry: false,
    });
    const middle = pipe(inner, agent({ name: "after", model: scripted(["never"]) })).asTool({
      name: "payer",
      description: "",
    });
    const outer = agent({ name: "outer", model: scripted([ask, "Sorry."]), tools: [middle] }).asTool({
      name: "payer",
      description: "",
    });
    const store = inMemorySessions();
    const boss = agent({ name: "boss", model: scripted([ask, "Sorry."]), tools: [outer] });
    await boss.run("Pay A1", { ...yes, session: session(store, "s") });
    const next = scripted(["?"]);
    await boss.with({ model: next }).run("Then pay A1", { session: session(store, "s") });
    expect(JSON.stringify(next.requests[0]?.messages)).toContain("receipt 7");
  });

  it("is told where the code of the call asks the model too", async () => {
    const { sub } = payer(new Error("503"));
    const asksToo = tool({
      name: "payer",
      description: "",
      inputSchema: z.object({ input: z.string() }),
      needs: [llm],
      execute: async (args, context) => {
        await context.llm("Whom?");
        return sub.execute(args, context);
      },
    });
    const model = scripted([ask, "A1.", "I could not pay A1."]);
    const boss = agent({ name: "boss", model, tools: [asksToo], grants: [llm] });
    const [told] = resultsIn((await boss.run("Pay A1", yes)).transcript);
    expect(told?.text).toContain('pay {"to":"A1"}: ok');
  });

  it("that only looked changes nothing of what is told", async () => {
    const look = tool({
      name: "look",
      description: "",
      effect: "read",
      inputSchema: z.object({}),
      execute: () => "seen",
    });
    const inner = agent({
      name: "payer",
      model: scripted([calling("look"), new Error("503")]),
      tools: [look],
      retry: false,
    });
    const boss = agent({
      name: "boss",
      model: scripted([ask, "Sorry."]),
      tools: [inner.asTool({ name: "payer", description: "" })],
    });
    const [told] = resultsIn((await boss.run("Pay A1")).transcript);
    expect(told?.text).not.toContain("Note of the runtime");
  });
});
