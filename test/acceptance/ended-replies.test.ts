import { describe, expect, it, onTestFinished } from "vitest";
import { agent, tool } from "../../src/index.ts";
import type { Delta, FinishReason, Model } from "../../src/model/model.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { ofType, watch } from "./watching.ts";

/** A model whose replies are these parts, one a request, the last one again and again. */
function replying(...replies: readonly (readonly [readonly Delta[], FinishReason])[]): Model & {
  readonly asked: () => number;
} {
  let asked = 0;
  return {
    id: "test/m",
    features: { tools: true },
    asked: () => asked,
    async *stream() {
      const [deltas = [], finishReason = "stop"] = replies[Math.min(asked, replies.length - 1)] ?? [];
      asked += 1;
      yield* deltas;
      yield { type: "end", finishReason, usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

const thought: readonly Delta[] = [{ type: "reasoning-delta", text: "Hm, hm." }];

describe("a reply that the token limit left nothing of", () => {
  it.each<[string, readonly Delta[]]>([
    ["nothing at all", []],
    ["reasoning alone", thought],
  ])("is not asked for again, and names the limit: %s", async (_name, deltas) => {
    const model = replying([deltas, "length"]);
    const { outcome, error } = await agent({ name: "a", model, settings: { maxOutputTokens: 50 } }).run("x");
    expect(outcome).toMatchObject({ type: "failed", code: "reply-cut" });
    expect(error?.message).toContain("50");
    expect(model.asked()).toBe(1);
  });

  it("is the budget's where the budget is what was used up", async () => {
    const model = replying([thought, "length"]);
    const { outcome } = await agent({ name: "a", model, budget: { tokens: 2 } }).run("x");
    expect(outcome).toMatchObject({ type: "exhausted", field: "tokens" });
  });

  it("is asked for again where it ended by itself", async () => {
    const model = replying([thought, "stop"], [[{ type: "text-delta", text: "Yes." }], "stop"]);
    expect(await agent({ name: "a", model })("x")).toBe("Yes.");
  });
});

describe("an answer that was cut at the token limit", () => {
  const cut = () => scripted([{ text: "The ice is safe only", finishReason: "length" }]);

  it("says so in the outcome, and once in a warning to those who see the answer alone", async () => {
    const told: Error[] = [];
    const note = (warning: Error): void => void told.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const ice = agent({ name: "ice", model: cut() });
    expect((await ice.run("Safe?")).outcome).toMatchObject({ type: "answered", finishReason: "length" });
    await new Promise(setImmediate);
    expect(told).toEqual([]);
    expect(await ice("Safe?")).toBe("The ice is safe only");
    await ice("Safe?");
    await new Promise(setImmediate);
    expect(told).toMatchObject([
      { code: "WRIT_ANSWER_CUT", message: expect.stringContaining('"ice"') as string },
    ]);
  });
});

describe("a reply that the provider paused", () => {
  const searched: readonly Delta[] = [
    { type: "text-delta", text: "I search." },
    { type: "call-start", id: "s1", name: "web_search" },
    { type: "call-end", id: "s1", arguments: { query: "x" }, providerExecuted: true },
  ];

  it("goes on: the model is asked again with it, and nothing is put between", async () => {
    const model = replying([searched, "pause"], [[{ type: "text-delta", text: "Found." }], "stop"]);
    const { outcome, transcript } = await agent({ name: "a", model }).run("x");
    expect(outcome).toEqual({ type: "answered", content: "Found.", finishReason: "stop" });
    expect(transcript.messages.map(({ role }) => role).slice(-3)).toEqual(["user", "assistant", "assistant"]);
  });

  it("ends the run where it is paused again and again", async () => {
    const model = replying([searched, "pause"]);
    const { outcome } = await agent({ name: "a", model }).run("x");
    expect(outcome).toMatchObject({ type: "failed", code: "protocol-violated" });
    expect(model.asked()).toBe(8);
  });

  it("runs the calls in it first", async () => {
    const look = tool({
      name: "look",
      description: "Looks",
      inputSchema: { type: "object" },
      execute: () => "seen",
    });
    const calls: readonly Delta[] = [
      { type: "call-start", id: "c", name: "look" },
      { type: "call-end", id: "c", arguments: {} },
    ];
    const model = replying(
      [[...searched, ...calls], "pause"],
      [[{ type: "text-delta", text: "Done." }], "stop"],
    );
    const { transcript } = await agent({ name: "a", model, tools: [look] }).run("x");
    expect(transcript.messages).toContainEqual(expect.objectContaining({ role: "tool", text: "seen" }));
  });
});

describe.each(["native", "json"] as const)("a reply without words (%s)", (driver) => {
  it("is told as it came, and has words in the transcript alone", async () => {
    const ended: unknown[] = [];
    const said = driver === "json" ? '{"final": {"content": "Yes."}}' : "Yes.";
    const model = replying([[], "stop"], [[{ type: "text-delta", text: said }], "stop"]);
    const { transcript } = await agent({ name: "a", model, driver }).run("x", {
      onEvent: (event) => void (event.type === "message-end" && ended.push(event.message?.parts)),
    });
    expect(ended[0]).toEqual([]);
    expect(transcript.messages.find(({ role }) => role === "assistant")).toMatchObject({
      parts: [{ type: "text", text: "(empty)" }],
    });
  });

  it("that a filter held back is refused without words that nobody said", async () => {
    const { outcome } = await agent({ name: "a", model: replying([[], "content-filter"]), driver }).run("x");
    expect(outcome).toMatchObject({ type: "refused", code: "run-refused" });
    expect(JSON.stringify(outcome)).toContain("the provider filtered the answer");
    expect(JSON.stringify(outcome)).not.toContain("(empty)");
  });
});

describe("a reply whose calls an end comes before", () => {
  const look = fakeTool("look", "seen", { effect: "read" });
  const calls = [{ name: "look" }, { name: "look" }];
  const again = Array.from({ length: 9 }, () => ({ calls: [{ name: "look" }] }));

  it.each<[string, Parameters<typeof scripted>[0], Partial<Parameters<typeof agent>[0]>]>([
    ["a finish reason in `endOn`", [{ calls, finishReason: "length" }], { endOn: ["length"] }],
    ["a provider that filtered it", [{ calls, finishReason: "content-filter" }], {}],
    ["going in circles", again, { budget: { repeats: 2 } }],
  ])("tells of each call that it was skipped: %s", async (_name, steps, options) => {
    const running = agent({ name: "a", model: scripted(steps), tools: [look], ...options });
    const { events, result } = await watch(running.stream("x"));
    const ends = ofType(events, "tool-end").map(({ callId, result: { status } }) => `${callId} ${status}`);
    const kept = result.transcript.messages.flatMap((message) =>
      message.role === "tool" ? [`${message.callId} ${message.status}`] : [],
    );
    expect(result.outcome.type).not.toBe("answered");
    expect(ends.at(-1)).toContain("skipped");
    expect(ends).toEqual(kept);
  });
});
