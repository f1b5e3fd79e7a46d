import { describe, expect, it } from "vitest";
import { WritError } from "../../../src/error/writ-error.ts";
import { bestOf, goneByAuto } from "../../../src/eval/probe/best.ts";
import { keptScores } from "../../../src/eval/probe/kept-scores.ts";
import type { ProbeCase } from "../../../src/eval/probe/probe-case.ts";
import { probe, type ProbeEvent, type ProbeOptions } from "../../../src/eval/probe/probe.ts";
import { scoresOf, type WayScore } from "../../../src/eval/probe/score.ts";
import { tableRows } from "../../../src/eval/probe/table.ts";
import type { DriverName } from "../../../src/model/driver-names.ts";
import { type FunctionReply, modelFromFunction } from "../../../src/model/function-model.ts";
import type { Model, ModelFeatures, ModelRequest } from "../../../src/model/model.ts";
import { tool } from "../../../src/tool/tool.ts";
import type { Json } from "../../../src/util/json.ts";

const look = tool({
  name: "look",
  description: "Look at a thing",
  inputSchema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
  effect: "none",
  execute: () => 42,
});

const cases: readonly ProbeCase[] = [
  {
    name: "look",
    input: "Look!",
    tools: [look],
    calls: [{ tool: "look", arguments: [{ at: "it" }] }],
    answer: ["42"],
  },
  { name: "rest", input: "Rest.", tools: [look], calls: [] },
];

/** Speaks the JSON protocol without a fault, and knows no other: elsewhere it writes prose. */
function speaksJson(request: ModelRequest): FunctionReply {
  const said = JSON.stringify(request.messages);
  const usage = {
    inputTokens: 100,
    outputTokens: 10,
    cachedInputTokens: request.messages.length > 2 ? 80 : 0,
  };
  const say = (text: string): FunctionReply => ({ text, usage });
  if (!said.includes('{\\"final\\"') && !said.includes('\\"final\\":'))
    return say("I would look at it, if I may.");
  if (said.includes("Rest.")) return say('{"final": {"content": "Gladly."}}');
  return said.includes("42")
    ? say('{"final": {"content": "It is 42."}}')
    : say('{"thought": "I look", "action": {"tool": "look", "args": {"at": "it"}}}');
}

function modelOf(answer: (request: ModelRequest) => FunctionReply, features: ModelFeatures = {}): Model {
  return modelFromFunction(answer, { id: "test/model", features });
}

async function run(options: Partial<ProbeOptions> & Pick<ProbeOptions, "model">): Promise<{
  readonly events: readonly ProbeEvent[];
  readonly scores: readonly WayScore[];
}> {
  const events: ProbeEvent[] = [];
  const signal = new AbortController().signal;
  const drivers: readonly DriverName[] = ["native", "json", "react"];
  const defaults = { drivers, grammar: "both", cases, caseTimeoutMs: 10_000, signal } as const;
  for await (const event of probe({ ...defaults, ...options })) events.push(event);
  return { events, scores: scoresOf(events, options.cases ?? cases) };
}

