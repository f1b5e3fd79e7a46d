import { describe, expect, it } from "vitest";
import type { HookPlace } from "../../../src/hook/hook.ts";
import { hookFields } from "../../../src/hook/hook.ts";
import { freezeInput } from "../../../src/hook/freeze-input.ts";
import { askHooks, askHooksOnce, sortHooks, wrongField } from "../../../src/hook/run-hooks.ts";
import { memoryJournal } from "../../../src/journal/memory-journal.ts";
import { userMessage } from "../../../src/message/message.ts";
import { addUser, emptyTranscript } from "../../../src/message/transcript.ts";
import type { Json } from "../../../src/util/json.ts";

describe("what hooks are given", () => {
  it("is a copy that cannot be written to; messages are frozen in place, errors are left alone", () => {
    const given = { a: { b: [1, { c: 2 }] } };
    const error = new Error("x");
    const messages = [userMessage("hi")];
    const at = freezeInput({ turn: 1, arguments: given, messages, error });
    expect(at).toEqual({ turn: 1, arguments: given, messages, error });
    expect([at.arguments === given, at.messages === messages, at.error === error]).toEqual([
      false,
      true,
      true,
    ]);
    expect(Object.isFrozen(given.a)).toBe(false);
    expect([at, at.arguments.a.b, at.arguments.a.b[1], at.messages[0]?.parts[0]].every(Object.isFrozen)).toBe(
      true,
    );
    expect(Object.isFrozen(error)).toBe(false);
  });

  it("costs nothing that no hook looks at: messages are frozen when they are read", () => {
    const messages = [userMessage("hi")];
    const transcript = addUser(emptyTranscript(), userMessage("there"));
    const at = freezeInput({ turn: 1, messages, transcript });
    expect([Object.isFrozen(messages), Object.isFrozen(transcript.messages[0])]).toEqual([false, false]);
    expect([Object.isFrozen(at.messages), Object.isFrozen(at.transcript.messages[0])]).toEqual([true, true]);
    expect(() => Object.assign(at, { messages: [] })).toThrow(TypeError);
  });

  it("can be gone on with: a transcript whose messages are frozen takes more", () => {
    const transcript = addUser(emptyTranscript(), userMessage("hi"));
    const at = freezeInput({ turn: 1, transcript });
    expect(Object.isFrozen(at.transcript.messages)).toBe(true);
    expect(addUser(transcript, userMessage("more")).messages).toHaveLength(2);
  });
});

