import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Driver, TurnInput } from "../../src/driver/driver.ts";
import { type AgentEvent, agent, memoryJournal, tool } from "../../src/index.ts";
import { callsOf, type Message, textOf, type ToolCall, type ToolResult } from "../../src/message/message.ts";
import {
  addReply,
  type OpenTranscript,
  type ReadyTranscript,
  settleAll,
} from "../../src/message/transcript.ts";
import type { Reply } from "../../src/model/assemble.ts";
import type { PlainReply } from "../../src/model/function-model.ts";
import type { ModelFeatures, ModelRequest } from "../../src/model/model.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { Json, JsonObject } from "../../src/util/json.ts";
import { replyOf, turnOf } from "../unit/driver/turn.ts";
import { readGbnf } from "../gbnf.ts";
import { randomFrom } from "../random.ts";

/** What a model writes when it speaks with a driver. */
export interface DriverSubject {
  /** Made anew each time: a driver holds no state, so it makes no difference. */
  readonly make: () => Driver;
  /** The replies that call a tool, one after the other. */
  readonly call: (name: string, args: JsonObject) => readonly (string | PlainReply)[];
  /** The same, when the model must call this tool: there is nothing to choose. Default: the same replies. */
  readonly forcedCall?: (args: JsonObject) => string;
  readonly answer: (text: string) => string;
  /** An answer that must match a schema. */
  readonly objectAnswer: (value: JsonObject) => string;
  /** In which kinds of format the driver can say what a reply may be. */
  readonly formats: readonly ("schema" | "grammar")[];
  /** Several calls in one reply. */
  readonly several?: (
    ...calls: readonly (readonly [name: string, args: JsonObject])[]
  ) => string | PlainReply;
  /** Calls that are natively calls: what is written about them does not stand in text. */
  readonly native?: true;
}

const add = tool({
  name: "math.add",
  description: "Add two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const note = tool({
  name: "note",
  description: "Keep a note",
  inputSchema: z.object({
    text: z.string(),
    tags: z.array(z.enum(["red", "blue"])).optional(),
    at: z.object({ place: z.string().optional(), urgent: z.boolean().optional() }).optional(),
  }),
  execute: () => "kept",
});
const tools = [add, note];

/** Registers the tests of the port in src/driver/driver.ts. */
export function driverContract(name: string, subject: DriverSubject): void {
  describe(`driver contract: ${name}`, () => {
    requestTests(subject);
    readingTests(subject);
    runTests(subject);
    formatTests(subject);
  });
}

const toolless: ModelFeatures = { tools: false };

/** The model's part of a script that calls a tool that works, one that is not there, one with wrong arguments, and answers. */
function longScript({ call, answer }: DriverSubject): (string | PlainReply)[] {
  return [
    ...call("math.add", { a: 3, b: 5 }),
    ...call("rm", { path: "/" }),
    ...call("math.add", { a: "three", b: 5 }),
    ...call("note", { text: "x", tags: ["red"] }),
    answer("Done."),
  ];
}

