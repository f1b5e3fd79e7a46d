import { describe, expect, it } from "vitest";
import { compareRuns } from "../../../src/inspect/compare-runs.ts";
import { criticalPath } from "../../../src/inspect/critical-path.ts";
import { filterRuns, readFilter } from "../../../src/inspect/run-filter.ts";
import { askedText, chosenText, durationText, lineText } from "../../../src/inspect/page/words.ts";
import { ticksOf, timeScale } from "../../../src/inspect/time-scale.ts";
import type { InspectedCall, InspectedRun, InspectedTurn, ListedRun } from "../../../src/inspect/view.ts";

function call(index: number, tool: string, times: readonly [from: number, to: number]): InspectedCall {
  const key = `turn/1/call/${index}`;
  const [from, to] = times;
  const spans = [{ phase: "executed", from, to, isExact: true }] as const;
  const lists = { coerced: [], looks: [], delegations: [] };
  return {
    ...lists,
    key,
    callId: key,
    turn: 1,
    index,
    tool,
    state: "done",
    proposed: {},
    proposedAt: from,
    spans,
  };
}

const usage = { inputTokens: 1, outputTokens: 1 };
function turn(
  number: number,
  times: readonly [number, number],
  calls: readonly InspectedCall[],
): InspectedTurn {
  const [from, to] = times;
  const words = {
    driver: "native",
    finishReason: "stop",
    usage,
    text: "",
    repairs: [],
    retries: [],
    tries: [],
  } as const;
  return {
    key: `turn/${number}`,
    number,
    promptLength: 1,
    dropped: 0,
    calls,
    model: { ...words, key: `turn/${number}/model`, from, to, askedAt: from },
  };
}

describe("the critical path", () => {
  it("goes through the slowest of the calls that ran beside each other", () => {
    const calls = [call(0, "quick", [100, 150]), call(1, "slow", [100, 400]), call(2, "other", [100, 390])];
    const turns = [turn(1, [0, 100], calls), turn(2, [400, 500], [])];
    expect(criticalPath(turns)).toEqual(["turn/1/model", "turn/1/call/1", "turn/2/model"]);
  });

  it("goes through calls that queued for each other, one after the other", () => {
    const queued: InspectedCall = {
      ...call(1, "second", [200, 300]),
      spans: [
        { phase: "queued", from: 100, to: 200, isExact: true },
        { phase: "executed", from: 200, to: 300, isExact: true },
      ],
    };
    const turns = [turn(1, [0, 100], [call(0, "first", [100, 200]), queued])];
    expect(criticalPath(turns)).toEqual(["turn/1/model", "turn/1/call/0", "turn/1/call/1"]);
  });

  it("goes through the judging of a call, what it queued for then, and the call itself", () => {
    const queued: InspectedCall = {
      ...call(1, "second", [300, 400]),
      spans: [
        { phase: "authorised", from: 100, to: 200, isExact: true },
        { phase: "queued", from: 200, to: 300, isExact: true },
        { phase: "executed", from: 300, to: 400, isExact: true },
      ],
    };
    const turns = [turn(1, [0, 100], [call(0, "first", [200, 300]), queued])];
    expect(criticalPath(turns)).toEqual(["turn/1/model", "turn/1/call/1", "turn/1/call/0"]);
  });
});

describe("the scale of time", () => {
  const day = 86_400_000;
  const busy = [
    { from: 0, to: 1000 },
    { from: day, to: day + 1000 },
  ];

  it("folds a day in which nothing worked, and keeps the order of times", () => {
    const scale = timeScale(0, day + 1000, { busy, isTrue: false });
    expect(scale.segments.map(({ isFolded }) => isFolded)).toEqual([false, true, false]);
    expect(scale.place(1000)).toBeGreaterThan(0.4);
    expect(scale.place(500) < scale.place(1000) && scale.place(day) < scale.place(day + 1000)).toBe(true);
    expect(scale.place(day + 1000)).toBeCloseTo(1);
  });

  it("folds nothing where the true scale is wanted", () => {
    expect(timeScale(0, day + 1000, { busy, isTrue: true }).place(1000)).toBeLessThan(0.001);
  });

  it("has ticks at round times, none of them in what is folded", () => {
    const { times } = ticksOf(timeScale(0, day + 1000, { busy, isTrue: false }), 4);
    expect(times.filter((tick) => tick > 1000 && tick < day)).toEqual([]);
    expect(times.slice(0, 3)).toEqual([0, 500, 1000]);
  });

  it("has no two ticks of the same words, however near they are and after however long a wait", () => {
    for (const wait of [0, 14_000, 125_000, 7_200_000, 5 * day])
      for (const count of [2, 6, 40, 200]) {
        const last = [{ from: wait, to: wait + 1000 }];
        const { times, step } = ticksOf(timeScale(0, wait + 1000, { busy: last, isTrue: false }), count);
        const words = times.map((time) => durationText(time, step));
        expect(new Set(words).size).toBe(words.length);
      }
    expect([840, 8_200, 59_960, 185_000, 7_500_000, 183_600_000].map((ms) => durationText(ms))).toEqual([
      "840 ms",
      "8.2 s",
      "1 min 0 s",
      "3 min 5 s",
      "2 h 5 min",
      "2 d 3 h",
    ]);
  });

  it("stands a run of no length", () => {
    expect(timeScale(5, 5, { busy: [], isTrue: false }).place(5)).toBe(0);
  });
});

