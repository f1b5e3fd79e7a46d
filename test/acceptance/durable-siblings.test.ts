import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, type Policy, tool } from "../../src/index.ts";
import { type DurableRuns, durableRuns } from "../../src/durable.ts";
import { durablePlaces, planned, storesIn } from "./durable-place.ts";

let log: string[] = [];
beforeEach(() => (log = []));

const inputSchema = { type: "object", properties: {} } as const;
const paying = (name: string, work: () => Promise<unknown> = async () => null) =>
  tool({
    name,
    description: "",
    inputSchema,
    effect: "irreversible",
    async execute() {
      log.push(`${name} begins`);
      await work();
      log.push(`${name} ends`);
      return name;
    },
  });
const asks: Policy = ({ tool: name }) => ({
  verdict: name === "pay" ? "ask" : "allow",
  rule: name,
  reason: "",
});

describe.each(durablePlaces)("agents beside each other, of which one waits, in %s", (where) => {
  const open = storesIn(where);
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const work = (runs: DurableRuns): (() => Promise<void>) => {
    const worker = runs.work();
    const drain = (): Promise<void> => worker.drain();
    closing.push(drain);
    return drain;
  };

  it.each(["payer first", "payer last"])(
    "go on in another process: an effect that was at work when the other asked happens once (%s)",
    async (order) => {
      const ending = Promise.withResolvers<void>();
      const payer = agent({
        name: "payer",
        model: planned([{ name: "pay" }]),
        tools: [paying("pay")],
        policy: asks,
      });
      const wire = paying("wire", () => ending.promise);
      const wirer = agent({
        name: "wirer",
        model: planned([{ name: "wire" }]),
        tools: [wire],
        policy: asks,
      });
      const calls = ["payer", "wirer"].map((name) => ({ name, arguments: { input: "x" } }));
      const boss = agent({
        name: "boss",
        model: planned(order === "payer first" ? calls : calls.toReversed()),
        tools: [payer.asTool(), wirer.asTool()],
        policy: asks,
      });
      const runs = durableRuns({ store: open(), agents: [boss] });
      const leave = work(runs);
      await runs.start(boss, "Go", { id: "r" });
      await expect.poll(() => log).toEqual(["wire begins"]);
      await expect.poll(async () => (await runs.waiting("r")).length).toBe(1);
      const [question] = await runs.waiting("r");
      await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
      expect((await runs.show("r"))?.status).toBe("running"); // the effect is at work
      const left = leave();
      ending.resolve();
      await left;
      work(durableRuns({ store: open(), agents: [boss] }));
      expect((await runs.result("r")).outcome.type).toBe("answered");
      expect(log).toEqual(["wire begins", "wire ends", "pay begins", "pay ends"]);
      const { calls: made } = await runs.replay("r");
      expect(made.map(({ status }) => status)).toEqual(["ok", "ok"]);
    },
  );
});
