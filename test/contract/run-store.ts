import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AnswerBounds } from "../../src/journal/journal.ts";
import type { NewRun, RunJournal, RunStore } from "../../src/durable.ts";
import { agent, tool } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

/** Opens a store at an address, as one process of several. A module that a test names exports it as `openRuns`. */
export type OpenRuns = (address: string) => Promise<RunStore & { readonly close: () => unknown }>;

/** A kind of store under test. */
export interface StoreUnderTest {
  /** The URL of the module that exports `openRuns`, for processes of their own. Left out by a store of one process. */
  readonly module?: string;
  readonly openRuns: OpenRuns;
  /** Makes an empty place for runs and gives its address, and what removes it. */
  readonly place: () => Promise<{ readonly address: string; readonly remove: () => unknown }>;
}

const program = fileURLToPath(new URL("run-store-process.ts", import.meta.url));
const proposal = { calls: [{ id: "c", name: "pay", arguments: {} }] };
const newRun = (id: string, more: Partial<NewRun> = {}): NewRun => ({
  id,
  agent: "a",
  input: { words: "Pay" },
  options: {},
  protocol: 1,
  ...more,
});
const answeredEnd = {
  outcome: { type: "answered", content: "done", finishReason: "stop" },
  output: "done",
  usage: { inputTokens: 1, outputTokens: 2 },
  turns: 1,
} as const;
const failedEnd = { outcome: { type: "failed", code: "run-broken", message: "the world" } } as const;
const step = (key: string, value: unknown = key) => ({ key, run: () => Promise.resolve(value) });
const never = (key: string, value: unknown = key) => ({
  ...step(key, value),
  lost: () => Promise.resolve("lost"),
});
const request = (hash: string) => ({ tool: "pay", hash, policy: "v1" });
const ask = (journal: RunJournal, key: string, bounds: AnswerBounds = {}) =>
  journal.ask?.({ key, request: request(key), ...bounds });
/** The times of a question that was answered. */
const whileItWaited = { since: expect.any(Number), at: expect.any(Number) };
const yes = (hash: string) => ({ approved: true, hash });
const ids = (runs: readonly { readonly id: string }[]) => runs.map(({ id }) => id);

/** A kind of store that several processes share. */
export type SharedStoreUnderTest = Required<StoreUnderTest>;