describe("probe", () => {
  it("measures exactly what a model does that speaks one protocol [P5.3]", async () => {
    const { scores, events } = await run({ model: modelOf(speaksJson, { tools: false }) });
    expect(events[0]).toEqual({
      type: "skipped",
      driver: "native",
      reason: "the model says that it has no tools",
    });
    const [json, react] = scores;
    expect(scores).toHaveLength(2);
    expect(json).toMatchObject({
      driver: "json",
      held: "never",
      right: { count: 1, of: 1 },
      restraint: { count: 1, of: 1 },
      valid: { count: 3, of: 3 },
      inputTokens: 300,
      outputTokens: 30,
      evaluated: {
        tokens: 220,
        first: { prompt: 100, evaluated: 100 },
        later: { prompt: 100, evaluated: 20 },
      },
      score: 1,
    });
    expect(react).toMatchObject({
      driver: "react",
      right: { count: 0, of: 1 },
      restraint: { count: 0, of: 1 },
      valid: { count: 0 },
      score: 0,
    });
    expect(react?.valid.of).toBeGreaterThan(2);
    expect(bestOf(scores)).toMatchObject({
      way: { driver: "json" },
      why: expect.stringContaining("react scores less"),
    });
    expect(tableRows(scores)[1]?.slice(0, 8)).toEqual([
      "json",
      "-",
      "100 % of 3",
      "1/1",
      "1/1",
      "1.00",
      "300 / 30",
      "220",
    ]);
  });

  it("tells the share of replies that could be read, rounded down from the true one", () => {
    const share = (count: number, of: number) => ({ count, of });
    const valid = (count: number, of: number): string | undefined =>
      tableRows([
        {
          driver: "json",
          held: "on",
          right: share(1, 1),
          restraint: share(1, 1),
          valid: share(count, of),
          cut: 0,
          inputTokens: 1,
          outputTokens: 1,
          evaluated: undefined,
          durationMs: 1,
          score: 1,
        },
      ])[1]?.[2];
    expect([valid(29, 100), valid(57, 100), valid(199, 200), valid(7, 7)]).toEqual([
      "29 % of 100", // 0.29 * 100 is less than 29
      "57 % of 100",
      "99 % of 200",
      "100 % of 7",
    ]);
  });

  it("runs a driver held to its format and free, and once where no format goes with its requests", async () => {
    const formats: string[] = [];
    const model = modelOf(
      (request) => {
        formats.push(request.format?.type ?? "none");
        return speaksJson(request);
      },
      { tools: true, format: "schema" },
    );
    const both = await run({ model, drivers: ["json", "native"] });
    expect(both.scores.map(({ driver, held }) => `${driver} ${held}`)).toEqual([
      "json on",
      "json off",
      "native never",
    ]);
    // the question before the probe, three held turns, three free ones, and two of native
    expect(formats).toEqual(["none", ...Array(3).fill("schema"), ...Array(5).fill("none")]);
    const off = await run({ model, drivers: ["json"], grammar: "off" });
    expect(off.scores.map(({ held }) => held)).toEqual(["off"]);
    expect(goneByAuto(off.scores)).toEqual([]);
    const on = await run({ model, drivers: ["json"], grammar: "on" });
    expect(on.scores.map(({ held }) => held)).toEqual(["on"]);
  });

  it("skips native where the provider says that the model has no tools", async () => {
    const model = modelOf(({ tools }) => {
      if (tools.length > 0)
        throw new WritError("model-without-tools", { model: "m", provider: "test", known: "none" });
      return speaksJson({ messages: [], tools, toolChoice: "none", settings: {} });
    });
    const { events } = await run({ model, drivers: ["native"] });
    expect(events).toEqual([
      { type: "skipped", driver: "native", reason: "the provider says that the model has no tools" },
    ]);
  });

  it("takes a case that fails, or takes too long, for a wrong one and goes on", async () => {
    let asked = 0;
    const model = modelOf(() => {
      asked += 1;
      if (asked === 2) throw new Error("the context is too small");
      return "Rest well.";
    });
    const { events } = await run({ model, drivers: ["native"] });
    expect(events.map((event) => event.type === "case" && event.result)).toMatchObject([
      { name: "look", right: false, fault: expect.stringContaining("the context is too small") },
      { name: "rest", right: true },
    ]);
    const slow = modelOf(async function* ({ settings }) {
      if (settings.seed !== undefined) await new Promise((resolve) => setTimeout(resolve, 300));
      yield { type: "end", finishReason: "stop" };
    });
    const late = await run({ model: slow, drivers: ["native"], caseTimeoutMs: 20 });
    expect(late.events).toHaveLength(2);
    for (const event of late.events)
      expect(event).toMatchObject({
        result: { right: false, fault: expect.stringContaining("exceeded duration budget") },
      });
  });

  it.each([
    new WritError("provider-unreachable", { provider: "test", url: "http://x", reason: "gone", advice: "" }),
    new WritError("model-rate-limited", { provider: "test", model: "m", reason: "too many requests" }),
  ])("stops where a provider answers none any more, and keeps what was told before: $code", async (error) => {
    let asked = 0;
    const model = modelOf(() => {
      asked += 1;
      if (asked > 2) throw error;
      return "Nothing.";
    });
    const told: ProbeEvent[] = [];
    const signal = new AbortController().signal;
    const all = probe({ model, drivers: ["native"], grammar: "both", cases, caseTimeoutMs: 1000, signal });
    await expect(
      (async () => {
        for await (const event of all) told.push(event);
      })(),
    ).rejects.toMatchObject({ code: error.code });
    expect(told).toHaveLength(1);
  });

  it("ends without an error when it is aborted, after the last whole case", async () => {
    const stop = new AbortController();
    let asked = 0;
    const model = modelOf(() => {
      asked += 1;
      if (asked === 3) stop.abort(new Error("enough"));
      return "Nothing.";
    });
    const { events, scores } = await run({ model, drivers: ["native", "json"], signal: stop.signal });
    expect(events).toHaveLength(1);
    expect(scores).toHaveLength(1);
  });
});

