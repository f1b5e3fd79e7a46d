import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type RunEvent, tool } from "../../src/index.ts";
import type { DriverName } from "../../src/model/driver-names.ts";
import { driverNamed } from "../../src/driver/choose.ts";
import { modelFromFunction } from "../../src/models.ts";
import type { Delta } from "../../src/model/model.ts";
import { driverNames, recogniser } from "../../src/drivers.ts";
import { fakeTool } from "../../src/testing.ts";
import { replyOf, turnOf } from "../unit/driver/turn.ts";

const names = driverNames.filter((name) => name !== "guided");
const output = z.object({ city: z.string(), days: z.array(z.number()).optional() });

/** The pieces of a text, cut where the sizes say, over and over. */
function cut(text: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1)
    pieces.push(text.slice(at, at + (sizes[pieces.length % sizes.length] ?? 1)));
  return pieces;
}

/** A reply before it is cut. */
interface Written {
  readonly thought?: string;
  readonly text: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly json: string }[];
}

type Cut = (text: string) => readonly string[];

const whole: Cut = (text) => (text === "" ? [] : [text]);

function deltasOf({ thought = "", text, calls = [] }: Written, cutAt: Cut): readonly Delta[] {
  return [
    ...cutAt(thought).map((piece) => ({ type: "reasoning-delta" as const, text: piece })),
    ...cutAt(text).map((piece) => ({ type: "text-delta" as const, text: piece })),
    ...calls.flatMap(({ id, name, json }) => [
      { type: "call-start" as const, id, name },
      ...cutAt(json).map((piece) => ({ type: "call-delta" as const, id, text: piece })),
      { type: "call-end" as const, id },
    ]),
    { type: "end", finishReason: calls.length > 0 ? "tool-calls" : "stop" },
  ];
}

interface Case {
  readonly driver: DriverName;
  readonly isHeld: boolean;
  readonly replies: readonly Written[];
}

interface Seen {
  readonly told: readonly unknown[];
  /** The calls that began, and the ends of replies. */
  readonly work: readonly unknown[];
}

/** All that is seen of a run whose replies come in these pieces; what was told in pieces is put together. */
async function seen({ driver, isHeld, replies }: Case, cutAt: Cut): Promise<Seen> {
  const log: unknown[] = [];
  const work: unknown[] = [];
  const look = (name: string) =>
    tool({
      name,
      description: "Look it up",
      effect: "read",
      inputSchema: z.looseObject({ city: z.string().optional() }),
      execute: (args) => {
        work.push([name, args]);
        return "20 degrees";
      },
    });
  let asked = 0;
  const model = modelFromFunction(
    async function* deltas() {
      const written = replies[asked++] ?? { text: "Answer: Done." };
      for (const delta of deltasOf(written, cutAt)) {
        if (delta.type === "end") {
          await new Promise(setImmediate);
          work.push("the reply ends");
        }
        yield delta;
      }
    },
    { features: { tools: driver === "native" } },
  );
  const run = agent({
    name: "a",
    driver,
    model,
    tools: [look("get_weather"), look("lookup")],
    ...(isHeld ? { output } : {}),
    budget: { turns: 4 },
  }).stream("Go.");
  // a view of the answer so far is of what there is so far
  for await (const event of run) if (event.type !== "output-delta") log.push(told(event));
  return { told: together(log), work };
}

/** A delta, of which only the text counts when it is put together with the one before it. */
interface Told {
  readonly delta: string;
  readonly text: string;
}

function told(event: RunEvent): unknown {
  const { type } = event;
  if (type === "text-delta" || type === "reasoning-delta") return { delta: type, text: event.text };
  if (type === "call-delta") return { delta: `${type} ${event.callId} ${event.name}`, text: event.text };
  return recordOf(event);
}

function isDelta(value: unknown): value is Told {
  return typeof value === "object" && value !== null && "delta" in value;
}

/** A fact without the time, the place and the name of its run. */
function recordOf({ type, ...fact }: RunEvent): unknown {
  const fields = Object.entries(fact).filter(
    ([name]) => !["seq", "runId", "at", "durationMs", "startedMs", "intent"].includes(name),
  );
  return { type, ...Object.fromEntries(fields) };
}

/** The deltas between two facts as one of each kind: what is thought and said in one piece has no order. */
function together(log: readonly unknown[]): readonly unknown[] {
  const all: unknown[] = [];
  let texts: Record<string, string> = {};
  for (const each of log) {
    if (isDelta(each)) texts[each.delta] = (texts[each.delta] ?? "") + each.text;
    else {
      all.push(texts, each);
      texts = {};
    }
  }
  return all;
}

