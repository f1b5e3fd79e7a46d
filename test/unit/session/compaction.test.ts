import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { untrustedFrom } from "../../../src/message/label.ts";
import {
  charactersOf,
  isAsked,
  type Message,
  runtimeMessage,
  textOf,
  type ToolResult,
  userMessage,
} from "../../../src/message/message.ts";
import {
  addReply,
  addUser,
  countTurns,
  dropTurns,
  emptyTranscript,
  type OpenTranscript,
  type ReadyTranscript,
  settleAll,
} from "../../../src/message/transcript.ts";
import { estimateTokens } from "../../../src/message/usage.ts";
import { type Compaction, type CompactionOptions, compactor } from "../../../src/session/compaction.ts";
import { providerComplaints } from "../../provider-rules.ts";

const system = { role: "system", text: "You work." } as const;
const begin = (): ReadyTranscript => addUser(emptyTranscript(system), userMessage("the task"));
const once = (ask: () => Promise<string>): Promise<string> => ask();

async function compact(
  transcript: ReadyTranscript,
  options: CompactionOptions,
): Promise<Compaction | undefined> {
  return (await compactor(options)(transcript, once)) as Compaction | undefined;
}

/** One turn that calls a tool, with `size` characters in its result. */
function callTurn(transcript: ReadyTranscript, id: string, size = 40): ReadyTranscript {
  return turnWith({ status: "ok", text: "x".repeat(size) }, transcript, id);
}

function turnWith(result: ToolResult, transcript: ReadyTranscript, id: string): ReadyTranscript {
  const call = { type: "tool-call", id, name: "look", arguments: {} } as const;
  const open = addReply(transcript, { role: "assistant", parts: [call] }) as OpenTranscript;
  return settleAll(open, () => result);
}

function textTurn(transcript: ReadyTranscript, text: string): ReadyTranscript {
  return addReply(transcript, { role: "assistant", parts: [{ type: "text", text }] }) as ReadyTranscript;
}

const tokensOf = (messages: readonly Message[]): number =>
  estimateTokens(messages.reduce((sum, message) => sum + charactersOf(message), 0));

/** Conversations of any shape: questions, answers, calls, feedback of the runtime, in any order after the task. */
const step = fc.oneof(
  fc.record({ do: fc.constant("call" as const), size: fc.nat(400), calls: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("text" as const), size: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ do: fc.constant("ask" as const), size: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ do: fc.constant("feedback" as const), size: fc.integer({ min: 1, max: 100 }) }),
);
const conversation = fc.array(step, { maxLength: 25 }).map((steps) => {
  let transcript = begin();
  for (const [turn, one] of steps.entries()) {
    const text = "x".repeat(one.size);
    if (one.do === "ask") transcript = addUser(transcript, userMessage(`${turn} ${text}`));
    else if (one.do === "feedback") transcript = addUser(transcript, runtimeMessage(text));
    else if (one.do === "text") transcript = textTurn(transcript, text);
    else {
      const parts = Array.from({ length: one.calls }, (_each, index) => ({
        type: "tool-call" as const,
        id: `call_${turn}_${index}`,
        name: "look",
        arguments: {},
      }));
      const open = addReply(transcript, { role: "assistant", parts }) as OpenTranscript;
      transcript = settleAll(open, () => ({ status: "ok", text }));
    }
  }
  return transcript;
});

/** The messages of the last `count` turns and what follows them. */
function tail(messages: readonly Message[], count: number): readonly Message[] {
  const replies = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  return replies.length === 0 ? messages : messages.slice(replies.at(-count) ?? replies[0]);
}

/** What is said of turns that a stranger's words stood in is no better than those. */
const summaryOfLooks = (text: string): Message => ({
  ...runtimeMessage(`Summary of what was said before:\n\n${text}`),
  label: untrustedFrom("tool/look"),
});

