import { describe, expect, it } from "vitest";
import { type Schedule, simulate } from "../../src/testing.ts";
import { type Case, cases } from "./agents.ts";

/** The schedules of all cases together. */
const schedules = 8000;

describe("simulated agents", () => {
  const share = Math.ceil(schedules / Object.keys(cases).length);
  it.each(Object.entries(cases))(
    "hold in every schedule: %s",
    { timeout: 600_000 },
    async (_name, { agent, options }) => {
      const { failure, counts } = await simulate(agent, { ...options, seed: 1, schedules: share });
      expect(failure?.message).toBeUndefined();
      for (const what of ["requests", "calls", "effects", "steps", "deaths"])
        expect(counts[what]).toBeGreaterThan(20);
    },
  );
});

it("tells in a replay of a call that ended beside one that waits, when their run's time is over", async () => {
  const { agent, options } = cases["delegating"] as Case;
  const reads = { name: "reader", arguments: { input: "a" } };
  const schedule: Schedule = {
    durable: true,
    deviations: [
      { at: "model 1", does: "proposes", calls: [reads, { ...reads, arguments: { input: "b" } }] },
      { at: "model 2", does: "is-silent" },
      { at: "model 3", does: "proposes", calls: [{ name: "pay", arguments: { order: "A1", amount: 5 } }] },
    ],
  };
  const { failure, counts } = await simulate(agent, { ...options, schedule });
  expect(failure?.message).toBeUndefined();
  expect(counts).toMatchObject({ requests: 3, questions: 1, effects: 0 });
});

it("holds a run that was stopped while its session was read to nothing that it was not told", async () => {
  const { agent, options } = cases["mending"] as Case;
  const schedule: Schedule = {
    durable: true,
    deviations: [
      {
        at: "model 1",
        does: "proposes",
        calls: [{ name: "pay", arguments: { order: "A2", amount: 100 } }],
      },
      { at: "step 10", does: "dies-unkept" },
      { at: "moment 8", does: "stops" },
    ],
  };
  const { failure, counts } = await simulate(agent, { ...options, schedule });
  expect(failure?.message).toBeUndefined();
  expect(counts).toMatchObject({ runs: 2, deaths: 1, effects: 1 });
});

it("takes a call of one run for no other of its id in the run after it, which its session tells of no calls", async () => {
  const { agent, options } = cases["conversation"] as Case;
  const pay = { name: "pay", arguments: { order: "A2", amount: 100 } };
  const schedule: Schedule = {
    durable: false,
    deviations: [
      { at: "model 1", does: "proposes", calls: [pay] },
      { at: "model 2", does: "doubles", calls: [pay] },
      { at: "person 3", does: "refuses" },
      { at: "model 4", does: "proposes", calls: [pay] },
      { at: "model 5", does: "doubles", calls: [pay] },
    ],
  };
  const { failure, counts } = await simulate(agent, { ...options, schedule });
  expect(failure?.message).toBeUndefined();
  expect(counts["questions"]).toBeGreaterThan(3);
});

it("takes a denied call for no call of its id in an agent inside, to which a person said yes", async () => {
  const { agent, options } = cases["receiving"] as Case;
  const doubled = (at: string, amount: number) =>
    ({ at, does: "doubles", calls: [{ name: "pay", arguments: { order: "A2", amount } }] }) as const;
  const asks = {
    at: "model 2",
    does: "proposes",
    calls: [{ name: "receiver", arguments: { input: "b" } }],
  } as const;
  const schedule: Schedule = {
    durable: false,
    deviations: [doubled("model 1", 2), asks, doubled("model 3", 1)],
  };
  const { failure, counts } = await simulate(agent, { ...options, schedule });
  expect(failure?.message).toBeUndefined();
  expect(counts).toMatchObject({ questions: 2, effects: 2 });
});