const way = (changes: Partial<WayScore>): WayScore => ({
  driver: "json",
  held: "on",
  right: { count: 5, of: 10 },
  restraint: { count: 5, of: 5 },
  valid: { count: 9, of: 10 },
  cut: 0,
  inputTokens: 100,
  outputTokens: 10,
  durationMs: 1,
  score: 0.5,
  ...changes,
});

describe("bestOf", () => {
  it("goes by score, then by right, then by valid, then by tokens", () => {
    const plain = way({});
    const rows = [
      [way({ driver: "react", score: 0.6 }), "json with grammar scores less"],
      [way({ driver: "react", right: { count: 6, of: 10 } }), "fewer right"],
      [way({ driver: "react", valid: { count: 10, of: 10 } }), "fewer replies valid"],
      [way({ driver: "react", inputTokens: 99 }), "more tokens"],
    ] as const;
    for (const [better, why] of rows) {
      expect(bestOf([plain, better])).toMatchObject({ way: better, why: expect.stringContaining(why) });
    }
    expect(bestOf([plain, way({ driver: "react" })])?.way.driver).toBe("json");
    expect(bestOf([way({ score: 0 })])).toBeUndefined();
    expect(bestOf([])).toBeUndefined();
  });

  it("is none that was measured with fewer cases, as where a probe ended early", () => {
    const first = { count: 1, of: 1 };
    const begun = way({ driver: "react", right: first, restraint: { count: 0, of: 0 }, score: 1 });
    expect(bestOf([begun, way({})])).toMatchObject({ way: { driver: "json" } });
    expect(bestOf([begun])?.way.driver).toBe("react");
  });

  it("asks for no reply shorter than a provider allows: OpenAI's Responses API takes 16 tokens at least", async () => {
    const model = modelOf((request) => {
      if ((request.settings.maxOutputTokens ?? Infinity) < 16) throw new Error("integer below minimum value");
      return speaksJson(request);
    });
    const { scores } = await run({ model, drivers: ["json"] });
    expect(scores[0]).toMatchObject({ right: { count: 1, of: 1 } });
  });

  it("gives no points to a driver that never calls, nor to one that always does", async () => {
    const never = await run({ model: modelOf(() => "I rest."), drivers: ["native"] });
    expect(never.scores[0]).toMatchObject({ restraint: { count: 1, of: 1 }, right: { count: 0 }, score: 0 });
    const always = modelOf(({ messages }) =>
      messages.at(-1)?.role === "tool" ? "It is 42." : { calls: [{ name: "look", arguments: { at: "it" } }] },
    );
    const { scores } = await run({ model: always, drivers: ["native"] });
    expect(scores[0]).toMatchObject({ restraint: { count: 0, of: 1 }, right: { count: 1 }, score: 0 });
  });
});

describe("keptScores", () => {
  const date = "2031-01-02";
  const share = { count: 1, of: 1 };
  const score = (driver: DriverName, held: "on" | "off" | "never", more: object = {}) => ({
    driver,
    held,
    right: share,
    restraint: share,
    valid: share,
    inputTokens: 1,
    outputTokens: 1,
    score: 1,
    ...more,
  });
  const result = { name: "look" } as never;
  const before = { scores: [score("json", "on"), score("json", "off"), score("native", "never")], date };
  const kept = (events: readonly ProbeEvent[], scores: readonly Json[] = before.scores) =>
    keptScores({ date, scores }, events, 2).map((one) => `${one.driver} ${one.held} ${one.date}`);

  it("are those of ways that were not measured again, with the day of their measuring", () => {
    const other = [score("json", "on", { date: "2030-01-01" }), ...before.scores.slice(1)];
    expect(kept([{ type: "case", driver: "lines", held: "on", result }], other)).toEqual([
      "json on 2030-01-01",
      "json off 2031-01-02",
      "native never 2031-01-02",
    ]);
    expect(kept([{ type: "case", driver: "json", held: "on", result }])).toEqual([
      "json off 2031-01-02",
      "native never 2031-01-02",
    ]);
    expect(kept([{ type: "case", driver: "json", held: "never", result }])).toEqual([
      "native never 2031-01-02",
    ]);
    expect(kept([{ type: "skipped", driver: "native", reason: "no tools" }])).toEqual([
      "json on 2031-01-02",
      "json off 2031-01-02",
    ]);
  });

  it("are none of another battery, nor what is no score", () => {
    const scores = [score("json", "on", { right: { count: 2, of: 2 } }), { driver: "json" }, null];
    expect(kept([], scores)).toEqual([]);
    expect(keptScores({ date, scores: null }, [], 2)).toEqual([]);
    expect(keptScores(undefined, [], 2)).toEqual([]);
  });
});