describe("what hooks give back", () => {
  const right: Partial<Record<string, readonly Json[]>> = {
    messages: [
      [],
      [
        userMessage("hi") as unknown as Json,
        { role: "system", text: "x" },
        { role: "tool", callId: "a", name: "b", status: "ok", text: "" },
      ],
    ],
    settings: [{}, { temperature: 0 }],
    toolChoice: ["auto", "required", "none", { tool: "x" }],
    message: [
      { role: "assistant", parts: [] },
      {
        role: "assistant",
        parts: [
          { type: "tool-call", id: "", name: "a.b", arguments: null },
          { type: "file", mediaType: "a/b", data: "" },
          { type: "provider", data: {} },
        ],
      },
    ],
    checkpoint: [true, false],
    extend: [3, -1],
    retryAfterMs: [0],
  };
  const wrong: Partial<Record<string, readonly Json[]>> = {
    messages: [
      {},
      "x",
      [1],
      [{ role: "robot" }],
      [{ role: "user" }],
      [{ role: "tool", callId: "a", name: "b", status: "fine", text: "" }],
      [{ role: "system" }],
    ],
    settings: [[], "x", null],
    toolChoice: ["maybe", {}, { tool: 3 }],
    message: [
      { role: "user", parts: [] },
      { role: "assistant", parts: [{ type: "text" }] },
      { role: "assistant", parts: [{ type: "tool-call", id: "a", name: "a b", arguments: {} }] },
      { role: "assistant", parts: [{ type: "tool-call", id: "a", name: "a" }] },
    ],
    checkpoint: ["yes", 1],
    extend: ["3", null, {}],
    retryAfterMs: [null, true],
  };
  const texts = new Set(["skill", "deny", "say", "stop", "continue"]);

  it("is what each field takes, in every place", () => {
    for (const place of Object.keys(hookFields) as HookPlace[])
      for (const field of hookFields[place]) {
        const isText = texts.has(field);
        const isResult = field === "result" && place === "afterToolCall";
        const fits: readonly Json[] = isResult
          ? [{ status: "ok", text: "", note: "n", value: [] }]
          : (right[field] ?? (isText ? ["", "x"] : [null, 1, "x", [], {}]));
        const not: readonly Json[] = isResult
          ? [
              "x",
              {},
              { status: "ok" },
              { status: "fine", text: "" },
              { status: "ok", text: "", role: "system" },
              { status: "ok", text: "", note: 1 },
            ]
          : (wrong[field] ?? (isText ? [1, null, {}, []] : []));
        for (const value of fits)
          expect([place, field, value, wrongField(place, field, value)]).toEqual([
            place,
            field,
            value,
            undefined,
          ]);
        for (const value of not)
          expect(wrongField(place, field, value), `${place} ${field} ${JSON.stringify(value)}`).toContain(
            `\`${field}\` must be`,
          );
      }
  });

  it("is never dropped in silence: a function or a symbol in the place of a text is a failure, not a permission", async () => {
    for (const deny of [() => "no", Symbol("no"), NaN, new Map()]) {
      const { beforeToolCall = [] } = sortHooks([{ beforeToolCall: () => ({ deny }) as never }], "a");
      const asking = askHooks(beforeToolCall, "beforeToolCall", {
        turn: 1,
        callId: "c",
        tool: "t",
        arguments: {},
      });
      await expect(asking).rejects.toMatchObject({ code: "hook-failed", data: { hook: "hooks[0]" } });
    }
  });

  it("is never an object whose words are elsewhere than in fields of its own: an error that is given back is no permission", async () => {
    class Denial {
      get deny(): string {
        return "no";
      }
    }
    const answers = [
      new Error("no"),
      new Map([["deny", "no"]]),
      new Denial(),
      Object.create({ deny: "no" }),
      new Response("no"),
    ];
    for (const answer of answers) {
      const { beforeToolCall = [] } = sortHooks([{ beforeToolCall: () => answer as never }], "a");
      const at = { turn: 1, callId: "c", tool: "t", arguments: {} };
      await expect(askHooks(beforeToolCall, "beforeToolCall", at)).rejects.toMatchObject({
        code: "hook-failed",
      });
    }
    for (const answer of [{}, Object.create(null)]) {
      const { beforeToolCall = [] } = sortHooks([{ beforeToolCall: () => answer as never }], "a");
      const at = { turn: 1, callId: "c", tool: "t", arguments: {} };
      expect(await askHooks(beforeToolCall, "beforeToolCall", at)).toEqual({ answer: {}, by: {} });
    }
  });
});

describe("hooks as a step of a journal", () => {
  const question = {
    place: "afterTurn" as const,
    at: { turn: 1, transcript: emptyTranscript(), usage: { inputTokens: 0, outputTokens: 0 } },
  };

  it("are asked once; one that failed fails again with the same code and data, its cause gone", async () => {
    const cause = new RangeError("no disk");
    const journal = memoryJournal();
    let asked = 0;
    const fails =
      sortHooks(
        [
          {
            name: "f",
            afterTurn: () => {
              asked += 1;
              throw cause;
            },
          },
        ],
        "a",
      ).afterTurn ?? [];
    const step = { journal, key: "k" };
    await expect(askHooksOnce(fails, question, step)).rejects.toMatchObject({ code: "hook-failed", cause });
    const again = askHooksOnce(fails, question, { journal: memoryJournal(journal.records), key: "k" });
    await expect(again).rejects.toMatchObject({
      code: "hook-failed",
      data: { hook: "f", place: "afterTurn", reason: "no disk" },
    });
    expect(asked).toBe(1);
    const forbidden = sortHooks([{ afterTurn: () => ({ deny: "x" }) as never }], "a").afterTurn ?? [];
    await expect(askHooksOnce(forbidden, question, { journal, key: "l" })).rejects.toMatchObject({
      code: "hook-field-forbidden",
      data: { allowed: "say, stop" },
    });
    await expect(
      askHooksOnce([], question, { journal: memoryJournal(journal.records), key: "l" }),
    ).rejects.toMatchObject({ code: "hook-field-forbidden" });
  });

  it("do not hide what the journal itself throws", async () => {
    const broken = { step: () => Promise.reject(new Error("no journal")), all: () => Promise.resolve([]) };
    await expect(askHooksOnce([], question, { journal: broken, key: "k" })).rejects.toThrow("no journal");
  });
});