/**
 * Texts that a model writes into its arguments, with what parsers look for. No end of thinking that never began: it makes thoughts of what was
 * told, which depends on the pieces.
 */
const words = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc
    .array(
      fc.constantFrom(
        ..."Lima|<|<think>|[THINK]|\\|\"|'|`|```|\n|{|}|[|]|(|)|,|:|Action:|@tool |lookup(|<tool_call>|</tool_call>| = |Answer: |Step: |😀|\u2028".split(
          "|",
        ),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join("")),
);
const args = fc.record({ city: words, days: fc.integer() }, { requiredKeys: [] });
const name = fc.constantFrom("get_weather", "lookup", "functions.lookup", "unknown");

/** A reply of a call, as the drivers want it or as some model writes it, and one of an answer. */
const callText = fc.tuple(name, args).chain(([tool, given]) => {
  const json = JSON.stringify(given);
  const named = JSON.stringify({ name: tool, arguments: given });
  const pythonic = Object.entries(given)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(", ");
  return fc.constantFrom(
    JSON.stringify({ thought: "hm", action: { tool, args: given } }),
    JSON.stringify({ thought: "hm", type: "call_tool", tool, args: given }),
    JSON.stringify({ tool, args: given }),
    `Let me look.\n<tool_call>\n${named}\n</tool_call>`,
    `\`\`\`json\n${named}\n\`\`\``,
    `Thought: hm\nAction: ${tool}\nAction Input: ${json}\nObservation: 3`,
    `I look.\n@tool ${tool} ${json}`,
    `[${tool}(${pythonic})]`,
    `Step: ${tool} ${json} =`,
    `<function=${tool}>\n<parameter=city>\n${given.city ?? ""}\n</parameter>\n</function>`,
    `to=functions.${tool}<|channel|>commentary json<|message|>${json}<|call|>`,
    named,
    tool,
    json,
  );
});
const answerText = words.chain((said) =>
  fc.constantFrom(
    said,
    `Answer: ${said}`,
    `Thought: done\nFinal Answer: ${said}`,
    JSON.stringify({ thought: "", final: { content: { city: said, days: [1, 2.5] } } }),
    JSON.stringify({ thought: "", type: "final_answer", answer: { city: said } }),
    JSON.stringify({ city: said, days: [1e21, -0.5] }),
    `Here: {"city": ${JSON.stringify(said)}} and more`,
  ),
);
const spoken = fc.oneof(
  callText,
  answerText,
  fc.tuple(words, callText).map((both) => both.join("\n")),
);
const thinking = fc.constantFrom(
  "",
  "<think>a < b</think>\n",
  "<thinking>\n</thinking>",
  "[THINK]so[/THINK]",
  "<think>on and on",
);
const calls = fc.array(
  fc.record({
    id: fc.constantFrom("", "call_1", "call_2", "a b"),
    name,
    json: fc.oneof(
      args.map((given) => JSON.stringify(given)),
      fc.constantFrom("", "{", "null", '"{}"', "[1]"),
    ),
  }),
  { maxLength: 3 },
);
const reply = fc.tuple(thinking, spoken, words, calls).map(([thought, text, reasoning, made]): Written => ({
  thought: reasoning,
  text: thought + text,
  calls: made,
}));
describe("a reply in pieces", () => {
  it.each(names)(
    "means the same to the driver %s wherever it is cut, and is told as much",
    async (driver) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            reply.map((each) => (driver === "native" ? each : { ...each, calls: [] })),
            { minLength: 1, maxLength: 3 },
          ),
          fc.boolean(),
          fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
          async (replies, isHeld, sizes) => {
            const it = { driver, isHeld, replies };
            expect(await seen(it, (text) => cut(text, sizes))).toEqual(await seen(it, whole));
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});

describe("the answer of a reply in the frame of json", () => {
  const units = fc.constantFrom(
    ...'a|"|\\|\n|😀|\ud83d|\ude00|\u2028|{|}| |</think>|<tool_call>|`'.split("|"),
  );
  const said = fc.array(units, { maxLength: 12 }).map((parts) => parts.join(""));
  /** The same text in other spellings of JSON. */
  const spelled = (text: string): string =>
    JSON.stringify(text).replaceAll(
      /[^\\"\w]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  const frames = fc.constantFrom<(json: string) => string>(
    (json) => `{"final": {"content": ${json}}}`,
    (json) => `\n{"thought":"so \\"final\\"", "final":{"content":${json} } }\n`,
    (json) => `{"final": {"content": ${json}}, "thought": "later"}`,
    (json) => `{"thought": "${"long ".repeat(500)}", "final": {"content": ${json}}}`,
  );

  const written = fc.tuple(said, frames, fc.boolean()).map(([text, frame, isEscaped]) => ({
    text,
    json: frame(isEscaped ? spelled(text) : JSON.stringify(text)),
  }));

  it("is told in pieces that are the answer together, wherever it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        written,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 }),
        async ({ text, json }, sizes) => {
          const model = modelFromFunction(async function* deltas() {
            yield* deltasOf({ text: json }, (given) => cut(given, sizes));
          });
          const run = agent({ name: "a", driver: "json", model }).stream("Go.");
          let shown = "";
          let answer: unknown;
          for await (const event of run)
            if (event.type === "text-delta") shown += event.text;
            else if (event.type === "run-end" && event.outcome.type === "answered")
              answer = event.outcome.content;
          expect([shown, answer]).toEqual([text, text]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("what is told of a reply while it is written", () => {
  const shown = (text: string, sizes: readonly number[]): string => {
    const push = recogniser([fakeTool("get_weather", 1), fakeTool("p", 1)]).stream();
    return cut(text, sizes)
      .map((piece) => push.push(piece))
      .join("");
  };

  it.each([
    ["So: to=functions.get_weather<|channel|>commentary json<|message|>{}", "So: "],
    ["So: functions.get_weather(city='Lima')", "So: "],
    ["So: tools::get_weather {}", "So: "],
    ["So: to=day and functions, and api.", "So: to=day and functions, and "],
    ["loop(1), auto=functions and p (2)", "loop(1), auto=functions and "],
  ])("is nothing of a call, in letters and whole: %s", (text, told) => {
    expect(shown(text, [1])).toBe(told);
    expect(shown(text, [text.length])).toBe(told);
  });
});

const outputs = join(import.meta.dirname, "../../../shared/data/bfcl-raw-outputs/result");
const areThere = existsSync(outputs);
if (!areThere)
  console.log("skipped: the recorded outputs of BFCL are not in ../shared/data/bfcl-raw-outputs");

/** So many of the outputs, from all models. */
function recorded(count: number): readonly string[] {
  const texts = readdirSync(outputs).flatMap((model) =>
    readdirSync(join(outputs, model)).flatMap((file) =>
      readFileSync(join(outputs, model, file), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => (JSON.parse(line) as { readonly result: unknown }).result)
        .filter((result) => typeof result === "string"),
    ),
  );
  return texts.filter((_text, index) => index % Math.floor(texts.length / count) === 0).slice(0, count);
}

describe.skipIf(!areThere)("what models wrote, in pieces", () => {
  const texts = areThere ? recorded(40) : [];
  it.each(names)("means the same to the driver %s", async (driver) => {
    for (const [index, text] of texts.entries()) {
      const it = { driver, isHeld: index % 2 === 0, replies: [{ text }] };
      expect(await seen(it, (given) => cut(given, [1 + (index % 7), 2]))).toEqual(await seen(it, whole));
    }
  });

  it.each(names)("is read by the driver %s from any beginning of it", (driver) => {
    const reader = driverNamed(driver);
    const turn = turnOf({ tools: [fakeTool("get_weather", 1), fakeTool("lookup", 1)] });
    for (const text of texts)
      for (let end = 0; end <= text.length; end += Math.max(1, Math.floor(text.length / 60)))
        expect(reader.read(replyOf(text.slice(0, end)), turn).message.role).toBe("assistant");
  });
});

describe("any beginning of a reply", () => {
  it.each(names)("is read by the driver %s, and followed", (driver) => {
    const reader = driverNamed(driver);
    const turns = [{}, { output }].map((about) => turnOf({ tools: [fakeTool("lookup", 1)], ...about }));
    fc.assert(
      fc.property(spoken, (text) => {
        for (const turn of turns) {
          const follow = reader.visibleText?.(turn);
          for (let end = 0; end <= text.length; end += 1) {
            expect(reader.read(replyOf(text.slice(0, end)), turn).message.role).toBe("assistant");
            follow?.(text.slice(end, end + 1));
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe("a reply of 200 000 deltas", () => {
  const units = ["word ", "lookup", "functions.", "<think", '{"a":1,', "to=f", "\\", '"', "\n", "😀"];
  const text = units.map((unit) => unit.repeat(20_000 / unit.length)).join("");
  it.each(["native", "json", "command"] as const)(
    "costs the driver %s what its length costs",
    async (driver) => {
      const before = process.cpuUsage();
      await seen({ driver, isHeld: true, replies: [{ text }] }, (given) => cut(given, [1]));
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(20_000);
    },
  );
});
