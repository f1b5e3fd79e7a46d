import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, type Policy, tool } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import type { StoreUnderTest } from "./run-store.ts";

/** Cuts the JSON of a column off, in the rows of the run "a". */
export type Damage = (address: string, place: readonly [table: string, column: string]) => Promise<void>;

/** Registers the tests of a store in which somebody has damaged a row: it hides no other run, and stops no worker. */
export function unreadableRuns(name: string, { openRuns, place }: StoreUnderTest, damage: Damage): void {
  describe(`a row that cannot be read: ${name}`, () => {
    let at: Awaited<ReturnType<typeof place>>;
    let store: Awaited<ReturnType<typeof openRuns>>;
    beforeEach(async () => {
      at = await place();
      store = await openRuns(at.address);
    });
    afterEach(async () => {
      await store.close();
      await at.remove();
    });
    const asks: Policy = () => ({ verdict: "ask", rule: "money", reason: "money leaves" });
    const scene = (policy?: Policy) => {
      const pay = fakeTool("pay", "paid", { effect: "irreversible" });
      const clerk = agent({
        name: "clerk",
        model: ({ messages }) =>
          messages.at(-1)?.role === "tool" ? "done" : { calls: [{ name: "pay", arguments: {} }] },
        tools: [pay],
        policy: policy ?? (() => ({ verdict: "allow", rule: "all", reason: "a test" })),
      });
      return { pay, clerk, runs: durableRuns({ store, agents: [clerk] }) };
    };

    it("fails its run, which can go on once it is whole again; the runs behind it go on", async () => {
      const { clerk, runs, pay } = scene();
      for (const id of ["a", "b"]) await runs.start(clerk, "Go", { id });
      await damage(at.address, ["runs", "start"]);
      await using _worker = runs.work();
      expect((await runs.result("b")).outcome).toMatchObject({ type: "answered" });
      const end = await runs.result("a");
      expect(end.outcome).toMatchObject({
        type: "failed",
        code: "stored-unreadable",
        message: expect.stringContaining('run "a"'),
      });
      expect(pay.calls.length).toBe(1);
      expect((await runs.list()).map(({ id, agent: by, status }) => [id, by, status])).toEqual([
        ["b", "clerk", "answered"],
        ["a", "clerk", "failed"],
      ]);
      await expect(runs.export("a")).rejects.toMatchObject({ code: "stored-unreadable" });
      await damage(at.address, ["runs", "start"]); // a second time makes it whole
      await runs.retry("a");
      expect((await runs.result("a")).outcome).toMatchObject({ type: "answered" });
    });

    it("in an end says so of this run alone", async () => {
      const { clerk, runs } = scene();
      const worker = runs.work();
      for (const id of ["a", "b"]) await runs.start(clerk, "Go", { id });
      for (const id of ["a", "b"]) await runs.result(id);
      await worker.drain();
      await damage(at.address, ["runs", "finish"]);
      expect((await runs.list()).map(({ status }) => status)).toEqual(["answered", "failed"]);
      expect((await runs.show("a"))?.end?.outcome).toMatchObject({ code: "stored-unreadable" });
    });

    it("in a question is named by whoever asks for it, and hides no other question", async () => {
      const { clerk, runs } = scene(asks);
      await using _worker = runs.work();
      for (const id of ["a", "b"]) await runs.start(clerk, "Go", { id });
      await expect.poll(async () => (await runs.waiting()).length).toBe(2);
      await damage(at.address, ["questions", "request"]);
      expect((await runs.waiting()).map(({ runId }) => runId)).toEqual(["b"]);
      await expect(runs.waiting("a")).rejects.toMatchObject({
        code: "stored-unreadable",
        message: expect.stringMatching(/turn\/1\/approval\/0.*run "a"/),
      });
    });

    it("in questions leaves no page empty behind which there are more", async () => {
      const { clerk, runs } = scene(asks);
      await using _worker = runs.work();
      for (const id of ["a", "b", "c"]) {
        await runs.start(clerk, "Go", { id });
        await expect.poll(async () => (await runs.show(id))?.status).toBe("waiting");
      }
      await damage(at.address, ["questions", "request"]);
      const [first] = await runs.waiting({ limit: 1 });
      expect(first?.runId).toBe("b");
      const next = await runs.waiting({ limit: 1, ...(first === undefined ? {} : { after: first }) });
      expect(next.map(({ runId }) => runId)).toEqual(["c"]);
    });

    it("in a question fails its run where that waits, and a retry asks anew", async () => {
      const isDamaged = Promise.withResolvers<void>();
      const both = agent({
        name: "both",
        model: ({ messages }) =>
          messages.at(-1)?.role === "tool"
            ? "done"
            : { calls: ["hear", "look"].map((name) => ({ name, arguments: {} })) },
        tools: [
          tool({
            name: "hear",
            description: "Hears",
            effect: "read",
            inputSchema: { type: "object" },
            execute: async (_nothing, { waitFor }) => JSON.stringify(await waitFor("word")),
          }),
          fakeTool("look", async () => {
            await isDamaged.promise;
            return "seen";
          }),
        ],
      });
      const runs = durableRuns({ store, agents: [both] });
      await using _worker = runs.work();
      await runs.start(both, "Go", { id: "a" });
      await expect.poll(async () => (await runs.waiting("a")).length).toBe(1);
      await damage(at.address, ["questions", "request"]);
      isDamaged.resolve();
      expect((await runs.result("a")).outcome).toMatchObject({
        code: "stored-unreadable",
        message: expect.stringMatching(/wait\/word\/1.*run "a"/),
      });
      await runs.retry("a");
      await expect.poll(async () => (await runs.show("a"))?.status).toBe("waiting");
      expect((await runs.waiting("a")).length).toBe(1);
    });

    it("in a beginning is told of whoever starts it again, not as another input", async () => {
      const { clerk, runs } = scene();
      await runs.start(clerk, "Go", { id: "a" });
      await damage(at.address, ["runs", "start"]);
      await expect(runs.start(clerk, "Go", { id: "a" })).rejects.toMatchObject({ code: "stored-unreadable" });
      await expect(runs.retry("a")).rejects.toMatchObject({ code: "stored-unreadable" });
    });

    it("in a record fails its run, which names the record; nothing is repeated", async () => {
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
      const { clerk, runs, pay } = scene(asks);
      const worker = runs.work();
      await runs.start(clerk, "Go", { id: "a" });
      await expect.poll(async () => (await runs.waiting()).length).toBe(1);
      await worker.drain();
      const [question] = await runs.waiting("a");
      await damage(at.address, ["steps", "json"]);
      const given = { approved: true, hash: question?.request.hash ?? "" };
      await store.answer("a", question?.key ?? "", given);
      await using _other = runs.work();
      expect((await runs.result("a")).outcome).toMatchObject({
        type: "failed",
        code: "stored-unreadable",
        message: expect.stringMatching(/record "(?:start|turn\/1\/model)"/),
      });
      expect(pay.calls).toEqual([]);
      expect(warned).not.toHaveBeenCalled();
      warned.mockRestore();
    });
  });
}