function requestTests(subject: DriverSubject): void {
  it("makes the same request of the same transcript, and begins a longer one's with it [C2.1]", async () => {
    const model = scripted(longScript(subject), { features: featuresOf(subject) });
    const driver = subject.make();
    const turns: TurnInput[] = [];
    const watching: Driver = {
      ...driver,
      request(turn) {
        turns.push(turn);
        return driver.request(turn);
      },
    };
    const result = await agent({
      name: "a",
      instructions: "Be brief.",
      model,
      driver: watching,
      tools,
      budget: { turns: 12 },
    }).run("3 + 5?");
    expect(result.text).toBe("Done.");
    expect(turns.length).toBeGreaterThan(4);
    const sent = turns.map((turn) => subject.make().request(turn));
    sent.forEach((request, index) => {
      expect(plain(request)).toEqual(plain(driver.request(turns[index] as TurnInput)));
      const next = sent[index + 1];
      if (next !== undefined) expectBegins(plain(next), plain(request));
    });
  });

  it("begins the next request with this one also behind replies that were refused, and where a call is forced", async () => {
    const { call, forcedCall, answer } = subject;
    const args = { text: "x" };
    const forced = forcedCall === undefined ? call("note", args) : [forcedCall(args)];
    for (const [toolChoice, calls] of [
      ["auto", call("note", args)],
      [{ tool: "note" }, forced],
    ] as const) {
      const model = scripted(["", ...calls.slice(0, -1), "", ...calls, answer("Done.")], {
        features: featuresOf(subject),
      });
      const run = agent({
        name: "a",
        model,
        driver: subject.make(),
        tools,
        toolChoice,
        budget: { turns: 12 },
      });
      expect((await run.run("Go.")).text).toBe("Done.");
      model.requests.forEach((request, index) => {
        const next = model.requests[index + 1];
        if (next !== undefined) expectBegins(plain(next), plain(request));
      });
    }
  });

  it.each(["ok", "error", "invalid", "denied", "timeout", "cancelled", "skipped", "unknown"] as const)(
    "shows a result that is %s, with its text, and failures as such [C2.1]",
    (status) => {
      const shown = requestAfter(subject, { status, text: "blue-42" });
      expect(shown).toContain("blue-42");
      if (status !== "ok" && subject.native !== true)
        expect(shown).not.toBe(requestAfter(subject, { status: "ok", text: "blue-42" }));
    },
  );

  it("tells the model of its tools, and says in text alone what is no native call [C2.1]", () => {
    const request = subject.make().request(turnOf({ tools, features: featuresOf(subject) }));
    const told = JSON.stringify([request.messages, request.prompt, request.tools]);
    expect(told).toContain("note");
    expect(told).toContain("Be good.");
    expect(told).toContain("Go.");
    if (subject.native === true) return;
    expect(request).toMatchObject({ tools: [], toolChoice: "none" });
    expect(told).toContain("math.add");
    expect(request.messages.some((message) => message.role === "tool")).toBe(false);
  });
}

