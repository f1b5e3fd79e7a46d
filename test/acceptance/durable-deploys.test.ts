import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { recordForm } from "../../src/journal/record-form.ts";
import { textOf } from "../../src/doors.ts";
import { agent, type Budget, inMemorySessions, type Policy, session } from "../../src/index.ts";
import type { Tools } from "../../src/tools.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool } from "../../src/testing.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

const pay = fakeTool("pay", "paid", { effect: "irreversible" });

const asks: Policy = () => ({ verdict: "ask", rule: "asks", reason: "a person decides" });
const allows: Policy = () => ({ verdict: "allow", rule: "allows", reason: "" });

/** The agent as one version of a program has it. Its model decides by the conversation alone. */
const clerk = (
  changed: { readonly tools?: Tools; readonly budget?: Budget; readonly policy?: Policy } = {},
) =>
  agent({
    name: "clerk",
    model: ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === "user" && textOf(last) === "Hello") return "Hello.";
      return last?.role === "tool" ? "Paid." : { calls: [{ name: "pay" }] };
    },
    tools: [pay],
    policy: asks,
    ...changed,
  });

it("goes on after a deploy that changed what it was meant to, and says before it what it did not", async () => {
  using store = sqliteRuns(join(mkdtempSync(join(tmpdir(), "writ-deploys-")), "runs.db"));
  const before = durableRuns({ store, agents: [clerk()] });
  await before.start(clerk(), "Pay Ada", { id: "r" });
  const worker = before.work();
  await expect.poll(() => before.waiting("r")).toHaveLength(1);
  await worker.drain();
  const asked = (["read", "records", "questions"] as const).map((name) => vi.spyOn(store, name));
  expect(await before.check()).toEqual([]);
  expect(asked.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 0]); // one statement a run
  expect(await durableRuns({ store, agents: [clerk({ budget: { turns: 20 } })] }).check()).toEqual([]);

  const deployed = clerk({ tools: [pay, fakeTool("mail", "sent")] });
  const stranded = await durableRuns({ store, agents: [deployed] }).check();
  expect(stranded).toMatchObject([
    { run: { id: "r", status: "waiting" }, error: { code: "journal-mismatch" } },
  ]);
  expect(stranded[0]?.error.message).toContain("its tools changed");

  const accepting = durableRuns({ store, agents: [deployed], accept: ["tools"] });
  expect(await accepting.check()).toEqual([]);
  expect(pay.calls).toEqual([]);
  const [question] = await accepting.waiting("r");
  await accepting.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  await using _worker = accepting.work();
  expect(await accepting.result("r")).toMatchObject({ outcome: { type: "answered" }, output: "Paid." });
  expect(pay.calls).toHaveLength(1);
});

describe.each(durablePlaces)(
  "an answer in a process with code that cannot go on with the run, in %s",
  (where) => {
    const open = storesIn(where);

    it("is refused where it is a yes, and the question waits for the code of that time", async () => {
      const paid = pay.calls.length;
      const before = durableRuns({ store: open(), agents: [clerk()] });
      await before.start(clerk(), "Pay Ada", { id: "r" });
      const worker = before.work();
      await expect.poll(() => before.waiting("r")).toHaveLength(1);
      await worker.drain();
      const deployed = durableRuns({
        store: open(),
        agents: [clerk({ tools: [pay, fakeTool("mail", "sent")] })],
      });
      const [question] = await deployed.waiting("r");
      const { key = "", request: { hash = "" } = {} } = question ?? {};
      await expect(deployed.answer("r", key, { approved: true, hash })).rejects.toMatchObject({
        code: "question-stranded",
        message: expect.stringContaining("its tools changed") as string,
      });
      expect((await deployed.show("r"))?.status).toBe("waiting");
      await before.answer("r", key, { approved: true, hash });
      await using _again = before.work();
      expect(await before.result("r")).toMatchObject({ outcome: { type: "answered" } });
      expect(pay.calls).toHaveLength(paid + 1);
    });
  },
);

it("counts the second run of a session for no run of other code where there are no sessions, and takes its answer", async () => {
  const store = memoryRuns();
  const kept = inMemorySessions();
  const sessions = (id: string) => session(kept, id);
  const paid = pay.calls.length;
  const talk = clerk();
  const worker = durableRuns({ store, agents: [talk], sessions });
  await using _worker = worker.work();
  await worker.start(talk, "Hello", { id: "first", session: "s" });
  await worker.result("first");
  await worker.start(talk, "Pay Ada", { id: "second", session: "s" });
  await expect.poll(() => worker.waiting("second")).toHaveLength(1);
  const desk = durableRuns({ store, agents: [talk] });
  expect(await desk.check()).toEqual([]);
  const [question] = await desk.waiting("second");
  const { key = "", request: { hash = "" } = {} } = question ?? {};
  const elsewhere = durableRuns({ store, agents: [clerk({ policy: allows })] });
  await expect(elsewhere.answer("second", key, { approved: true, hash })).rejects.toMatchObject({
    code: "question-stale",
  });
  await desk.answer("second", key, { approved: true, hash });
  expect(await worker.result("second")).toMatchObject({ outcome: { type: "answered" } });
  expect(pay.calls).toHaveLength(paid + 1);
});

it("refuses to accept a part that there is not", () => {
  using store = sqliteRuns(":memory:");
  expect(() => durableRuns({ store, accept: ["tolls" as "tools"] })).toThrow(/`accept\[0\]` must be one of/);
});

it("has its worker listen to the store no more when it was drained", async () => {
  const store = memoryRuns();
  const watch = store.watch.bind(store);
  let listening = 0;
  store.watch = (heard) => {
    listening += 1;
    const stop = watch(heard);
    return () => {
      listening -= 1;
      stop();
    };
  };
  const worker = durableRuns({ store, agents: [clerk()] }).work();
  expect(listening).toBeGreaterThan(0);
  await worker.drain();
  expect(listening).toBe(0);
});

describe.each(durablePlaces)("a run that an earlier version began, in %s", (where) => {
  const open = storesIn(where);

  it("is of the version that carried it out: an earlier one leaves it from then on", async () => {
    const store = open();
    await store.begin({ id: "r", agent: "clerk", input: "Pay \0 \ud83d", options: {}, protocol: 1 });
    const journal = await store.claim(["clerk"]);
    await journal?.close();
    const found = await store.read("r");
    expect(found).toMatchObject({ status: "ready", input: "Pay \0 \ud83d", protocol: recordForm });
    expect((await store.list({ agent: "clerk" })).map(({ protocol }) => protocol)).toEqual([recordForm]);
    expect((await store.moveOut("r")).run.protocol).toBe(recordForm);
  });

  it("is named before a roll back if it is of a later version", async () => {
    const store = open();
    const runs = durableRuns({ store, agents: [clerk()] });
    await runs.start(clerk(), "Pay Ada", { id: "own" });
    await store.begin({ id: "later", agent: "clerk", input: "Pay", options: {}, protocol: recordForm + 1 });
    const error = { code: "journal-newer", data: { run: "later", form: recordForm + 1, known: recordForm } };
    expect(await runs.check()).toMatchObject([{ run: { id: "later", status: "ready" }, error }]);
  });
});
