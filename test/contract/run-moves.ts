import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewRun, RunJournal } from "../../src/durable.ts";
import { recordForm } from "../../src/journal/record-form.ts";
import type { OpenRuns, StoreUnderTest } from "./run-store.ts";

type OpenStore = Awaited<ReturnType<OpenRuns>>;

const hostile = "\ud800\u0000' %_\n";
const newRun: NewRun = {
  id: hostile,
  agent: "a",
  input: { words: hostile },
  options: { skill: "s" },
  session: "kim",
  protocol: recordForm,
};
const answeredEnd = {
  outcome: { type: "answered", content: "done", finishReason: "stop" },
  output: "done",
} as const;
const step = (key: string, value: unknown = key) => ({ key, run: () => Promise.resolve(value) });
const never = (key: string) => ({ ...step(key), lost: () => Promise.resolve("lost") });
const ask = (journal: RunJournal, key: string) =>
  journal.ask?.({ key, fingerprint: () => hostile, request: { tool: "pay", hash: key } });
const yes = (hash: string) => ({ approved: true, hash });

/** Registers the tests of how runs move from one store to another. */
export function runMovesContract(name: string, { openRuns, place }: StoreUnderTest): void {
  describe(`moves between stores: ${name}`, () => {
    let places: Awaited<ReturnType<typeof place>>[] = [];
    let here: OpenStore;
    /** Another store altogether. */
    let there: OpenStore;
    beforeEach(async () => {
      places = [await place(), await place()];
      [here, there] = [await openRuns(places[0]?.address ?? ""), await openRuns(places[1]?.address ?? "")];
    });
    afterEach(async () => {
      await here.close();
      await there.close();
      for (const { remove } of places) await remove();
    });

    /** A run with records, a call at work and a question, carried out here. */
    async function begun(): Promise<RunJournal> {
      await here.begin(newRun);
      const journal = await here.claim(["a"]);
      if (journal === undefined) throw new Error("nothing to claim");
      await journal.step({ ...step("b", { of: hostile }), fingerprint: () => hostile });
      await journal.step(step("a"));
      await expect(
        journal.step({ ...never("paid"), run: () => Promise.reject(new Error("dead")) }),
      ).rejects.toThrow("dead");
      await ask(journal, "q");
      return journal;
    }

    it("take the time of a question with them, and who may answer it", async () => {
      const journal = await begun();
      const atLast = { afterMs: 1, answer: { approved: false, expired: true } };
      await journal.ask?.({ key: "p", request: { tool: "pay", hash: "p" }, atLast, by: ["kim"] });
      const asked = await here.questions();
      const moved = await here.moveOut(hostile);
      await expect.poll(() => Date.now()).toBeGreaterThan(asked[1]?.until ?? 0);
      await here.expire();
      expect(await here.moveOut(hostile)).toEqual(moved); // it is not over where the run is no more
      await there.moveIn(moved);
      expect(await there.questions()).toEqual(asked);
      await there.expire();
      expect(await there.questions()).toEqual(asked.slice(0, 1));
      expect((await there.records(hostile)).at(-1)).toMatchObject({
        key: "p",
        json: JSON.stringify(atLast.answer),
      });
    });

    it("leave a run behind with which nobody can do anything any more", async () => {
      const journal = await begun();
      const moved = await here.moveOut(hostile);
      const taken = { code: "run-taken" };
      await expect(journal.step(step("late"))).rejects.toMatchObject(taken);
      await expect(journal.step(never("late"))).rejects.toMatchObject(taken);
      await expect(ask(journal, "late")).rejects.toMatchObject(taken);
      await expect(journal.end(answeredEnd)).rejects.toMatchObject(taken);
      await journal.wait();
      await journal.close();
      expect(await here.read(hostile)).toMatchObject({ status: "moved", moves: 1, input: newRun.input });
      expect(await here.claim(["a"])).toBeUndefined();
      expect(await here.questions()).toEqual([]);
      const gone = { code: "run-moved", data: { id: hostile } };
      await expect(here.open(hostile)).rejects.toMatchObject(gone);
      await expect(here.answer(hostile, "q", yes("q"))).rejects.toMatchObject(gone);
      await expect(here.cancel(hostile, "late")).rejects.toMatchObject(gone);
      await expect(here.reopen(hostile)).rejects.toMatchObject(gone);
      expect(await here.moveOut(hostile)).toEqual(moved); // what was lost on its way can be had again
      expect(await here.erase({ id: hostile })).toBe(1);
      await expect(here.moveOut(hostile)).rejects.toMatchObject({ code: "run-missing" });
    });

    it("bring a run with its records, its questions and what was begun, once", async () => {
      await begun();
      const [before] = await here.questions(hostile);
      const records = await here.records(hostile);
      const moved = await here.moveOut(hostile);
      const arrived = await there.moveIn(moved);
      expect(arrived).toMatchObject({ ...newRun, status: "ready", moves: 1 });
      expect(await there.read(hostile)).toEqual(arrived);
      expect(arrived.begunAt).toBe((await here.read(hostile))?.begunAt);
      expect(await there.records(hostile)).toEqual(records);
      expect(await there.questions(hostile)).toEqual([before]);
      await expect(there.moveIn(moved)).rejects.toMatchObject({ code: "run-exists", data: { id: hostile } });
      const journal = await there.claim(["a"]);
      if (journal === undefined) throw new Error("nothing to claim");
      expect(await journal.step({ ...step("b", "again"), fingerprint: () => hostile })).toEqual({
        of: hostile,
      });
      expect(await journal.step(never("paid"))).toBe("lost");
      expect(await ask(journal, "q")).toEqual({ waitsAt: "q" });
      await journal.wait();
      await there.answer(hostile, "q", yes("q"));
      const again = await there.claim(["a"]);
      expect(await (again && ask(again, "q"))).toMatchObject({ answer: { approved: true, hash: "q" } });
      await again?.end(answeredEnd);
      expect(await there.read(hostile)).toMatchObject({ status: "answered", end: answeredEnd });
    });

    it("bring a run once where two bring it in the same moment", async () => {
      await begun();
      const moved = await here.moveOut(hostile);
      const ended = await Promise.allSettled([1, 2, 3].map(() => there.moveIn(moved)));
      const refused = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
      const exists: unknown = expect.objectContaining({ code: "run-exists" });
      expect(refused).toEqual([exists, exists]);
    });

    it("lead back, and what was moved out before comes too late", async () => {
      const stale = await begun();
      const first = await here.moveOut(hostile);
      await there.moveIn(first);
      await (await there.claim(["a"]))?.step(step("c"));
      const second = await there.moveOut(hostile);
      expect(second.run.moves).toBe(2);
      await here.moveIn(second);
      expect((await here.records(hostile)).map(({ key }) => key)).toEqual(["b", "a", "paid", "c"]);
      await expect(here.moveIn(first)).rejects.toMatchObject({ code: "run-exists" });
      await expect(there.moveIn(first)).rejects.toMatchObject({ code: "run-exists" });
      await expect(stale.step(step("late"))).rejects.toMatchObject({ code: "run-taken" });
      await stale.close();
      expect((await here.claim(["a"]))?.run.id).toBe(hostile);
    });

    it("can be taken back where nothing has arrived", async () => {
      const journal = await begun();
      await here.moveIn(await here.moveOut(hostile));
      await journal.close();
      expect((await here.claim(["a"]))?.run).toMatchObject({ id: hostile, moves: 1 });
    });

    it("keep the end of a run that has one", async () => {
      const journal = await begun();
      await journal.end(answeredEnd);
      const ended = await here.read(hostile);
      await there.moveIn(await here.moveOut(hostile));
      expect(await there.read(hostile)).toEqual({ ...ended, moves: 1 });
      expect(await there.claim(["a"])).toBeUndefined();
    });
  });
}