/** Registers the tests of the port in src/durable/run-store.ts. */
export function runStoreContract(name: string, { module, openRuns, place }: StoreUnderTest): void {
  describe(`run store contract: ${name}`, () => {
    let at: Awaited<ReturnType<typeof place>>;
    let store: Awaited<ReturnType<OpenRuns>>;
    /** Another connection, as another process has one. */
    let other: Awaited<ReturnType<OpenRuns>>;
    const children: ChildProcess[] = [];
    beforeEach(async () => {
      at = await place();
      [store, other] = [await openRuns(at.address), await openRuns(at.address)];
    });
    afterEach(async () => {
      await Promise.all(children.splice(0).map(killed));
      await store.close();
      await other.close();
      await at.remove();
    });

    /** A process that has the run. */
    async function holder(runId: string, what = "hold"): Promise<ChildProcess> {
      const words = [program, String(module), at.address, runId, what];
      const child = spawn(process.execPath, ["--no-warnings", ...words]);
      children.push(child);
      const said = { text: "" };
      child.stderr.on("data", (data) => (said.text += String(data)));
      await new Promise<void>((resolve, reject) => {
        child.stdout.once("data", () => resolve());
        child.once("exit", () => reject(new Error(`the process ended: ${said.text}`)));
      });
      return child;
    }

    describe("runs", () => {
      it("are begun once: a second beginning gives the first", async () => {
        const begun = await store.begin(newRun("r", { session: "kim", options: { skill: "s" } }));
        expect(begun).toEqual({
          ...newRun("r", { session: "kim", options: { skill: "s" } }),
          status: "ready",
          begunAt: expect.any(Number),
        });
        expect(await other.begin(newRun("r", { input: "another" }))).toEqual(begun);
        expect(await other.read("r")).toEqual(begun);
        expect(await store.read("nobody")).toBeUndefined();
        expect(ids(await store.list())).toEqual(["r"]);
      });

      it("are listed, the latest first, by what is said of them", async () => {
        for (const id of ["1", "2", "3", "4"])
          await store.begin(
            newRun(id, {
              agent: id < "3" ? "a" : "b",
              ...(id === "2" || id === "4" ? { session: "kim" } : {}),
            }),
          );
        const journal = await store.claim(["a"]);
        expect(journal?.run.id).toBe("1");
        const listed = async (filter: Parameters<RunStore["list"]>[0]) => ids(await other.list(filter));
        expect(await listed({})).toEqual(["4", "3", "2", "1"]);
        expect(await listed({ limit: 2 })).toEqual(["4", "3"]);
        expect(await listed({ limit: 2, before: "3" })).toEqual(["2", "1"]);
        await expect(listed({ before: "erased" })).rejects.toMatchObject({ code: "run-missing" });
        expect(await listed({ agent: "b", limit: Infinity })).toEqual(["4", "3"]);
        expect(await listed({ session: "kim" })).toEqual(["4", "2"]);
        expect(await listed({ session: "kim", agent: "a" })).toEqual(["2"]);
        expect(await listed({ status: "running" })).toEqual(["1"]);
        expect(await listed({ status: "ready", agent: "a" })).toEqual(["2"]);
      });

      it("are listed by the text with which their ids begin, whatever characters that has", async () => {
        for (const id of ["web/1", "web%/2", "web/\u00e9", "webber", "w", 'web"'])
          await store.begin(newRun(id));
        const listed = async (prefix: string) => ids(await other.list({ prefix }));
        expect(await listed("web/")).toEqual(["web/\u00e9", "web/1"]);
        expect(await listed("web%")).toEqual(["web%/2"]);
        expect(await listed('web"')).toEqual(['web"']);
        expect(await listed("")).toHaveLength(6);
        expect(await listed("x")).toEqual([]);
      });

      it("go to one at a time, the oldest first, and only to those who have their agent", async () => {
        await store.begin(newRun("1"));
        await store.begin(newRun("2", { agent: "b" }));
        await store.begin(newRun("3"));
        const first = await store.claim(["a"]);
        expect(first?.run).toMatchObject({ id: "1", status: "running", input: { words: "Pay" } });
        expect((await other.claim(["a"]))?.run.id).toBe("3");
        expect(await other.claim(["a"])).toBeUndefined();
        expect((await other.claim(["a", "b"]))?.run.id).toBe("2");
        await first?.close();
        expect((await other.read("1"))?.status).toBe("ready");
        expect((await other.claim(["a"]))?.run.id).toBe("1");
      });

      it("are claimed by their id where they can go on, and only then", async () => {
        for (const id of ["1", "2", "3"]) await store.begin(newRun(id, { agent: id === "3" ? "b" : "a" }));
        const second = await store.claim(["a"], "2");
        expect(second?.run).toMatchObject({ id: "2", status: "running" });
        expect(await store.claim(["a"], "2")).toBeUndefined();
        expect(await other.claim(["a"], "2")).toBeUndefined();
        expect(await other.claim(["a"], "3")).toBeUndefined();
        expect(await other.claim(["a"], "4")).toBeUndefined();
        await second?.end(answeredEnd);
        expect(await other.claim(["a"], "2")).toBeUndefined();
        expect((await other.list()).map(({ status }) => status)).toEqual(["ready", "answered", "ready"]);
      });

      it("of a later protocol are left to processes that know it", async () => {
        await store.begin(newRun("r", { protocol: 99 }));
        expect(await store.claim(["a"])).toBeUndefined();
        expect(await store.claim(["a"], "r")).toBeUndefined();
      });

      it("are claimed by 20 who ask at once, each by one", async () => {
        await Promise.all(Array.from({ length: 30 }, (_, id) => store.begin(newRun(String(id)))));
        const claimed = await Promise.all(
          Array.from({ length: 40 }, (_, who) => (who % 2 === 0 ? store : other).claim(["a"])),
        );
        const taken = claimed.flatMap((journal) => (journal === undefined ? [] : [journal.run.id]));
        expect([taken.length, new Set(taken).size]).toEqual([30, 30]);
      });

      it("end once, and keep their end", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        await journal?.step(step("k"));
        await journal?.end(answeredEnd);
        const ended = await other.read("r");
        expect(ended).toMatchObject({ status: "answered", end: answeredEnd, endedAt: expect.any(Number) });
        await journal?.end(failedEnd);
        await journal?.close();
        expect(await other.read("r")).toEqual(ended);
        expect(await other.claim(["a"])).toBeUndefined();
        await expect(journal?.step(step("late"))).rejects.toMatchObject({
          code: "run-ended",
          data: { id: "r", status: "answered" },
        });
        expect(await other.reopen("r")).toEqual(ended);
        expect((await other.records("r")).map(({ key }) => key)).toEqual(["k"]);
      });

      it("can go on after they failed", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        await journal?.end(failedEnd);
        expect(await other.reopen("r")).toMatchObject({ status: "ready" });
        expect(await other.reopen("r")).not.toHaveProperty("end");
        const again = await other.claim(["a"]);
        await expect(journal?.end(failedEnd)).rejects.toMatchObject({ code: "run-taken" });
        await again?.end(answeredEnd);
        expect((await store.read("r"))?.status).toBe("answered");
        await expect(store.reopen("nobody")).rejects.toMatchObject({ code: "run-missing" });
      });

      it("are forgotten one by one, by their session, and when they are old", async () => {
        for (const id of ["1", "2", "3", "4"])
          await store.begin(newRun(id, id < "3" ? { session: "kim" } : {}));
        expect(await other.erase({ session: "kim" })).toBe(2);
        const journal = await store.claim(["a"]);
        await journal?.step(step("k"));
        await expect(other.erase({ id: "3" })).rejects.toMatchObject({ code: "run-claimed" });
        await journal?.end(answeredEnd);
        expect(await other.erase({ endedBefore: 1000, most: 10 })).toBe(0);
        const later = Date.now() + 1000;
        expect(await other.erase({ endedBefore: later, most: 0 })).toBe(0);
        expect(await other.erase({ endedBefore: later, most: 10 })).toBe(1);
        expect(await store.records("3")).toEqual([]);
        expect(ids(await store.list())).toEqual(["4"]);
        expect(await store.erase({ id: "4" })).toBe(1);
        expect(await store.erase({ id: "4" })).toBe(0);
      });

      it("tell those who watch, in other processes too, and nobody who has left", async () => {
        await store.begin(newRun("r"));
        const heard: (string | undefined)[] = [];
        other.watch(() => heard.push("left"))();
        const unwatch = [store.watch((id) => heard.push(id)), other.watch(() => heard.push("other"))];
        await store.erase({ id: "r" });
        expect(heard).toContain("r"); // in this process nobody waits for a server
        const both: unknown = expect.arrayContaining(["r", "other"]);
        await expect.poll(() => [...heard], { timeout: 60_000 }).toEqual(both);
        heard.length = 0;
        await store.begin(newRun("r"));
        await expect.poll(() => [...heard], { timeout: 60_000 }).toEqual(both);
        expect(heard).not.toContain("left");
        unwatch.forEach((leave) => leave());
      });

      it("have any text for ids, keys and sessions, also one that is no valid Unicode", async () => {
        const hostile = "\ud800\u0000' %_\n";
        await store.begin(newRun(hostile, { agent: hostile, session: hostile, input: hostile }));
        const journal = await other.claim([hostile]);
        await journal?.step({ ...step(hostile, { a: hostile }), fingerprint: () => hostile });
        expect(await store.records(hostile)).toEqual([
          { key: hostile, fingerprint: hostile, json: JSON.stringify({ a: hostile }) },
        ]);
        expect(await store.list({ session: hostile, agent: hostile })).toMatchObject([
          { id: hostile, input: hostile },
        ]);
      });
    });

    describe("journals", () => {
      it("play a run again in another process, and forget it when told", async () => {
        const pay = fakeTool("pay", "paid");
        const first = await store.open("r");
        await agent({ name: "a", model: scripted([proposal, "done"]), tools: [pay] }).run("Pay", {
          journal: first,
          runId: "r",
        });
        await first.close();
        await using journal = await other.open("r");
        const again = await agent({ name: "a", model: scripted([]), tools: [pay] }).run("Pay", {
          journal,
          runId: "r",
        });
        expect([again.text, pay.calls.length]).toEqual(["done", 1]);
        const keys = ["start", "turn/1/model", "turn/1/call/0", "turn/2/model", "end"];
        expect((await store.records("r")).map(({ key }) => key)).toEqual(keys);
        expect(await store.records("another")).toEqual([]);
        await journal.close();
        await store.erase({ id: "r" });
        expect(await store.records("r")).toEqual([]);
      });

      it("are held by one at a time, and the one before records nothing more", async () => {
        const first = await store.open("r");
        await expect(store.open("r")).rejects.toMatchObject({ code: "run-claimed" });
        await expect(other.open("r")).rejects.toMatchObject({ code: "run-claimed" });
        await first.close();
        await using second = await other.open("r");
        expect(await second.step(step("k", 3))).toBe(3);
        await expect(first.step(step("k", 1))).rejects.toMatchObject({ code: "run-taken" });
        await expect(first.step(never("n", 1))).rejects.toMatchObject({ code: "run-taken" });
        await expect(ask(first, "q")).rejects.toMatchObject({ code: "run-taken" });
        await expect(first.end(answeredEnd)).rejects.toMatchObject({ code: "run-taken" });
        await first.wait();
        await first.close(); // gives up nothing that is not its own
        await expect(store.open("r")).rejects.toMatchObject({ code: "run-claimed" });
      });

      it("write nothing into another run of the id of one that was removed", async () => {
        const first = await store.open("r");
        await first.close();
        await store.erase({ id: "r" });
        await using second = await store.open("r");
        await expect(first.step(step("k", 1))).rejects.toMatchObject({ code: "run-taken" });
        expect(await second.step(step("k", 2))).toBe(2);
      });

      it("end a run whose journal was taken, and tell nothing of its call", async () => {
        const journal = await store.open("r");
        const pay = tool({
          name: "pay",
          description: "",
          inputSchema: { type: "object" },
          async execute() {
            await journal.close();
            await other.open("r");
            return "paid";
          },
        });
        const running = agent({ name: "a", model: scripted([proposal, "done"]), tools: [pay] });
        await expect(running.run("Pay", { journal })).rejects.toMatchObject({ code: "run-taken" });
        expect((await store.records("r")).at(-1)).toEqual({
          key: "turn/1/call/0",
          fingerprint: expect.any(String),
        });
      });

      it("are taken from a process that died, not from one that lives", async ({ skip }) => {
        skip(module === undefined, "a store of one process");
        await store.begin(newRun("r"));
        const child = await holder("r", "begin");
        const ready = async (): Promise<number> => (await store.list({ status: "ready" })).length;
        await expect(store.open("r")).rejects.toMatchObject({ code: "run-claimed" });
        expect(await store.claim(["a"])).toBeUndefined();
        await expect(store.erase({ id: "r" })).rejects.toMatchObject({ code: "run-claimed" });
        expect([await ready(), (await store.read("r"))?.status]).toEqual([0, "running"]);
        await killed(child);
        await vi.waitFor(async () => expect(await ready()).toBe(1));
        expect([await store.list({ status: "running" }), (await store.read("r"))?.status]).toEqual([
          [],
          "ready",
        ]);
        await using journal = await eventually(() => store.claim(["a"]));
        expect(await journal.step(step("kept", "mine"))).toBe("by another process");
        expect(await journal.step(never("paid", "paid again"))).toBe("lost");
      });
    });

    describe("questions", () => {
      it("are listed by their age, and a journal that was taken keeps none", async () => {
        const [journal, another] = [await store.open("r"), await store.open("other")];
        await ask(journal, "b");
        await ask(another, "c");
        await ask(journal, "a");
        const [first] = await other.questions();
        while (Date.now() === first?.since) await new Promise((resolve) => void setTimeout(resolve, 1));
        await ask(journal, "b"); // a later process asks again
        const questions = await other.questions();
        expect(questions[0]).toEqual(first);
        expect(first).toMatchObject({ runId: "r", key: "b", request: request("b") });
        expect(questions.map(({ key }) => key)).toEqual(["b", "c", "a"]);
        expect((await other.questions("r")).map(({ key }) => key)).toEqual(["b", "a"]);
        await journal.close();
        await store.erase({ id: "r" });
        expect((await other.questions()).map(({ key }) => key)).toEqual(["c"]);
      });

      it("let a run wait, and an answer makes it ready, once", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        if (journal === undefined) throw new Error("nothing to claim");
        expect(await ask(journal, "q")).toEqual({ waitsAt: "q" });
        await journal.wait();
        expect((await other.read("r"))?.status).toBe("waiting");
        expect(await other.claim(["a"])).toBeUndefined();
        await expect(other.answer("r", "q", yes("of another call"))).rejects.toMatchObject({
          code: "question-changed",
        });
        await expect(other.answer("r", "p", yes("q"))).rejects.toMatchObject({ code: "question-unknown" });
        expect(await other.questions("r")).toHaveLength(1);
        await other.answer("r", "q", { ...yes("q"), reason: "fine", by: "kim" });
        await expect(store.answer("r", "q", { ...yes("q"), by: "lee" })).rejects.toMatchObject({
          code: "question-answered",
          data: { by: "kim" },
        });
        expect((await store.read("r"))?.status).toBe("ready");
        const again = await store.claim(["a"]);
        expect(await (again && ask(again, "q"))).toEqual({
          answer: { approved: true, reason: "fine", by: "kim", hash: "q", ...whileItWaited },
        });
      });

      it("go where their run waits without them, or ends", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        for (const key of ["q", "p", "o"]) await (journal && ask(journal, key));
        await journal?.withdraw?.(["o", "nothing"]).then(() => journal.wait(["q", "nothing"]));
        expect((await other.questions("r")).map(({ key }) => key)).toEqual(["p"]);
        await (await other.open("r")).end(answeredEnd);
        await expect(other.answer("r", "p", yes("p"))).rejects.toMatchObject({ code: "question-unknown" });
      });

      it("that are answered while the run is carried out let it go on at once", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        if (journal === undefined) throw new Error("nothing to claim");
        await ask(journal, "q");
        await ask(journal, "p");
        await other.answer("r", "q", yes("q"));
        expect(await ask(journal, "q")).toEqual({ answer: { approved: true, hash: "q", ...whileItWaited } }); // it has not read the answer at its beginning
        expect((await other.questions("r")).map(({ key }) => key)).toEqual(["p"]);
        await journal.wait();
        expect((await other.read("r"))?.status).toBe("ready");
        await (await other.claim(["a"]))?.wait();
        expect((await other.read("r"))?.status).toBe("waiting");
      });

      it("are answered by those who may, about the policy that asked", async () => {
        const journal = await store.open("r");
        const terms = { key: "q", request: request("q"), by: ["kim", "lee"] };
        await journal.ask?.(terms);
        expect(await other.questions("r")).toMatchObject([{ by: ["kim", "lee"] }]);
        const forbidden = { code: "question-forbidden" };
        await expect(other.answer("r", "q", yes("q"))).rejects.toMatchObject(forbidden);
        await expect(other.answer("r", "q", { ...yes("q"), by: "eve" })).rejects.toMatchObject(forbidden);
        await expect(other.answer("r", "q", { ...yes("q"), by: "kim", policy: "v0" })).rejects.toMatchObject({
          code: "question-stale",
        });
        await journal.ask?.({ ...terms, by: ["lee"], request: { ...request("q"), policy: "v2" } }); // a later process asks again
        await expect(other.answer("r", "q", { ...yes("q"), by: "kim" })).rejects.toMatchObject(forbidden);
        await other.answer("r", "q", { ...yes("q"), by: "lee", policy: "v2" });
        expect(await other.questions("r")).toEqual([]);
      });

      it("have the answer at last when their time is over, once, and no later one", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        if (journal === undefined) throw new Error("nothing to claim");
        const atLast = (afterMs: number) => ({ afterMs, answer: { approved: false, expired: true } });
        await ask(journal, "soon", { atLast: atLast(1) });
        await ask(journal, "later", { atLast: atLast(60_000) });
        await ask(journal, "never");
        await journal.wait();
        const questions = await other.questions("r");
        const until = questions.map((one) => one.until);
        expect(until).toEqual([
          ...[1, 60_000].map((ms, place) => (questions[place]?.since ?? 0) + ms),
          undefined,
        ]);
        await expect.poll(() => Date.now()).toBeGreaterThan(until[0] ?? 0);
        await expect(other.answer("r", "soon", yes("soon"))).rejects.toMatchObject({
          code: "question-expired",
        });
        await Promise.all([store.expire(), other.expire()]);
        expect((await other.read("r"))?.status).toBe("ready");
        expect((await other.questions("r")).map(({ key }) => key)).toEqual(["later", "never"]);
        await expect(other.answer("r", "soon", yes("soon"))).rejects.toMatchObject({
          code: "question-expired",
        });
        const again = await store.claim(["a"]);
        if (again === undefined) throw new Error("nothing to claim");
        expect(await ask(again, "soon")).toEqual({ answer: atLast(1).answer });
        await ask(again, "later", { atLast: atLast(1) });
        expect((await other.questions("r"))[0]).toEqual(questions[1]); // asked again, it stands no longer and no shorter
        await again.wait();
        await store.expire();
        expect((await other.read("r"))?.status).toBe("waiting");
      });

      it("are answered by one of ten who answer at once", async () => {
        const journal = await store.open("r");
        await ask(journal, "q");
        const answers = Array.from({ length: 10 }, (_, who) =>
          (who % 2 === 0 ? store : other).answer("r", "q", yes("q")),
        );
        const ended = await Promise.allSettled(answers);
        expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      });
    });

    describe("a cancelled run", () => {
      it("has ended, whoever has it, and only the result of what was at work is kept", async () => {
        await store.begin(newRun("r"));
        const journal = await store.claim(["a"]);
        if (journal === undefined) throw new Error("nothing to claim");
        await ask(journal, "q");
        let pay = (_text: string): void => undefined;
        const paying = journal.step({
          key: "paid",
          run: () => new Promise<string>((resolve) => (pay = resolve)),
          lost: () => Promise.resolve("lost"),
        });
        let look = (_text: string): void => undefined;
        const looking = journal.step({
          key: "seen",
          run: () => new Promise<string>((resolve) => (look = resolve)),
        });
        await expect.poll(async () => (await other.records("r")).length).toBe(1);
        const cancelled = await other.cancel("r", "too dear");
        expect(cancelled).toMatchObject({
          status: "cancelled",
          end: { outcome: { type: "cancelled", reason: "too dear" } },
        });
        expect(await other.cancel("r", "again")).toEqual(cancelled);
        expect(await store.questions()).toEqual([]);
        await expect(other.answer("r", "q", yes("q"))).rejects.toMatchObject({ code: "question-unknown" });
        pay("paid");
        look("seen");
        expect(await paying).toBe("paid");
        const ended = { code: "run-ended", data: { id: "r", status: "cancelled" } };
        await expect(looking).rejects.toMatchObject(ended);
        await expect(journal.step(never("more"))).rejects.toMatchObject(ended);
        await expect(ask(journal, "late")).rejects.toMatchObject(ended);
        await journal.end(answeredEnd);
        expect(await store.read("r")).toEqual(cancelled);
        expect((await store.records("r")).map(({ key, json }) => [key, json])).toEqual([["paid", '"paid"']]);
        expect(await store.reopen("r")).toEqual(cancelled);
        expect(await store.claim(["a"])).toBeUndefined();
        expect(await store.erase({ id: "r" })).toBe(1);
      });

      it("of nobody is missing, and one that had ended keeps its end", async () => {
        await expect(store.cancel("nobody", "why")).rejects.toMatchObject({ code: "run-missing" });
        await store.begin(newRun("r"));
        await (await store.claim(["a"]))?.end(answeredEnd);
        expect(await store.cancel("r", "late")).toMatchObject({ status: "answered" });
      });
    });
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const dead = new Promise((resolve) => void child.once("exit", resolve));
  child.kill("SIGKILL");
  await dead;
}

async function eventually<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let left = 100; left > 0; left -= 1) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
  throw new Error("it never came");
}
