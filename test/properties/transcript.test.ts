import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  charactersOf,
  callsOf,
  type Message,
  type ReplyMessage,
  type ToolResult,
  type UserMessage,
  userMessage,
} from "../../src/message/message.ts";
import { readTranscript } from "../../src/message/read-transcript.ts";
import {
  acceptableId,
  addReply,
  addUser,
  dropTurns,
  emptyTranscript,
  type ReadyTranscript,
  settle,
  settleAll,
  type Transcript,
} from "../../src/message/transcript.ts";
import { providerComplaints } from "../provider-rules.ts";

describe("what the user says", () => {
  const called = {
    role: "assistant",
    parts: [{ type: "tool-call", id: "a", name: "look", arguments: {} }],
  } as const;

  it("cannot stand between a call and its result, whatever the types were told", () => {
    const open = addReply(emptyTranscript(), called) as unknown as ReadyTranscript;
    expect(() => addUser(open, userMessage("hi"))).toThrow(
      "message 1 cannot stand here: a call has no result yet",
    );
    expect(open.messages).toEqual([called]);
  });

  it.each([
    ["a text", "hi", "it must be a message, got a string"],
    ["a reply", called, 'its `role` is not "user"'],
    ["a message without parts", { role: "user", text: "hi" }, "`parts` must be a list of parts, got nothing"],
  ])("is a message of the user, and not %s", (_, said, reason) => {
    const transcript = emptyTranscript();
    expect(() => addUser(transcript, said as unknown as UserMessage)).toThrow(
      expect.objectContaining({
        code: "transcript-invalid",
        data: { index: 0, reason: `is no message: ${reason}` },
      }),
    );
    expect(transcript.length).toBe(0);
  });
});

