import type { Case } from "../suite/case.ts";
import { calls, demand, type Report, type Scene } from "../suite/scene.ts";

/** Ends this process as a power cut would. */
function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("killed");
}

function script(t: Scene, ...names: readonly string[]): void {
  t.model(({ messages }) => {
    const done = messages.filter(({ role }) => role === "tool").length;
    const next = names[done];
    return next === undefined ? { text: "Done." } : calls([next, {}]);
  });
}

/** Runs a task whose tool dies in the first process, and recovers it in the second; where it should, it dies once. */
async function crashed(t: Scene): Promise<Report> {
  const first = await t.process("begin");
  demand(first.killed === true, `the first process was not killed: ${JSON.stringify(first)}`);
  return t.process("recover");
}

async function goOn(
  t: Scene,
  phase: string,
  tools: Parameters<Scene["start"]>[0]["tools"],
): Promise<unknown> {
  const agent = await t.start({ tools, durable: true });
  if (phase === "begin") return { text: (await agent.ask("Do it.")).text };
  const end = await agent.recover?.("Do it.");
  return { text: end?.text };
}

const isFirst = (phase: string): boolean => phase === "begin";

/** Processes that are killed in the middle of a run, and others that go on with it. */
export const crashCases: readonly Case[] = [
  {
    id: "crash/goes-on",
    asks: "A run whose process was killed in a read is finished by another process.",
    why: "Deploys and crashes interrupt running work.",
    needs: ["durable"],
    async play(t) {
      script(t, "look");
      const { text, threw } = await crashed(t);
      t.demandValid();
      demand(text === "Done.", threw ?? `gave ${JSON.stringify(text)}`);
    },
    phase: (t, phase) => goOn(t, phase, [t.tool("look", {}, () => (isFirst(phase) ? die() : "seen"))]),
  },
  {
    id: "crash/paid-once",
    asks: "A payment that was made just before its process was killed is not made again by the next process.",
    why: "A crash must never cause a second payment.",
    needs: ["durable"],
    async play(t) {
      script(t, "pay");
      await crashed(t);
      demand(t.ranInAll("pay").length === 1, `it was paid ${t.ranInAll("pay").length} times`);
    },
    phase: (t, phase) =>
      goOn(t, phase, [
        t.tool("pay", {}, () => (isFirst(phase) ? die() : "paid"), { effect: "irreversible" }),
      ]),
  },
  {
    id: "crash/done-stays-done",
    asks: "A call that had ended when the process was killed in the next one is not made again.",
    why: "Otherwise each crash repeats all finished work.",
    needs: ["durable"],
    async play(t) {
      script(t, "order", "look");
      const { text, threw } = await crashed(t);
      const ordered = t.ranInAll("order").length;
      demand(
        ordered === 1 && text === "Done.",
        threw ?? `ordered ${ordered} times, gave ${JSON.stringify(text)}`,
      );
    },
    phase: (t, phase) =>
      goOn(t, phase, [
        t.tool("order", {}, () => "ordered", { effect: "write" }),
        t.tool("look", {}, () => (isFirst(phase) ? die() : "seen")),
      ]),
  },
  {
    id: "crash/model-told",
    asks: "If it is unknown whether a payment was made, the model is told neither that it was made nor that it was not.",
    why: "A wrong guess leads to two payments or to none.",
    needs: ["durable"],
    async play(t) {
      script(t, "pay");
      const { text, threw } = await crashed(t);
      demand(text === "Done.", threw ?? `gave ${JSON.stringify(text)}`);
      const [told = ""] = t.results();
      demand(
        /unknown|may have|nobody knows|not known|uncertain|interrupted/i.test(told),
        `told ${JSON.stringify(told)}`,
      );
    },
    phase: (t, phase) =>
      goOn(t, phase, [
        t.tool("pay", {}, () => (isFirst(phase) ? die() : "paid"), { effect: "irreversible" }),
      ]),
  },
  {
    id: "crash/two-recover",
    asks: "Two processes that both continue the killed run finish it once.",
    why: "A restart and an autoscaler can both resume the run at the same time.",
    needs: ["durable"],
    async play(t) {
      script(t, "look", "order");
      const first = await t.process("begin");
      demand(first.killed === true, `the first process was not killed: ${JSON.stringify(first)}`);
      const both = await Promise.all([t.process("recover"), t.process("recover")]);
      const ordered = t.ranInAll("order").length;
      demand(ordered === 1, `ordered ${ordered} times`);
      demand(
        both.some(({ text }) => text === "Done."),
        JSON.stringify(both),
      );
    },
    phase: (t, phase) =>
      goOn(t, phase, [
        t.tool("look", {}, () => (isFirst(phase) ? die() : "seen")),
        t.tool("order", {}, () => "ordered", { effect: "irreversible" }),
      ]),
  },
];