/** Schedules that broke an invariant once, each with the case whose agent it is. */
const broken: readonly [what: string, name: string, deviations: Schedule["deviations"]][] = [
  [
    "a call that waits for a person when its run is stopped is cancelled in the transcript, as was told",
    "clerk",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "look", arguments: { order: "A1" } },
          { name: "pay", arguments: { order: "A1", amount: 100 } },
          { name: "pay", arguments: { order: "A1", amount: 100 } },
        ],
      },
      { at: "tool look 1", does: "hangs" },
      { at: "moment 4", does: "stops" },
    ],
  ],
  [
    "a no that nobody took before the run's time was over denies nothing in a replay",
    "recovering",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "note", arguments: { order: "A1" } },
          { name: "book", arguments: { order: "A1" } },
          { name: "wire", arguments: { order: "A1" } },
        ],
      },
      { at: "tool book 1", does: "hangs" },
      { at: "person 1", does: "refuses" },
    ],
  ],
  [
    "a call behind a blocked one is skipped, though a person says yes to it: its author wants that",
    "mending",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "pay", arguments: { order: "A1", amount: 1 } },
          { name: "pay", arguments: { order: "A2", amount: 1 } },
        ],
      },
      { at: "person 1", does: "refuses" },
    ],
  ],
  [
    "calls that ended while the run was handed over and stopped have their results in the transcript",
    "remembering",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "secret", arguments: { order: "A2" } },
          { name: "secret", arguments: { order: "A2" } },
          { name: "secret", arguments: { order: "A2" } },
        ],
      },
      { at: "moment 2", does: "hands-over" },
      { at: "step 12", does: "dies-before" },
      { at: "step 15", does: "dies-after" },
      { at: "moment 5", does: "hands-over" },
      { at: "moment 7", does: "stops" },
    ],
  ],
  [
    "a replay follows a run past an end that its process did not live to report",
    "bounded",
    [
      { at: "model 1", does: "proposes", calls: [{ name: "look", arguments: { order: "A2" } }] },
      { at: "step 3", does: "dies-after" },
      { at: "model 2", does: "is-silent" },
      { at: "step 8", does: "stalls" },
      { at: "model 3", does: "proposes", calls: [{ name: "note", arguments: { order: "A2" } }] },
    ],
  ],
  [
    "a run that waits a second time, after an end that its process did not live to report, takes the answer",
    "scripted",
    [
      { at: "model 1", does: "is-silent" },
      { at: "step 3", does: "dies-after" },
      { at: "model 2", does: "proposes", calls: [{ name: "pay", arguments: { order: "A1", amount: 2 } }] },
    ],
  ],
  [
    "calls of a run that was handed over when its time ended have ends, live and at a replay",
    "sensible",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "look", arguments: { order: "A1" } },
          { name: "look", arguments: { order: "A1" } },
          { name: "pay", arguments: { order: "A1", amount: 1 } },
        ],
      },
      { at: "tool look 2", does: "hangs-after" },
      { at: "moment 3", does: "hands-over" },
    ],
  ],
  [
    "a reply has its calls at a replay when the time was over while it was handed over and one of them waited for a person",
    "clerk",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "pay", arguments: { order: "A1", amount: 1 } },
          { name: "note", arguments: { order: "A1" } },
          { name: "pay", arguments: { order: "A2", amount: 2 } },
        ],
      },
      { at: "tool pay 1", does: "hangs" },
      { at: "moment 4", does: "hands-over" },
    ],
  ],
  [
    "an agent inside a call has an end, and its usage counts, when the time of the run around it is over while that is handed over",
    "delegating",
    [
      { at: "model 1", does: "proposes", calls: [{ name: "reader", arguments: { input: "A1" } }] },
      { at: "model 2", does: "proposes", calls: [{ name: "look", arguments: { order: "A1" } }] },
      { at: "tool look 1", does: "hangs-after" },
      { at: "moment 5", does: "hands-over" },
    ],
  ],
  [
    "an agent inside that waited before the time was over is told to wait at a replay too, though a call beside its own had ended and the answer came",
    "receiving",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "desk", arguments: { input: "b" } },
          { name: "desk", arguments: { input: "b" } },
        ],
      },
      {
        at: "model 2",
        does: "proposes",
        calls: [
          { name: "receiver", arguments: { input: "a" } },
          { name: "receiver", arguments: { input: "b" } },
        ],
      },
      { at: "model 3", does: "proposes", calls: [{ name: "note", arguments: { order: "A1" } }] },
      { at: "step 13", does: "dies-before" },
      { at: "model 4", does: "is-silent" },
      { at: "model 5", does: "proposes", calls: [{ name: "pay", arguments: { order: "A1", amount: 2 } }] },
    ],
  ],
  [
    "a call that its run's time kept from beginning has not begun for a process that goes on until its own time is over",
    "sensible",
    [
      {
        at: "model 1",
        does: "doubles",
        calls: [
          { name: "pay", arguments: { order: "A1", amount: 1 } },
          { name: "note", arguments: { order: "A1", amount: 1 } },
          { name: "pay", arguments: { order: "A1", amount: 1 } },
        ],
      },
      { at: "step 5", does: "dies-before" },
      { at: "step 8", does: "dies-after" },
      { at: "tool pay 1", does: "hangs-after" },
      { at: "tool pay 2", does: "hangs-after" },
    ],
  ],
  [
    "a call that waited for one before it when the time was over has not begun for the process that goes on either",
    "recovering",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "ship", arguments: { order: "A2" } },
          { name: "ship", arguments: { order: "A2" } },
        ],
      },
      { at: "tool ship 1", does: "hangs" },
      { at: "step 5", does: "dies-after" },
    ],
  ],
  [
    "a call that waited for a signal when the time was over is told to end, live and at a replay",
    "receiving",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "desk", arguments: { input: "A1" } },
          { name: "parcel", arguments: { order: "A2" } },
        ],
      },
      { at: "model 2", does: "is-silent" },
      { at: "person 1", does: "keeps-silent" },
    ],
  ],
  [
    "an agent inside was handed over while it waited to ask its model again, and the time of the run around it ended then",
    "delegating",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "reader", arguments: { input: "A1" } },
          { name: "reader", arguments: { input: "A2" } },
        ],
      },
      { at: "model 2", does: "is-overloaded" },
      { at: "model 3", does: "is-silent" },
      { at: "moment 4", does: "hands-over" },
    ],
  ],
  [
    "an agent inside was handed over before it could ask a person, and the time of the run around it ended then",
    "delegating",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "look", arguments: { order: "A1" } },
          { name: "reader", arguments: { input: "A1" } },
        ],
      },
      { at: "tool look 1", does: "hangs" },
      { at: "model 2", does: "proposes", calls: [{ name: "pay", arguments: { order: "A1", amount: 1 } }] },
      { at: "moment 3", does: "hands-over" },
    ],
  ],
  [
    "a run took an answer in the process that ended it, though one before had kept an end without it",
    "delegating",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "reader", arguments: { input: "A1" } },
          { name: "pay", arguments: { order: "A1", amount: 1 } },
        ],
      },
      { at: "person 1", does: "refuses" },
      { at: "model 2", does: "proposes", calls: [{ name: "look", arguments: { order: "A1" } }] },
      { at: "tool look 1", does: "hangs-after" },
      { at: "step 8", does: "dies-after" },
    ],
  ],
  [
    "a process that stood still while its run was stopped runs no call that may go again",
    "recovering",
    [
      { at: "model 1", does: "proposes", calls: [{ name: "ship", arguments: { order: "A1" } }] },
      { at: "step 3", does: "dies-before" },
      { at: "step 4", does: "stalls" },
      { at: "moment 4", does: "stops" },
    ],
  ],
  [
    "a call that a dead process made early is not told as left out where another process learns that its run was cancelled",
    "clerk",
    [
      { at: "model 1", does: "proposes", calls: [{ name: "look", arguments: { order: "A2" } }] },
      { at: "step 3", does: "dies-unkept" },
      { at: "step 6", does: "dies-unkept" },
      {
        at: "model 2",
        does: "proposes",
        calls: [
          { name: "look", arguments: { order: "A1" } },
          { name: "book", arguments: { order: "A1" } },
        ],
      },
      { at: "step 11", does: "dies-unkept" },
      { at: "step 15", does: "stalls" },
      { at: "moment 12", does: "stops" },
    ],
  ],
  [
    "nor is a payment that it began told as cancelled, where that process learns so by the question of the call beside it",
    "delegating",
    [
      {
        at: "model 1",
        does: "proposes",
        calls: [
          { name: "pay", arguments: { order: "A1", amount: 1 } },
          { name: "pay", arguments: { order: "A1", amount: 2 } },
        ],
      },
      { at: "person 2", does: "answers-late", ms: 86_400_000 },
      { at: "step 5", does: "dies-unkept" },
      { at: "moment 5", does: "stops" },
    ],
  ],
  [
    "nor where its session is looked at first",
    "conversation",
    [
      { at: "model 1", does: "proposes", calls: [{ name: "look", arguments: { order: "A2" } }] },
      {
        at: "model 3",
        does: "proposes",
        calls: [
          { name: "look", arguments: { order: "A2" } },
          { name: "pay", arguments: { order: "A1", amount: 1 } },
        ],
      },
      { at: "step 11", does: "dies-unkept" },
      { at: "moment 8", does: "stops" },
    ],
  ],
];

it.each(broken)("holds that %s", async (_what, name, deviations) => {
  const { agent, options } = cases[name] as Case;
  const { failure } = await simulate(agent, { ...options, schedule: { durable: true, deviations } });
  expect(failure?.message).toBeUndefined();
});

it("tells calls of two runs of a conversation apart that have one id", async () => {
  const { agent, options } = cases["remembering"] as Case;
  const schedule: Schedule = {
    durable: false,
    deviations: [
      { at: "model 1", does: "doubles", calls: [{ name: "look", arguments: { order: "A2" } }] },
      { at: "model 3", does: "doubles", calls: [{ name: "look", arguments: { odd: true } }] },
    ],
  };
  const { failure } = await simulate(agent, { ...options, schedule });
  expect(failure?.message).toBeUndefined();
});