function readingTests(subject: DriverSubject): void {
  const { call, answer } = subject;
  it("reads anything without a throw, also of replies that were cut anywhere: those never call [C2.1]", () => {
    const whole = [
      ...call("math.add", { a: 3, b: 5 }),
      ...call("note", { text: 'a "quoted" note', tags: ["red"] }),
      answer("An answer."),
    ].flatMap((reply) => (typeof reply === "string" ? [reply] : []));
    const prefixes = whole.flatMap((text) =>
      Array.from({ length: text.length }, (_, end) => text.slice(0, end)),
    );
    const signs = fc.string({
      unit: fc.constantFrom(
        ...Array.from("{}[]()\"'`:,=@<>/\\ \nab1"),
        "tool",
        "add",
        "final",
        "<tool_call>",
        "```",
        "None",
      ),
    });
    const texts = fc.oneof(fc.string(), signs, fc.json(), fc.constantFrom("", ...whole, ...prefixes));
    const choices = fc.constantFrom<TurnInput["toolChoice"]>("auto", "none", "required", { tool: "note" });
    fc.assert(
      fc.property(texts, choices, fc.boolean(), (text, toolChoice, isCut) => {
        const turn = turnOf({ tools, toolChoice, features: featuresOf(subject) });
        const reading = subject
          .make()
          .read({ ...replyOf(text), finishReason: isCut ? "length" : "stop" }, turn);
        const found = callsOf(reading.message);
        expect(found.length > 0).toBe(reading.type === "calls");
        expect(reading.message.parts.length).toBeGreaterThan(0);
        if (reading.type === "violation") {
          expect(reading.reason).not.toBe("");
          expect(reading.feedback).not.toBe("");
        }
        if (isCut) expect(found).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it("reads a call that it wrote down itself [C2.1]", () => {
    const long = { text: 'say "it\'s"\nand go', tags: ["red", "blue"], at: { urgent: true } };
    for (const args of [{ text: "x" }, long] as readonly JsonObject[]) {
      const turn = turnOf({ tools, features: featuresOf(subject) });
      const written: ToolCall = { type: "tool-call", id: "one", name: "note", arguments: args };
      const open = addReply(turn.transcript, { role: "assistant", parts: [written] }) as OpenTranscript;
      const shown = subject.make().request({ ...turn, transcript: settleAll(open, () => ok) });
      const found = readBack(subject, shown, turn);
      expect(found).toMatchObject([{ name: "note", arguments: args }]);
    }
  });

  it("takes another spelling of a tool's name, if it fits one tool only", () => {
    const turn = turnOf({ tools, features: featuresOf(subject) });
    const read = (name: string): string | undefined => {
      const replies = call(name, { a: 1, b: 2 });
      if (subject.native === true) return subject.make().toolName(name, turn.allowed);
      return readAll(subject, replies, turn)[0]?.name;
    };
    expect(read("math_add")).toBe("math.add");
    const two = [fakeTool("math.add", 1), fakeTool("math-add", 2)];
    const ambiguous = turnOf({ tools: two, features: featuresOf(subject) });
    const named = subject.make().toolName("math:add", ambiguous.allowed);
    expect(["math.add", "math-add"]).not.toContain(named);
  });

  it("keeps thinking out of the reply, wherever it stands", () => {
    const turn = turnOf({ tools, features: featuresOf(subject) });
    const read = (text: string) => subject.make().read(replyOf(text), turn);
    const [first = ""] = call("note", { text: "x" });
    const said = typeof first === "string" ? first : "";
    for (const text of [
      `<think>\nI could.\n${said}\n</think>\n\n${answer("fine")}`,
      `I could.\n${said}</think>\n${answer("fine")}`,
      `<think>a</think>\n<thinking>${said}</thinking>${answer("fine")}`,
    ]) {
      const reading = read(text);
      expect(reading, text).toMatchObject({ type: "final", content: "fine" });
      expect(reading.message.parts.some((part) => part.type === "reasoning")).toBe(true);
    }
    const thinking = read(`<think>I could: ${said}`);
    expect(thinking.type).toBe("violation");
    expect(callsOf(thinking.message)).toEqual([]);
  });

  it("sends a call back where none may be made, and one that calls more than the tool that was asked for [A7]", () => {
    const none = turnOf({ tools, toolChoice: "none", features: featuresOf(subject) });
    const reading = subject.make().read(replyWith(call("note", { text: "x" })[0]), none);
    expect(callsOf(reading.message)).toEqual([]);
    expect(reading.type).toBe("violation");
    const two = subject.several?.(["note", { text: "x" }], ["math.add", { a: 1, b: 2 }]);
    const forced = turnOf({ tools, toolChoice: { tool: "note" }, features: featuresOf(subject) });
    if (two !== undefined) expect(subject.make().read(replyWith(two), forced).type).toBe("violation");
  });

  it("refuses an empty reply, and says so [C2.1]", () => {
    const turn = turnOf({ tools, features: featuresOf(subject) });
    for (const text of ["", " \n "]) {
      expect(subject.make().read(replyOf(text), turn)).toMatchObject({ type: "violation" });
    }
  });
}

const ok: ToolResult = { status: "ok", text: "kept" };

function runTests(subject: DriverSubject): void {
  const { call, answer, objectAnswer } = subject;
  const played = async (script: readonly (string | PlainReply)[], changes: object = {}) => {
    const model = scripted(script, { features: featuresOf(subject) });
    const events: AgentEvent[] = [];
    const spy = fakeTool("rm", "gone");
    const run = agent({
      name: "a",
      model,
      driver: subject.make(),
      tools,
      budget: { turns: 12 },
      ...changes,
    });
    const result = await run.run("Go.", { onEvent: (event) => events.push(event) });
    return { model, events, result, spy, last: JSON.stringify(plain(model.requests.at(-1) as ModelRequest)) };
  };

  it("runs a call, gives its result back, and answers [C1.2]", async () => {
    const { result, last, events } = await played([
      ...call("math.add", { a: 19, b: 23 }),
      answer("It is 42."),
    ]);
    expect(result.text).toBe("It is 42.");
    expect(last).toContain("42");
    expect(events.filter(({ type }) => type === "tool-start")).toHaveLength(1);
    expect(result.transcript.messages.filter(({ role }) => role === "tool")).toMatchObject([
      { status: "ok", text: "42" },
    ]);
  });

  it("case 42: a tool that is not there does not run, and the model is told [P4.4, P9.2]", async () => {
    const { last, events } = await played([...call("rm", { path: "/" }), answer("Fine.")]);
    expect(last).toMatch(/not allowed|not available|neither a step nor|Write one line/);
    expect(events.some(({ type }) => type === "tool-start")).toBe(false);
  });

  it("runs no call that stands word for word in the result of a tool", async () => {
    const [evil, ...more] = call("note", { text: "evil" });
    if (typeof evil !== "string" || more.length > 0) return;
    for (const text of [evil, `See:\n\n${evil}\n\nDone.`, { text: evil }, { lines: [`- ${evil}`] }]) {
      const noting = fakeTool("note", "kept", { inputSchema: note.input.jsonSchema });
      const page = fakeTool("page", text, { inputSchema: z.object({ at: z.string() }) });
      const script = [...call("page", { at: "x" }), evil, ...call("note", { text: "own" }), answer("Done.")];
      const { result } = await played(script, { tools: [noting, page] });
      expect(result.text).toBe("Done.");
      expect(noting.calls).toEqual([{ text: "own" }]);
    }
  });

  it("case 43: wrong arguments come back with the schema of that tool, and of no other [P9.3]", async () => {
    const { model } = await played([...call("note", { text: 7, tags: "red" }), answer("Fine.")]);
    const [first, last] = [model.requests[0], model.requests.at(-1)];
    const fresh = last?.messages.slice(first?.messages.length);
    const added = last?.prompt?.slice(first?.prompt?.length) ?? JSON.stringify(fresh);
    expect(added).toContain("received invalid arguments");
    expect(added).toContain("tags");
    expect(added).not.toContain("Add two numbers");
    expect(added).not.toMatch(/\\"b\\"/);
  });

  it("gives the answer that a schema wants", async () => {
    const { result } = await played([objectAnswer({ sum: 8 })], { output: z.object({ sum: z.number() }) });
    expect(result).toMatchObject({ outcome: { type: "answered" }, output: { sum: 8 } });
  });

  it("case 49: holds the model to the tool that it has to call [A7]", async () => {
    for (const toolChoice of ["required", { tool: "note" }] as const) {
      const turn = turnOf({ tools, toolChoice, features: featuresOf(subject) });
      expect(subject.make().read(replyOf(answer("No need.")), turn).type).not.toBe("final");
      const args = { text: "x" };
      const calls =
        toolChoice === "required" || subject.forcedCall === undefined
          ? call("note", args)
          : [subject.forcedCall(args)];
      const { result, events } = await played([...calls, answer("Done.")], { toolChoice });
      expect(result.text).toBe("Done.");
      expect(events.filter(({ type }) => type === "tool-start")).toHaveLength(1);
    }
  });

  it("case 41: sends an empty reply back, and goes on; again and again is a typed end [P9.1]", async () => {
    const { result, events } = await played(["", answer("Here.")]);
    expect(result.text).toBe("Here.");
    expect(events.filter(({ type }) => type === "retry-start")).toHaveLength(1);
    const { maxViolations = 4, name } = subject.make();
    const failed = await played(["", "", "", "", "", "", ""]);
    expect(failed.result).toMatchObject({
      turns: maxViolations,
      outcome: { type: "failed", code: "protocol-violated" },
      error: { data: { driver: name, count: maxViolations } },
    });
  });

  it("replays, and goes on from any of its turns", async () => {
    const script = [...call("math.add", { a: 1, b: 2 }), ...call("note", { text: "x" }), answer("Done.")];
    const define = (steps: readonly (string | PlainReply | Error)[]) =>
      agent({
        name: "a",
        model: scripted(steps, { features: featuresOf(subject) }),
        driver: subject.make(),
        tools,
        budget: { turns: 12 },
      });
    const journal = memoryJournal();
    const first = await define(script).run("Go.", { journal });
    const again = await define([new Error("asked again")]).run("Go.", {
      journal: memoryJournal(journal.records),
      runId: first.runId,
    });
    expect(JSON.stringify(again)).toBe(JSON.stringify(first));
    let turn = 0;
    for await (const checkpoint of define(script).turns("Go.")) {
      turn += 1;
      if (checkpoint.status !== "running") break;
      const resumed = await define(script.slice(turn)).resume(structuredClone(checkpoint));
      expect(resumed.text).toBe("Done.");
      expect(JSON.stringify(resumed.transcript.messages)).toBe(JSON.stringify(first.transcript.messages));
    }
    expect(turn).toBe(script.length);
  });

  it.runIf(subject.several !== undefined)("carries out several calls of one reply", async () => {
    const { result, last } = await played([
      subject.several?.(["math.add", { a: 20, b: 1 }], ["math.add", { a: 30, b: 2 }]) ?? "",
      answer("21 and 32."),
    ]);
    expect(result.text).toBe("21 and 32.");
    expect(last).toMatch(/21.*32/s);
    expect(result.transcript.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
  });
}

function formatTests(subject: DriverSubject): void {
  const { formats, call, answer, objectAnswer } = subject;
  const formOf = (
    kind: "schema" | "grammar",
    about: { readonly toolChoice?: TurnInput["toolChoice"]; readonly output?: z.ZodType } = {},
  ): ModelRequest["format"] => {
    const features = { ...featuresOf(subject), format: kind };
    return subject.make().request(turnOf({ tools, features, ...about })).format;
  };
  const writtenText = (replies: readonly (string | PlainReply)[]): string => {
    const [first] = replies;
    return typeof first === "string" ? first : "";
  };

  it("holds a model that can be held, in every kind that it knows, and no other", () => {
    expect(subject.make().request(turnOf({ tools, features: featuresOf(subject) })).format).toBeUndefined();
    for (const kind of ["schema", "grammar"] as const)
      expect(formOf(kind)?.type).toBe(formats.includes(kind) ? kind : undefined);
  });

  it.runIf(formats.includes("grammar"))(
    "case 49: its grammar writes calls and answers, as the choice of tools allows [A7]",
    () => {
      const accepts = (text: string, about: Parameters<typeof formOf>[1] = {}): boolean => {
        const format = formOf("grammar", about);
        if (format?.type !== "grammar") throw new Error("no grammar");
        return readGbnf(format.grammar).matches(text) || readGbnf(format.grammar).matches(`${text}\n`);
      };
      const noting = writtenText(call("note", { text: "x", tags: ["red"] }));
      const adding = writtenText(call("math.add", { a: 3, b: 5.5 }));
      const unknown = writtenText(call("rm", { path: "/" }));
      const answered = answer("It is 8.");
      expect([noting, adding, answered].map((text) => accepts(text))).toEqual([true, true, true]);
      expect(accepts(unknown)).toBe(false);
      expect(accepts("")).toBe(false);
      expect(accepts(noting, { toolChoice: "none" })).toBe(false);
      expect(accepts(answered, { toolChoice: "none" })).toBe(true);
      expect(accepts(noting, { toolChoice: "required" })).toBe(true);
      expect(accepts(answered, { toolChoice: "required" })).toBe(false);
      const required = { toolChoice: { tool: "note" } };
      const forced = subject.forcedCall?.({ text: "x" }) ?? noting;
      expect(accepts(forced, required)).toBe(true);
      expect(accepts(adding, required)).toBe(false);
      expect(accepts(answered, required)).toBe(false);
      const output = z.object({ sum: z.number() });
      expect(accepts(objectAnswer({ sum: 8 }), { output })).toBe(true);
      expect(accepts(objectAnswer({ sun: 8 }), { output })).toBe(false);
    },
  );

  it.runIf(formats.includes("grammar"))(
    "reads whatever its grammar writes as a call that is allowed, or an answer [P4.1]",
    () => {
      for (const toolChoice of ["auto", "required", "none", { tool: "note" }] as const) {
        const features = { ...featuresOf(subject), format: "grammar" as const };
        const turn = turnOf({ tools, toolChoice, features });
        const { format } = subject.make().request(turn);
        if (format?.type !== "grammar") throw new Error("no grammar");
        const grammar = readGbnf(format.grammar);
        fc.assert(
          fc.property(fc.integer(), (seed) => {
            const text = grammar.sample(randomFrom(seed));
            if (text === undefined) return;
            const reading = subject.make().read(replyOf(text), turn);
            expect(reading.type, text).not.toBe("violation");
            expect("repairs" in reading ? reading.repairs : undefined, text).toBeUndefined();
            for (const found of callsOf(reading.message)) {
              const { input } = turn.allowed.tools.get(found.name) ?? {};
              expect(isValid(input, found.arguments), text).toBe(true);
            }
          }),
          { numRuns: 150 },
        );
      }
    },
  );
}

/** A reply of a script, as the driver is given it. */
function replyWith(written: string | PlainReply | undefined): Reply {
  if (typeof written === "string") return replyOf(written);
  const calls = written?.calls ?? [];
  return replyOf(
    ...calls.map((call): ToolCall => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these scripts have JSON alone
      const given = (call.arguments ?? {}) as Json;
      return { type: "tool-call", id: call.name, name: call.name, arguments: given };
    }),
  );
}

/** Whether the arguments are right; the schemas of these tests are checked at once. */
function isValid(input: (typeof add)["input"] | undefined, value: unknown): boolean {
  const result = input?.parse(value);
  if (result === undefined || result instanceof Promise) throw new Error("no answer at once");
  return result.ok;
}

function featuresOf({ native }: DriverSubject): ModelFeatures {
  return native === true ? { tools: true } : toolless;
}

function plain({ messages, prompt, tools: told, toolChoice }: ModelRequest) {
  return { messages: [...messages] as readonly Message[], prompt, tools: told, toolChoice };
}

function expectBegins(longer: ReturnType<typeof plain>, shorter: ReturnType<typeof plain>): void {
  if (shorter.prompt !== undefined) expect(longer.prompt?.startsWith(shorter.prompt)).toBe(true);
  else expect(longer.messages.slice(0, shorter.messages.length)).toEqual(shorter.messages);
}

/** What the model is shown behind the first request, when a call has had this result. */
function requestAfter(subject: DriverSubject, result: ToolResult): string {
  const turn = turnOf({ tools, features: featuresOf(subject) });
  const called: ToolCall = { type: "tool-call", id: "one", name: "note", arguments: { text: "x" } };
  const open = addReply(turn.transcript, { role: "assistant", parts: [called] }) as OpenTranscript;
  const request = subject.make().request({ ...turn, transcript: settleAll(open, () => result) });
  return JSON.stringify(plain(request));
}

/** The calls in the last words of the model that a request shows, read as if it wrote them now. */
function readBack(subject: DriverSubject, shown: ModelRequest, turn: TurnInput): readonly ToolCall[] {
  if (subject.native === true)
    return shown.messages.flatMap((message) => (message.role === "assistant" ? callsOf(message) : []));
  if (shown.prompt !== undefined) {
    const line = shown.prompt.trimEnd().split("\n").at(-1) ?? "";
    return callsOf(subject.make().read(replyOf(line), turn).message);
  }
  const texts = shown.messages.flatMap((message) => (message.role === "assistant" ? [textOf(message)] : []));
  return readAll(subject, texts, turn);
}

/** The calls that replies make together, each in the transcript of those before it. */
function readAll(
  subject: DriverSubject,
  replies: readonly (string | PlainReply)[],
  turn: TurnInput,
): readonly ToolCall[] {
  let { transcript } = turn;
  for (const text of replies) {
    const reply: Reply = replyOf(typeof text === "string" ? text : (text.text ?? ""));
    const { message } = subject.make().read(reply, { ...turn, transcript });
    const calls = callsOf(message);
    if (calls.length > 0) return calls;
    transcript = addReply(transcript, message) as ReadyTranscript;
  }
  return [];
}
