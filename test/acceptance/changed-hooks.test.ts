import { describe, expect, it } from "vitest";
import type { JournalRecord, Transcript } from "../../src/doors.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type Hook, memoryJournal, type Policy, tool } from "../../src/index.ts";
import type { ModelFunction } from "../../src/models.ts";
import { scripted } from "../../src/testing.ts";
import { roundTrip } from "./watching.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const look = tool({
  name: "look",
  description: "",
  inputSchema: { type: "object" },
  effect: "read",
  execute: () => "seen",
});

const clerk = (hooks: readonly Hook[], script: Parameters<typeof scripted>[0]) =>
  agent({
    name: "clerk",
    policy: free,
    tools: [look],
    model: scripted(script),
    hooks,
    budget: { toolCalls: 3 },
  });

const three = [
  { calls: [{ name: "look", arguments: {} }] },
  { calls: [{ name: "look", arguments: {} }] },
  "almost",
  "done",
];

const messagesOf = ({ messages }: Transcript): unknown => roundTrip(messages);

/** The records of a run that died while its model was asked once more, and its messages until then. */
async function diedRun(hooks: readonly Hook[]) {
  const journal = memoryJournal();
  const { transcript } = await clerk(hooks, three).run("Go", { journal, runId: "r" });
  const last = journal.records.filter(({ key }) => key.endsWith("/model")).length;
  const records = journal.records.filter(({ key }) => key !== "end" && !key.startsWith(`turn/${last}`));
  return { records, messages: messagesOf(transcript) };
}

async function goOn(records: readonly JournalRecord[], hooks: readonly Hook[], answer: string) {
  const run = clerk(hooks, [answer]).run("Go", { journal: memoryJournal(records), runId: "r" });
  return messagesOf((await run).transcript);
}

describe("a hook that is new in a run that went on", () => {
  const places = [
    { beforeRun: () => ({ input: "Stop" }) },
    { beforeSkill: () => ({ deny: "no" }) },
    { beforeTurn: () => ({ say: "hm" }) },
    { beforeTurn: () => ({ answer: "no" }) },
    { beforeTurn: () => ({ deny: "no" }) },
    { beforeModel: () => ({ settings: { temperature: 0 } }) },
    { afterModel: () => ({ message: { role: "assistant", parts: [{ type: "text", text: "no" }] } }) },
    { afterToolCall: () => ({ result: { status: "ok", text: "no" } }) },
    { afterTurn: () => ({ say: "hm" }) },
    { afterTurn: () => ({ stop: "no" }) },
    { onBudgetThreshold: () => undefined },
  ] as const satisfies readonly Hook[];

  it.each(places.map((hook) => [Object.keys(hook).join(), hook] as const))(
    "%s is asked about nothing that is past",
    async (place, hook) => {
      const { records, messages } = await diedRun([]);
      const last = place === "afterTurn" ? 2 : 3;
      const asked: number[] = [];
      const noted = Object.fromEntries(
        Object.entries(hook).map(([place, answer]) => [
          place,
          ({ turn = 0 }: { turn?: number }) => {
            asked.push(turn);
            return turn === last ? {} : answer();
          },
        ]),
      );
      expect(await goOn(records, [noted], "almost")).toEqual(messages);
      expect(asked.filter((turn) => turn !== last)).toEqual([]);
    },
  );

  it("onStop does not let a run go on that ended", async () => {
    const journal = memoryJournal();
    const hooks: Hook[] = [{ onStop: () => ({ continue: "again" }), afterRun: () => ({ output: "else" }) }];
    const first = await clerk([], three).run("Go", { journal, runId: "r" });
    const again = await clerk(hooks, ["never"]).run("Go", { journal, runId: "r" });
    expect(again.output).toBe(first.output);
    expect(messagesOf(again.transcript)).toEqual(messagesOf(first.transcript));
  });
});

describe("a hook that is gone", () => {
  const places = [
    { beforeRun: () => ({ input: "Come" }) },
    { beforeTurn: ({ turn }) => ({ say: `turn ${turn}` }) },
    { afterTurn: ({ turn }) => ({ say: `turn ${turn}` }) },
    { beforeModel: () => ({ settings: { temperature: 0 } }) },
    { afterModel: ({ message }) => ({ message }) },
    { afterToolCall: ({ result }) => ({ result: { ...result, text: "masked" } }) },
  ] as const satisfies readonly Hook[];

  it.each(places.map((hook) => [Object.keys(hook).join(), hook] as const))(
    "%s is heard in what is past",
    async (place, hook) => {
      const { records, messages } = await diedRun([hook]);
      const said = place === "beforeTurn" ? "turn 3" : "";
      const all = (await goOn(records, [], "almost")) as readonly unknown[];
      const then = (messages as readonly unknown[]).filter(
        (each) => said === "" || !JSON.stringify(each).includes(said),
      );
      expect(all).toEqual(then);
    },
  );

  it("leaves a run that ended as it was", async () => {
    const journal = memoryJournal();
    const asked: string[] = [];
    const hooks: Hook[] = [
      {
        onStop: ({ turn }) => (turn === 3 ? { continue: "again" } : {}),
        afterRun: () => (asked.push("end"), { output: "else" }),
      },
    ];
    const first = await clerk(hooks, three).run("Go", { journal, runId: "r" });
    const again = await clerk([], ["never"]).run("Go", { journal, runId: "r" });
    expect(again.output).toBe("else");
    expect(messagesOf(again.transcript)).toEqual(messagesOf(first.transcript));
    expect(asked).toEqual(["end"]);
  });
});

it("a durable run asks the hooks of its beginning and of its end once, in one process or another", async () => {
  const asked: string[] = [];
  const note = (place: string, answer: object) => () => (asked.push(place), answer);
  const hooks: Hook[] = [
    {
      beforeRun: note("beforeRun", { input: "Come" }),
      beforeSkill: note("beforeSkill", {}),
      afterRun: note("afterRun", { output: "else" }),
    },
  ];
  let seen = "";
  const model: ModelFunction = ({ messages }) => ((seen = JSON.stringify(messages)), "done");
  const greeter = agent({ name: "greeter", model, hooks });
  const runs = durableRuns({ store: memoryRuns(), agents: [greeter] });
  await runs.start(greeter, "Go", { id: "r" });
  await using _worker = runs.work();
  expect(await runs.result("r")).toMatchObject({ output: "else" });
  expect(seen).toContain("Come");
  expect(asked).toEqual(["beforeRun", "beforeSkill", "afterRun"]);
});