const listed = (id: string, fields: Partial<ListedRun>): ListedRun => ({
  id,
  agent: "clerk",
  status: "answered",
  begunAt: 0,
  asked: "",
  told: "",
  turns: 1,
  calls: 0,
  refused: 0,
  waiting: 0,
  tools: [],
  ...fields,
});

describe("the filter of runs", () => {
  const runs = [
    listed("a", { status: "waiting", tools: ["send_mail"], asked: "Pay Ada: https://rivals.example/x?y:" }),
    listed("b", { refused: 2, calls: 9, told: "Paid." }),
    listed("c", { agent: "payer", session: "s-1", forkOf: "a" }),
  ];

  it.each([
    ["", "abc"],
    ["status:waiting", "a"],
    ["tool:mail", "a"],
    ["refused:yes", "b"],
    ["refused:no", "ac"],
    ["calls:>8", "b"],
    ["calls:>9", ""],
    ["calls:>=9", "b"],
    ["calls:<=8", "ac"],
    ["calls:9", "b"],
    ["https://rivals.example/x?y:", "a"],
    ["agent:payer fork:yes", "c"],
    ["pa", "abc"],
    ["PAID", "b"],
    ["nothing", ""],
  ])("%j gives %j", (text, ids) => {
    const found = filterRuns(runs, readFilter(text));
    expect(found.map(({ id }) => id).join("")).toBe(ids);
  });

  it("takes those in whose records the words stand, and names a field that there is not", () => {
    expect(filterRuns(runs, readFilter("invoice"), new Set(["c"])).map(({ id }) => id)).toEqual(["c"]);
    expect(readFilter("colour:red").unknown).toEqual(["colour"]);
  });

  it("takes ten thousand runs in less than the time of two pictures on a screen, many times over", () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      listed(`run-${index}`, { asked: `Pay ${index}` }),
    );
    const wanted = readFilter("status:answered 99");
    const before = process.cpuUsage();
    for (let time = 0; time < 10; time += 1) filterRuns(many, wanted);
    const { user } = process.cpuUsage(before);
    expect(user / 10 / 1000).toBeLessThan(100); // milliseconds of the processor, of 100 that are promised
  });
});

it("a value on one line ends behind its first 300 signs, and says so", () => {
  expect(lineText("ab".repeat(150))).toBe("ab".repeat(150));
  expect(lineText(`ab${"c".repeat(298)}d`)).toBe(`ab${"c".repeat(298)}…`);
  expect(lineText({ to: "c".repeat(300) })).toBe(`{"to":"${"c".repeat(293)}…`);
});

it("what a person is asked about has no character that is not seen, or that turns the line around", () => {
  const to = "ada@example.com\u{202E}moc.elpmaxe@eve\u{200B}";
  expect(askedText({ to })).toBe('{\n  "to": "ada@example.com\\u202emoc.elpmaxe@eve\\u200b"\n}');
  expect(JSON.parse(askedText({ to }))).toEqual({ to });
  expect(chosenText({ path: "to", value: to })).toBe(
    String.raw`to = "ada@example.com\u{202e}moc.elpmaxe@eve\u{200b}"`,
  );
});

describe("two runs compared", () => {
  const run = (turns: readonly InspectedTurn[]): InspectedRun =>
    ({ turns, outcome: { type: "answered", text: "yes" } }) as unknown as InspectedRun;

  it("finds no difference between a run and itself", () => {
    const one = run([turn(1, [0, 1], [call(0, "a", [1, 2])])]);
    expect(compareRuns(one, one)).toMatchObject({ differences: 0, sameOutcome: true });
  });

  it("pairs calls of the same tool, first those with the same arguments, and names what differs", () => {
    const left = run([
      turn(1, [0, 1], [call(0, "pay", [1, 2]), { ...call(1, "pay", [1, 2]), proposed: { to: "Ada" } }]),
    ]);
    const changed: InspectedCall = { ...call(0, "pay", [1, 2]), proposed: { to: "Ada" }, state: "refused" };
    const right = run([turn(1, [0, 1], [changed, call(1, "look", [1, 2])])]);
    const [compared] = compareRuns(left, right).turns;
    expect(
      compared?.calls.map(({ left: one, right: other, differs }) => [one?.index, other?.index, differs]),
    ).toEqual([
      [0, 0, ["arguments", "state"]],
      [1, undefined, ["only in the first"]],
      [undefined, 1, ["only in the second"]],
    ]);
  });
});
