import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reactDriver } from "../../../src/driver/react.ts";
import { decisionSchema, readDecision } from "../../../src/driver/react-protocol.ts";
import { callsOf, userMessage } from "../../../src/message/message.ts";
import { addReply, addUser, type ReadyTranscript, settleAll } from "../../../src/message/transcript.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import { fakeTool } from "../../../src/testing.ts";
import { callOf, replyOf, turnOf } from "./turn.ts";

const turn = turnOf({ tools: [fakeTool("search", "found")] });
const decision = fc.record(
  {
    thought: fc.oneof(fc.string(), fc.jsonValue()),
    type: fc.constantFrom("call_tool", "final_answer", "other", 1, null),
    tool: fc.constantFrom("search", "rm", "__proto__", "", 1, null),
    args: fc.jsonValue(),
    answer: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

describe("decisions", () => {
  it("are read from anything without a throw, and only a call of a tool that is there is a call [C6.2]", () => {
    const driver = reactDriver();
    const texts = fc.oneof(
      fc.string(),
      decision.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const reading = driver.read(replyOf(text), turn);
        const calls = callsOf(reading.message);
        expect(calls.length).toBe(reading.type === "calls" ? 1 : 0);
        for (const call of calls) expect(call.name).toBe("search");
        expect(reading.message.parts.length).toBeGreaterThan(0);
      }),
    );
  });

  it("that the form admits are decisions that count [C6.1]", async () => {
    const form = toSchema(decisionSchema({ tools: [...turn.allowed.tools.values()], mayAnswer: true }), {
      name: "decision",
      role: "output",
    });
    await fc.assert(
      fc.asyncProperty(decision, async (value) => {
        const admitted = (await form.parse(value)).ok;
        if (admitted) expect(readDecision(JSON.stringify(value), turn).type).toBe(value.type);
      }),
    );
  });

  it("take arguments that were written as a text [C6.1]", () => {
    const text = JSON.stringify({ type: "call_tool", tool: "search", args: '{"query": "writ"}' });
    expect(readDecision(text, turn)).toMatchObject({ type: "call_tool", args: { query: "writ" } });
  });

  it("of other drivers are shown in this one's words, and what a provider thinks is not [C19]", () => {
    const driver = reactDriver();
    const native = replyOf(
      "I look twice.",
      { type: "reasoning", text: "secret" },
      callOf("search", { q: 1 }),
      {
        ...callOf("search", { q: 2 }),
        id: "second",
      },
    );
    const open = addReply(turn.transcript, native.message);
    const settled = open.state === "open" ? settleAll(open, () => ({ status: "ok", text: "[1]" })) : open;
    const transcript = addUser(settled, userMessage("And?"));
    const { messages } = driver.request({ ...turn, transcript });
    const shown = messages.map((message) =>
      message.role === "user" || message.role === "assistant" ? message.parts : [],
    );
    expect(shown.slice(2)).toEqual([
      [
        {
          type: "text",
          text: 'Thought: I look twice.\nAction: search\nAction Input: {"q":1}\nAction: search\nAction Input: {"q":2}',
        },
      ],
      [{ type: "text", text: "Observation: [1]" }],
      [{ type: "text", text: "Observation: [1]" }],
      [{ type: "text", text: "And?" }],
    ]);
  });

  it("that were restated are left out of later requests, whose beginning stays as it was [C19]", () => {
    const driver = reactDriver({ finalViaInference: true });
    const reading = driver.read(replyOf('{"thought":"x","type":"final_answer","answer":"about 8"}'), turn);
    expect(reading).toMatchObject({ type: "pending" });
    const decided = addReply(turn.transcript, reading.message) as ReadyTranscript;
    const answer = driver.read(replyOf("It is 8."), { ...turn, transcript: decided });
    expect(answer).toEqual({ type: "final", message: replyOf("It is 8.").message, content: "It is 8." });
    const empty = driver.read(replyOf(" "), { ...turn, transcript: decided });
    expect(empty).toMatchObject({
      type: "violation",
      feedback: expect.stringContaining("Answer is required"),
    });
    const answered = addReply(decided, answer.message) as ReadyTranscript;
    const next = addUser(answered, userMessage("Thanks."));
    const before = driver.request(turn).messages;
    const after = driver.request({ ...turn, transcript: next }).messages;
    expect(after.slice(0, before.length)).toEqual(before);
    expect(JSON.stringify(after)).toContain("It is 8.");
    expect(JSON.stringify(after)).not.toContain("about 8");
  });
});
