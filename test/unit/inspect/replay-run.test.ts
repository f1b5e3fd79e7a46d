import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import type { DurableOptions, RunStore } from "../../../src/durable.ts";
import { replayAgain } from "../../../src/inspect/replay-run.ts";
import type { ReplayedRun } from "../../../src/inspect/view.ts";
import { answered, clerk, waitingRun } from "./scene.ts";

const replay = (
  store: RunStore,
  agent = clerk(),
  options: Pick<DurableOptions, "accept"> = {},
): Promise<ReplayedRun> =>
  replayAgain("mail-1", { store, agents: [agent], host: nodeHost, known: new Map(), ...options });

const noMails = () => ({ verdict: "deny", rule: "quiet", reason: "mails are private" }) as const;

it("tells of a run that waits what is recorded as far as it has come, and changes nothing", async () => {
  const store = await waitingRun();
  const before = await store.records("mail-1");
  const { facts, ...rest } = await replay(store);
  expect(rest).toEqual({ calls: 5, hasEnded: false });
  expect(facts).toBeGreaterThan(20);
  expect(await store.records("mail-1")).toEqual(before);
});

it.each([true, false])("tells of one that has ended its end too, with the answer %s", async (approved) => {
  const store = await waitingRun();
  await answered(store, approved);
  expect(await replay(store)).toEqual({ calls: 5, hasEnded: true, facts: expect.any(Number) });
});

it("says at which step another program asks for something else than is recorded", async () => {
  const store = await waitingRun();
  await answered(store, true);
  const { difference } = await replay(store, clerk().with({ instructions: "You are a pirate." }));
  expect(difference).toEqual({
    at: "turn/1/model",
    recorded: "a step made from another request",
    replayed: "its instructions changed",
  });
});

it("says at which call another policy decides otherwise; what has run stays decided", async () => {
  const store = await waitingRun();
  await answered(store, false);
  const { difference } = await replay(store, clerk().with({ policy: noMails }), { accept: ["policy"] });
  expect(difference).toEqual({
    at: "turn 2, send_mail",
    call: "turn/2/call/1",
    recorded: "ask by sensible",
    replayed: "deny by quiet",
  });
});

it("says that the end is another one", async () => {
  const store = await waitingRun();
  await answered(store, true);
  const changed = new Proxy(store, {
    get(target, name) {
      if (name === "read") return async (id: string) => withAnswer(await target.read(id));
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  expect((await replay(changed)).difference).toMatchObject({
    at: "the end",
    recorded: "answered: Other words",
  });
});

function withAnswer(run: Awaited<ReturnType<RunStore["read"]>>): typeof run {
  if (run?.end?.outcome.type !== "answered") throw new Error("it has not answered");
  return { ...run, end: { ...run.end, outcome: { ...run.end.outcome, content: "Other words" } } };
}
