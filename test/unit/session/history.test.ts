import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/event/outcome.ts";
import { untrustedFrom } from "../../../src/message/label.ts";
import {
  type Message,
  type ReplyMessage,
  runtimeMessage,
  textOf,
  type UserMessage,
  userMessage,
} from "../../../src/message/message.ts";
import { addReply, addUser, type ReadyTranscript } from "../../../src/message/transcript.ts";
import { historyOf, transcriptAfter } from "../../../src/session/history.ts";
import type { SessionContents, SessionRun } from "../../../src/session/session-store.ts";
import { storedRun } from "../../contract/session-store.ts";
import { providerComplaints } from "../../provider-rules.ts";

const said = (text: string): ReplyMessage => ({ role: "assistant", parts: [{ type: "text", text }] });
/** The answer of a run that read what a stranger said. */
const saidAfterLook = (text: string): ReplyMessage => ({ ...said(text), label: untrustedFrom("tool/look") });
const answered = (content: string): Outcome => ({ type: "answered", content, finishReason: "stop" });
const excess = { field: "turns", limit: 1, used: 1, message: "exceeded" } as const;
const unanswered: readonly [Outcome, string][] = [
  [{ type: "exhausted", ...excess }, "(No answer: a bound of the run was used up.)"],
  [{ type: "suspended", ...excess }, "(No answer: the run was suspended.)"],
  [{ type: "refused", code: "run-refused", message: "secret" }, "(No answer: the run was refused.)"],
  [{ type: "cancelled", reason: "secret" }, "(No answer: the run was cancelled.)"],
  [{ type: "failed", code: "run-broken", message: "secret" }, "(No answer: the run failed.)"],
];

function runOf(outcome: Outcome, messages: readonly Message[]): SessionRun {
  return { ...storedRun("r"), outcome, messages };
}

function contentsOf(...runs: readonly SessionRun[]): SessionContents {
  return { messages: [], runs };
}

/** Roles that take turns, the user first: what every provider and every chat template takes. */
function takesTurns(messages: readonly Message[]): boolean {
  return messages.every(({ role }, index) => role === (index % 2 === 0 ? "user" : "assistant"));
}

