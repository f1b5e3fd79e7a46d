import { expect, it } from "vitest";
import { agent, tool } from "../../../src/index.ts";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { loadRun } from "../../../src/inspect/load-run.ts";
import { verdictText } from "../../../src/inspect/page/words.ts";
import { originsOf } from "../../../src/inspect/value-origins.ts";
import type { InspectedCall } from "../../../src/inspect/view.ts";
import { clerk } from "./scene.ts";
import { planned } from "../../acceptance/durable-place.ts";

type Request = NonNullable<NonNullable<InspectedCall["question"]>["request"]>;

/** A call with the parts that its heading is made of. */
const call = (parts: object, request?: Partial<Request>): InspectedCall =>
  ({
    ...parts,
    ...(request === undefined ? {} : { question: { key: "k", request, ...parts } }),
  }) as InspectedCall;

it.each([
  [{}, "Waits for a person"],
  [{ waitsFor: "time" }, "Allowed; its tool sleeps"],
  [{ waitsFor: { signal: "paid" } }, "Allowed; its tool waits for a signal"],
  [{ unsettled: true }, "Allowed; waits for a person to say whether it happened"],
] as readonly (readonly [Partial<Request>, string])[])("says what a call waits for: %j", (request, text) => {
  expect(verdictText(call({ state: "waiting" }, request))).toBe(text);
});

it("says of a call with arguments of a person that do not fit that it did not run", () => {
  const answered = { state: "refused", status: "invalid", answer: { approved: true, edited: {} } };
  expect(verdictText(call(answered, {}))).toBe("Allowed by a person, but it did not run");
  expect(verdictText(call({ ...answered, state: "done" }, {}))).toBe("Allowed by a person");
});

it("does not say of a value that is too short to look for that nothing had it before", async () => {
  const look = tool({
    name: "look",
    description: "",
    inputSchema: { type: "object" },
    execute: () => "seen",
  });
  const asked = { name: "look", arguments: { id: "17", to: "ada@example.com", at: "nowhere" } };
  const one = agent({ name: "one", model: planned([asked]), tools: [look] });
  const store = memoryRuns();
  const place = durableRuns({ store, agents: [one] });
  await place.start(one, "Look at 17 for ada@example.com", { id: "one" });
  const worker = place.work();
  await place.result("one");
  await worker.drain();
  const view = await loadRun("one", { store, agents: [], host: nodeHost, known: new Map() });
  const [looked] = view.turns.flatMap(({ calls }) => calls);
  expect(looked && originsOf(view, looked)).toEqual([
    { path: "id", value: "17", unsure: "short" },
    { path: "to", value: "ada@example.com", seenIn: "the input" },
    { path: "at", value: "nowhere" },
  ]);
});

it("counts no time of a run that no process has begun", async () => {
  const store = memoryRuns();
  await durableRuns({ store }).start(clerk(), "Answer mail m-1", { id: "later" });
  const host = { ...nodeHost, now: () => nodeHost.now() + 3_600_000 };
  const { budgets } = await loadRun("later", { store, agents: [], host, known: new Map() });
  expect(budgets.find(({ field }) => field === "durationMs")).toBeUndefined();
});