describe("compaction", () => {
  it("does nothing until the limit is passed [K9]", () => {
    const transcript = callTurn(callTurn(callTurn(begin(), "a"), "b"), "c");
    const tokens = tokensOf(transcript.messages);
    expect(compactor({ atTokens: tokens })(transcript, once)).toBeUndefined();
    expect(compactor({ atTokens: tokens - 1 })(transcript, once)).toBeInstanceOf(Promise);
  });

  it("drops whole turns, the fewest that leave half of the limit, and keeps the task and the last turns [K9]", async () => {
    let transcript = begin();
    for (const id of ["a", "b", "c", "d", "e", "f"]) transcript = callTurn(transcript, id, 94); // 25 tokens a turn
    const made = await compact(transcript, { atTokens: 150 });
    expect(made).toMatchObject({ droppedTurns: 4, tokensBefore: 155, tokensAfter: 55, estimated: true });
    expect(
      made?.transcript.messages.map((message) => (message.role === "tool" ? message.callId : message.role)),
    ).toEqual(["system", "user", "assistant", "e", "assistant", "f"]);
    expect((await compact(transcript, { atTokens: 150, keepTurns: 5 }))?.droppedTurns).toBe(1);
    expect(await compact(transcript, { atTokens: 150, keepTurns: 6 })).toBeUndefined();
  });

  it("puts one summary in the place of what went, and an older summary goes into the next [K9]", async () => {
    const given: (readonly Message[])[] = [];
    const options: CompactionOptions = {
      atTokens: 100,
      summarise: (messages) => `summary ${given.push(messages)}`,
    };
    let transcript = begin();
    for (const id of ["a", "b", "c", "d", "e"]) transcript = callTurn(transcript, id, 100);
    const first = await compact(transcript, options);
    expect(given[0]).toEqual(transcript.messages.slice(2, 8));
    expect(first?.transcript.messages.slice(0, 3)).toEqual([
      system,
      userMessage("the task"),
      summaryOfLooks("summary 1"),
    ]);
    let longer = first?.transcript as ReadyTranscript;
    for (const id of ["f", "g"]) longer = callTurn(longer, id, 100);
    const second = await compact(longer, options);
    expect(given[1]?.[0]).toEqual(summaryOfLooks("summary 1"));
    const summaries = second?.transcript.messages.filter(
      (message) => message.role === "user" && !isAsked(message),
    );
    expect(summaries).toEqual([summaryOfLooks("summary 2")]);
    expect(providerComplaints(second?.transcript.messages ?? [])).toEqual([]);
  });

  it("asks for a summary through the journal, and says so when there is none", async () => {
    let transcript = begin();
    for (const id of ["a", "b", "c", "d"]) transcript = callTurn(transcript, id, 400);
    const replayed = (): Promise<string> => Promise.resolve("as recorded");
    const asked = { atTokens: 10, summarise: (): string => "anew" };
    const made = await compactor(asked)(transcript, replayed);
    expect(textOf(made?.transcript.messages[2] as ReturnType<typeof userMessage>)).toContain("as recorded");
    for (const summarise of [(): string => " ", (): Promise<string> => Promise.reject(new Error("no model"))])
      await expect(compact(transcript, { atTokens: 10, summarise })).rejects.toMatchObject({
        code: "summary-failed",
      });
  });

  it("asks for no summary of nothing, where the only turns that may go tell of tools", async () => {
    const offer = { status: "ok", text: "x".repeat(400), offers: ["find"] } as const;
    const found = turnWith(offer, turnWith(offer, begin(), "a"), "b");
    const transcript = callTurn(callTurn(found, "c"), "d");
    const given: (readonly Message[])[] = [];
    const summarise = (messages: readonly Message[]): string => `summary ${given.push(messages)}`;
    expect(await compact(transcript, { atTokens: 20, summarise })).toBeUndefined();
    expect(given).toEqual([]);
    const longer = await compact(callTurn(transcript, "e"), { atTokens: 20, summarise });
    expect(longer).toMatchObject({ droppedTurns: 1 });
    expect(given).toEqual([transcript.messages.slice(6, 8)]); // of c
  });

  it("keeps what the user asked, not what the runtime said after it", async () => {
    let transcript = addUser(textTurn(begin(), "no JSON"), runtimeMessage("Your reply was not accepted."));
    for (const id of ["a", "b", "c"]) transcript = callTurn(transcript, id, 400);
    const made = await compact(transcript, { atTokens: 20 });
    expect(made?.transcript.messages.slice(0, 2)).toEqual([system, userMessage("the task")]);
    expect(made?.transcript.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  it("leaves a valid transcript of whole turns with the last ones untouched, whatever was said [K9]", async () => {
    const limits = { atTokens: fc.integer({ min: 1, max: 500 }), keepTurns: fc.integer({ min: 1, max: 4 }) };
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.record(limits),
        fc.boolean(),
        async (transcript, bounds, withSummary) => {
          const summarise = withSummary ? (): string => "in short" : undefined;
          const { messages } = transcript;
          const made = await compact(transcript, { ...bounds, summarise });
          const turns = countTurns(transcript);
          if (tokensOf(messages) <= bounds.atTokens || turns <= bounds.keepTurns) {
            expect(made).toBeUndefined();
            return;
          }
          if (made === undefined) {
            const least = dropTurns(transcript, turns - bounds.keepTurns).messages;
            const byRuntime = messages.filter((message) => message.role === "user" && !isAsked(message));
            expect(withSummary).toBe(true);
            expect(tokensOf(least) + tokensOf(byRuntime)).toBeGreaterThan(bounds.atTokens / 4);
            return;
          }
          const after = made?.transcript.messages ?? [];
          expect(providerComplaints(after)).toEqual([]);
          expect(made?.tokensBefore).toBe(tokensOf(messages));
          expect(made?.tokensAfter).toBe(tokensOf(after));
          const dropped = made?.droppedTurns ?? 0;
          expect(countTurns(made.transcript)).toBe(turns - dropped);
          expect(tail(after, turns - dropped)).toEqual(tail(messages, turns - dropped));
          expect(turns - dropped).toBeGreaterThanOrEqual(bounds.keepTurns);
          expect(after.findLast(isAsked)).toEqual(messages.findLast(isAsked));
          expect(after[0]).toBe(system);
          const summaries = after.filter(
            (message) => message.role === "user" && textOf(message).includes("in short"),
          );
          expect(summaries).toHaveLength(withSummary ? 1 : 0);
          const half = (count: number): boolean =>
            tokensOf(dropTurns(transcript, count).messages) <= bounds.atTokens / 2;
          if (turns - dropped > bounds.keepTurns) expect(half(dropped)).toBe(true);
          if (dropped > 1) expect(half(dropped - 1)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("costs what is added, not what went before: in a long run each message is summarised about once", async () => {
    let summarised = 0;
    let compactions = 0;
    const compactTurn = compactor({
      atTokens: 1000,
      summarise: (messages) => {
        compactions += 1;
        summarised += messages.length;
        return "in short";
      },
    });
    let transcript = begin();
    let longest = 0;
    for (let turn = 0; turn < 2000; turn += 1) {
      transcript = (await compactTurn(transcript, once))?.transcript ?? transcript;
      longest = Math.max(longest, transcript.length);
      transcript = callTurn(transcript, `call_${turn}`, 94);
    }
    expect(longest).toBeLessThan(100);
    expect(compactions).toBeLessThan(2000 / 18);
    expect(summarised).toBeLessThan(4000 + compactions);
  });

  it("asks for no summary again and again where what stays has more than half of the limit, and tells it", async () => {
    let summaries = 0;
    const waits: number[] = [];
    const compactTurn = compactor({
      atTokens: 1000,
      summarise: (messages) => {
        summaries += messages.length > 0 ? 1 : 0;
        return "in short ".repeat(40);
      },
    });
    const known = { acts: [], effectOf: () => "none" as const, waits: (at: number) => void waits.push(at) };
    let transcript = addUser(emptyTranscript(system), userMessage("x".repeat(3800))); // 950 tokens
    let longest = 0;
    for (let turn = 0; turn < 100; turn += 1) {
      transcript = (await compactTurn(transcript, once, known))?.transcript ?? transcript;
      longest = Math.max(longest, tokensOf(transcript.messages));
      transcript = callTurn(transcript, `call_${turn}`, 94); // 25 tokens
    }
    expect(summaries).toBeLessThanOrEqual(10); // one for ten turns
    expect(longest).toBeLessThan(1000 + 50 + 90 + 250);
    expect(new Set(waits)).toEqual(new Set([1000]));
    const refused = await compactTurn(callTurn(transcript, "last"), once, { ...known, isRefused: true });
    expect(refused?.droppedTurns).toBeGreaterThan(0); // the provider's word counts, whatever is gained
  });

  it("refuses limits that are no whole numbers", () => {
    const invalid = expect.objectContaining({ code: "definition-invalid" });
    for (const wrong of [0, -1, 0.5, Number.NaN]) {
      expect(() => compactor({ atTokens: wrong })).toThrow(invalid);
      expect(() => compactor({ atTokens: 10, keepTurns: wrong })).toThrow(invalid);
    }
  });
});

describe("dropTurns", () => {
  it("keeps questions that wait for their answer, and drops those that have it", () => {
    const answeredOnce = textTurn(begin(), "first");
    const waiting = addUser(addUser(answeredOnce, userMessage("second")), userMessage("third"));
    const transcript = textTurn(waiting, "both");
    expect(dropTurns(transcript, 1).messages.slice(1)).toEqual(transcript.messages.slice(3));
    expect(dropTurns(transcript, 2).messages.slice(1)).toEqual([userMessage("third")]);
    expect(dropTurns(transcript, 9).messages.slice(1)).toEqual([userMessage("third")]);
    expect(dropTurns(transcript, 0)).toBe(transcript);
  });

  it("frees the ids of the calls that went, and no others", () => {
    const transcript = dropTurns(callTurn(callTurn(begin(), "a"), "b"), 1);
    expect(() => callTurn(transcript, "b")).toThrow("cannot be used");
    expect(callTurn(transcript, "a").length).toBe(6);
  });
});