describe("what of a session a run is sent", () => {
  it("case 39: no calls and results of earlier runs, only what was asked and answered [C34]", () => {
    const history = historyOf(contentsOf(storedRun("r1"), storedRun("r2")), "answers");
    expect(history).toEqual([
      userMessage("ask r1"),
      saidAfterLook("answer r1"),
      userMessage("ask r2"),
      saidAfterLook("answer r2"),
    ]);
    expect(history.flatMap((message) => (message.role === "tool" ? [message] : []))).toEqual([]);
    expect(JSON.stringify(history)).not.toMatch(/tool-call|"seen"/);
  });

  it("case 39: all messages as they were where the author wants them, with call ids that are unique [C34]", () => {
    const [first, second] = [storedRun("r1"), storedRun("r2")];
    const history = historyOf(contentsOf(first, second), "all");
    expect(history.slice(0, 4)).toEqual(first.messages);
    const ids = history.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    expect(ids).toEqual(["call_1", "run_2_call_0"]);
    expect(JSON.stringify(history.slice(4)).replaceAll("run_2_call_0", "call_1")).toBe(
      JSON.stringify(second.messages),
    );
    expect(providerComplaints(history)).toEqual([]);
  });

  it("the last reply of several, without its reasoning and without what the runtime said in between", () => {
    const messages: readonly Message[] = [
      userMessage("ask"),
      said("wrong"),
      runtimeMessage("Your reply was not accepted."),
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "let me think" },
          { type: "text", text: "right", providerMetadata: { id: "x" } },
          { type: "provider", data: { source: "web" } },
        ],
        raw: '{"final":{"content":"right"}}',
      },
    ];
    const history = historyOf(contentsOf(runOf(answered("right"), messages)), "answers");
    expect(history).toEqual([userMessage("ask"), said("right")]);
  });

  it("what a plain skill gave, and a word where an answer was empty", () => {
    const plain = (content: Outcome): SessionRun => runOf(content, [userMessage("ask")]);
    const list: Outcome = { type: "answered", content: [1, 2], finishReason: "stop" };
    const history = historyOf(
      contentsOf(plain(answered("given")), plain(list), plain(answered(" "))),
      "answers",
    );
    expect(history.filter(({ role }) => role === "assistant")).toEqual([
      said("given"),
      said("[1,2]"),
      said("(empty)"),
    ]);
  });

  it("that a run was not answered, and how it ended, but not the words of an error", () => {
    for (const [outcome, text] of unanswered) {
      const started = runOf(outcome, [userMessage("ask"), said("I begin")]);
      expect(historyOf(contentsOf(started), "answers")).toEqual([userMessage("ask"), said(text)]);
    }
  });

  it("what a run did that was stored before calls were kept apart, and gave no answer", () => {
    const failed: Outcome = { type: "failed", code: "run-broken", message: "503" };
    const { messages } = storedRun("r");
    const history = historyOf(contentsOf(runOf(failed, messages.slice(0, -1))), "answers");
    expect(history.slice(0, 2)).toEqual([
      userMessage("ask r"),
      saidAfterLook("(No answer: the run failed.)"),
    ]);
    expect(history[2]).toMatchObject({ role: "user", by: "runtime", label: untrustedFrom("tool/look") });
    expect(textOf(history[2] as UserMessage)).toContain('look {"text":"r"}: ok, "seen"');
    expect(history[3]).toEqual(said("I know what was done."));
    expect(history).toHaveLength(4);
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "got nothing"],
    ["a promise", Promise.resolve([]), "got a promise (`await` it)"],
  ])("no list of messages, where the author's function gives %s: it is told so", (_what, given, got) => {
    expect(() => historyOf(contentsOf(storedRun("r")), () => given as readonly Message[])).toThrow(
      expect.objectContaining({
        code: "definition-invalid",
        message: `What \`history\` of a session gave: it must be a list of messages, ${got}.`,
      }),
    );
  });

  it("what compaction took out of a run, and nothing twice, where all is sent", () => {
    const act = {
      callId: "gone",
      tool: "pay",
      effect: "write",
      arguments: "{}",
      status: "ok",
      result: "paid",
    } as const;
    const reused = { ...act, callId: "call_1" };
    const seen = { ...act, callId: "call_1", tool: "look", arguments: '{"text":"r"}', result: "seen" };
    const history = historyOf(contentsOf({ ...storedRun("r"), acts: [act, reused, seen] }), "all");
    const note = history[storedRun("r").messages.length] as UserMessage;
    expect(textOf(note).match(/pay \{\}/g)).toHaveLength(2);
    expect(textOf(note)).not.toContain("look");
  });

  it("first a summary, then what the session was created with, then its runs [C34]", () => {
    const contents: SessionContents = {
      summary: "They spoke of tea.",
      messages: [userMessage("before"), said("yes")],
      runs: [storedRun("r")],
    };
    for (const kind of ["answers", "all"] as const) {
      const history = historyOf(contents, kind);
      expect(history.slice(0, 4)).toEqual([
        runtimeMessage("Summary of what was said before:\n\nThey spoke of tea."),
        said("I know what was said before."),
        userMessage("before"),
        said("yes"),
      ]);
      expect(history.at(-1)).toEqual(kind === "answers" ? saidAfterLook("answer r") : said("answer r"));
      expect(providerComplaints(history)).toEqual([]);
    }
  });

  it("what a function of the author chooses [C34]", () => {
    const history = historyOf(contentsOf(storedRun("r1"), storedRun("r2")), ({ runs }) =>
      runs.slice(-1).flatMap(({ messages }) => messages.slice(0, 1)),
    );
    expect(history).toEqual([userMessage("ask r2")]);
  });

  it("is always a valid beginning of a transcript, and takes turns where only answers are sent", () => {
    const text = fc.string({ minLength: 1 });
    const replies = fc.array(fc.oneof(text, fc.constant("call" as const)), { maxLength: 4 });
    const outcome = fc.oneof(text.map(answered), fc.constantFrom(...unanswered.map(([ended]) => ended)));
    const runs = fc.array(
      fc.tuple(text, replies, outcome).map(([asked, steps, ended]) => {
        const messages = steps.flatMap((step, index): Message[] => {
          if (step !== "call") return [said(step), runtimeMessage("again")];
          const id = index === 2 ? "call_1_2" : `call_${index}`;
          return [
            { role: "assistant", parts: [{ type: "tool-call", id, name: "t", arguments: {} }] },
            { role: "tool", callId: id, name: "t", status: "ok", text: "done" },
          ];
        });
        return runOf(ended, [userMessage(asked), ...messages]);
      }),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(runs, fc.option(text, { nil: undefined }), (stored, summary) => {
        const contents = { ...contentsOf(...stored), summary };
        const short = historyOf(contents, "answers");
        expect(takesTurns(short)).toBe(true);
        expect(
          short.flatMap((message) => (message.role === "assistant" ? [textOf(message).trim()] : [])),
        ).not.toContain("");
        for (const history of [short, historyOf(contents, "all")]) {
          const transcript = transcriptAfter(history, { role: "system", text: "s" });
          const next = addReply(addUser(transcript, userMessage("now")), {
            role: "assistant",
            parts: [{ type: "text", text: "a" }],
          });
          expect(providerComplaints((next as ReadyTranscript).messages)).toEqual([]);
          expect(transcript.length).toBe(history.length + 1);
        }
      }),
    );
  });

  it("is refused where it is no transcript", () => {
    const call: Message = {
      role: "assistant",
      parts: [{ type: "tool-call", id: "c", name: "t", arguments: {} }],
    };
    const invalid = expect.objectContaining({
      code: "transcript-invalid",
      data: expect.objectContaining({ index: 1 }),
    });
    expect(() => transcriptAfter([userMessage("ask"), call])).toThrow(invalid);
    expect(() => transcriptAfter([userMessage("ask"), { role: "system", text: "be kind" }])).toThrow(invalid);
  });

  it.each(["answers", (): [] => []] as const)("says so if it is given no contents", (history) => {
    expect(() => historyOf(undefined as never, history)).toThrow("historyOf(): `contents` must be");
  });
});