/** What can happen to a conversation, in any order; the test carries out what the types would let it. */
const command = fc.oneof(
  fc.record({ do: fc.constant("user" as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    do: fc.constant("reply" as const),
    text: fc.string({ minLength: 1 }),
    ids: fc.array(
      fc.oneof(fc.constantFrom("", "a", "b", "call_1", "__proto__", "x y", "é".repeat(80)), fc.string()),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    do: fc.constant("settle" as const),
    which: fc.nat(5),
    status: fc.constantFrom("ok" as const, "error" as const, "denied" as const),
  }),
  fc.record({ do: fc.constant("abort" as const) }),
  fc.record({ do: fc.constant("compact" as const), turns: fc.nat(3) }),
  fc.record({ do: fc.constant("fork" as const) }),
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

const cancelled: ToolResult = { status: "cancelled", text: "cancelled" };

function replyOf(transcript: ReadyTranscript, step: Extract<Command, { do: "reply" }>): ReplyMessage {
  const taken = new Set<string>();
  const calls = step.ids.map((proposed, index) => {
    const id = acceptableId(transcript, proposed, { taken, fallback: `call_0_${index}` });
    taken.add(id);
    return { type: "tool-call" as const, id, name: "t", arguments: {} };
  });
  return { role: "assistant", parts: [{ type: "text", text: step.text }, ...calls] };
}

function apply(transcript: Transcript, step: Command): Transcript {
  if (transcript.state === "open") {
    const call = step.do === "settle" ? transcript.open[step.which % transcript.open.length] : undefined;
    if (step.do === "settle" && call !== undefined)
      return settle(transcript, call.id, { status: step.status, text: "result" });
    return step.do === "abort" ? settleAll(transcript, () => cancelled) : transcript;
  }
  if (step.do === "user") return addUser(transcript, userMessage(step.text));
  if (step.do === "reply" && transcript.length > 1) return addReply(transcript, replyOf(transcript, step));
  if (step.do === "compact") return dropTurns(transcript, step.turns);
  return transcript;
}

const begin = (): ReadyTranscript =>
  addUser(emptyTranscript({ role: "system", text: "s" }), userMessage("first"));

describe("transcript", () => {
  it("is valid for every provider after any sequence of commands, once open calls are settled", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        let transcript: Transcript = begin();
        for (const step of commands) transcript = apply(transcript, step);
        const closed = transcript.state === "open" ? settleAll(transcript, () => cancelled) : transcript;
        expect(providerComplaints(closed.messages)).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it("survives a JSON round trip at any moment, open calls and early results included", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
        let transcript: Transcript = begin();
        for (const step of commands) transcript = apply(transcript, step);
        const back = readTranscript(
          JSON.parse(JSON.stringify(transcript)) as ReturnType<Transcript["toJSON"]>,
        );
        expect(back.state).toBe(transcript.state);
        expect(JSON.stringify(back)).toBe(JSON.stringify(transcript));
      }),
      { numRuns: 200 },
    );
  });

  it("never changes an older value: two continuations do not see each other", () => {
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 12 }),
        fc.array(command, { maxLength: 12 }),
        (left, right) => {
          const root = begin();
          const trunk = addReply(root, replyOf(root, { do: "reply", text: "t", ids: ["a", "a"] }));
          const before = JSON.stringify(trunk);
          const run = (commands: readonly Command[]): string => {
            let transcript: Transcript = trunk;
            for (const step of commands) transcript = apply(transcript, step);
            return JSON.stringify(transcript);
          };
          const alone = run(left);
          run(right);
          expect(run(left)).toBe(alone);
          expect(JSON.stringify(trunk)).toBe(before);
        },
      ),
    );
  });

  it("knows its characters at any moment, and measures each message once", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(command, fc.boolean()), { maxLength: 30 }), (commands) => {
        let transcript: Transcript = begin();
        let fork: Transcript = transcript;
        for (const [step, isForked] of commands) {
          if (isForked) fork = apply(transcript, step);
          else transcript = apply(transcript, step);
          for (const one of [fork, transcript])
            expect(one.characters).toBe(
              one.messages.reduce((sum, message) => sum + charactersOf(message), 0),
            );
        }
      }),
    );
    let reads = 0;
    let transcript = begin();
    for (let turn = 0; turn < 100; turn += 1) {
      const part = {
        type: "text",
        get text() {
          return (reads += 1) > 0 ? "ab" : "";
        },
      } as const;
      transcript = addReply(transcript, { role: "assistant", parts: [part] }) as ReadyTranscript;
      expect(transcript.characters).toBe(6 + 2 * (turn + 1));
    }
    expect(reads).toBe(100);
  });

  it("keeps the order of calls for results that come in any order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (order) => {
        const reply = replyOf(begin(), { do: "reply", text: "t", ids: ["a", "b", "c", "d"] });
        let transcript = addReply(begin(), reply);
        for (const index of order) {
          if (transcript.state === "open")
            transcript = settle(transcript, "abcd".charAt(index), { status: "ok", text: String(index) });
        }
        const results = transcript.messages.filter(
          (message): message is Extract<Message, { role: "tool" }> => message.role === "tool",
        );
        expect(results.map((result) => result.callId)).toEqual(callsOf(reply).map((call) => call.id));
      }),
    );
  });

  it("refuses what would make it invalid", () => {
    const open = addReply(begin(), replyOf(begin(), { do: "reply", text: "t", ids: ["a"] }));
    if (open.state !== "open") throw new Error("the reply has a call");
    expect(() => settle(open, "b", cancelled)).toThrow('no call "b" is open');
    const ready = settle(open, "a", cancelled) as ReadyTranscript;
    expect(() =>
      addReply(ready, {
        role: "assistant",
        parts: [{ type: "tool-call", id: "a", name: "t", arguments: {} }],
      }),
    ).toThrow("cannot be used");
    expect(() =>
      readTranscript({
        messages: [userMessage("x"), { role: "tool", callId: "a", name: "t", ...cancelled }],
      }),
    ).toThrow(expect.objectContaining({ code: "transcript-invalid" }));
    expect(() => readTranscript({ messages: [...open.messages, userMessage("x")] })).toThrow(
      expect.objectContaining({ code: "transcript-invalid", data: expect.objectContaining({ index: 3 }) }),
    );
  });
});
