import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  agent,
  type AgentDefinition,
  type AgentEvent,
  type Hook,
  memoryJournal,
  skill,
} from "../../src/index.ts";
import { modelFromFunction } from "../../src/model/function-model.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { calling, factsOf, ofType, roundTrip, watch, type TextAgent } from "./watching.ts";

const usage = { inputTokens: 30, outputTokens: 10 };
const read = fakeTool("read", "text");
const write = fakeTool("write", "written");
const reader = skill({ name: "reader", description: "Reads files", tools: [read] });
const writer = skill({ name: "writer", description: "Writes files", tools: [write] });
const shout = skill({
  name: "shout",
  description: "Upper case",
  execute: (input) => String(input).toUpperCase(),
});
const route = (skillName: string, confidence: number, rationale?: string): ScriptStep => ({
  text: JSON.stringify({ skillName, confidence, ...(rationale === undefined ? {} : { rationale }) }),
  usage,
});
const define = (changes: Partial<AgentDefinition<undefined, undefined>> = {}): TextAgent =>
  agent({
    name: "files",
    instructions: "Handle files.",
    skills: [reader, writer, shout],
    model: scripted([]),
    ...changes,
  });
const chosenIn = (events: readonly AgentEvent[]): object[] =>
  ofType(events, "skill-chosen").map(
    ({ type: _type, seq: _seq, runId: _runId, at: _at, agent: _agent, ...chosen }) => chosen,
  );

describe("the choice of a skill", () => {
  it("is the caller's before all, then the author's function's; an unknown name is an error that names those there are [K6]", async () => {
    const model = scripted([{ text: "Read.", usage }]);
    const asked: unknown[] = [];
    const a = define({
      model,
      selectSkill: (input) => (asked.push(input), input === "x" ? "nobody" : "reader"),
    });
    const byCaller = await watch(a.stream("loud", { skill: "shout" }));
    expect([byCaller.result.output, asked, model.requests]).toEqual(["LOUD", [], []]);
    expect(chosenIn(byCaller.events)).toEqual([{ skill: "shout", by: "caller" }]);
    const byFunction = await watch(a.stream("quiet"));
    expect(chosenIn(byFunction.events)).toEqual([{ skill: "reader", by: "function" }]);
    expect([asked, model.requests.length]).toEqual([["quiet"], 1]);
    const unknown = {
      code: "skill-unknown",
      message: 'The agent "files" has no skill "nobody". It has: reader, writer, shout.',
    };
    await expect(a.run("x")).rejects.toMatchObject(unknown);
    await expect(a.run("y", { skill: "nobody" })).rejects.toMatchObject(unknown);
    const torn = new Error("torn");
    const throwing = define({ model, selectSkill: () => { throw torn; } }); // prettier-ignore
    await expect(throwing.run("x")).rejects.toMatchObject({ code: "function-failed", cause: torn });
    for (const named of [Promise.resolve("reader"), { name: "reader" }, ["reader"], 5])
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await expect(define({ model, selectSkill: () => named as never }).run("x")).rejects.toMatchObject({
        code: "function-failed",
        message: expect.stringContaining("it must return the name of a skill at once"),
      });
  });

  it("is by type when one skill alone takes the input: no model is asked [K6]", async () => {
    const byNumber = skill({
      name: "double",
      description: "",
      input: z.object({ n: z.number() }),
      execute: (input) => input.n * 2,
    });
    const byText = skill({
      name: "length",
      description: "",
      input: z.object({ text: z.string() }),
      execute: (input) => input.text.length,
    });
    const model = scripted([]);
    const a = define({ skills: [byNumber, byText], model });
    const number = await watch(a.stream({ n: 4 }));
    const text = await watch(a.stream({ text: "four" }));
    expect([number.result.output, text.result.output, model.requests]).toEqual([8, 4, []]);
    expect([...chosenIn(number.events), ...chosenIn(text.events)]).toEqual([
      { skill: "double", by: "type" },
      { skill: "length", by: "type" },
    ]);
    await expect(a.run("neither")).rejects.toMatchObject({
      code: "skill-not-chosen",
      message: expect.stringContaining("none of them takes this input"),
    });
    const only = await watch(define({ skills: [shout] }).stream("x"));
    expect(chosenIn(only.events)).toEqual([{ skill: "shout", by: "only" }]);
  });

  it("a skill that somebody named must take the input too [K6]", async () => {
    const strict = skill({
      name: "strict",
      description: "",
      input: z.object({ n: z.number() }),
      execute: () => "ran",
    });
    const a = define({ skills: [strict, shout] });
    const invalid = { code: "input-invalid", message: expect.stringContaining('"strict"') };
    await expect(a.run("text", { skill: "strict" })).rejects.toMatchObject(invalid);
    await expect(a.with({ selectSkill: () => "strict" }).run("text")).rejects.toMatchObject(invalid);
    await expect(
      a.with({ hooks: [{ beforeSkill: () => ({ skill: "strict" }) }] }).run("text", { skill: "shout" }),
    ).rejects.toMatchObject(invalid);
    expect((await a.run({ n: 1 }, { skill: "strict" })).output).toBe("ran");
  });

  it("is the model's, in one structured turn that offers the fitting skills and no tools [K6]", async () => {
    const model = {
      ...scripted([route("writer", 0.9, "it says save"), { text: "Saved.", usage }], {
        features: { tools: true, format: "schema" },
      }),
    };
    const { events, result } = await watch(define({ model, skills: [reader, writer] }).stream("Save this."));
    expect(chosenIn(events)).toEqual([
      { skill: "writer", by: "model", confidence: 0.9, rationale: "it says save" },
    ]);
    const [asked, answering] = model.requests;
    expect(asked).toMatchObject({
      tools: [],
      toolChoice: "none",
      format: {
        type: "schema",
        schema: {
          properties: { skillName: { enum: ["reader", "writer"] } },
          required: ["skillName", "confidence"],
        },
      },
    });
    expect(asked?.messages).toMatchObject([
      { role: "system", text: expect.stringContaining("- reader: Reads files\n- writer: Writes files") },
      { role: "user", parts: [{ text: "Save this." }] },
    ]);
    expect(answering?.tools.map(({ name }) => name)).toEqual(["write"]);
    expect(result.transcript.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    const grammar = scripted([route("reader", 1), "Read."], { features: { tools: true, format: "grammar" } });
    await define({ model: grammar, skills: [reader, writer] }).run("x");
    expect(grammar.requests[0]?.format?.type).toBe("grammar");
  });

  it("costs tokens that count for the run and its budget, though it is no turn [K6, B-tokens]", async () => {
    const script = (): ReturnType<typeof scripted> =>
      scripted([route("reader", 1), { ...calling("read"), usage }, { text: "Read.", usage }]);
    const { events, result } = await watch(define({ model: script() }).stream("x"));
    expect(result).toMatchObject({ turns: 2, usage: { inputTokens: 90, outputTokens: 30 } });
    expect(ofType(events, "usage-add").map(({ turn, total }) => [turn, total.inputTokens])).toEqual([
      [0, 30],
      [1, 60],
      [2, 90],
    ]);
    const model = script();
    const bounded = await watch(define({ model, budget: { tokens: 80 } }).stream("x"));
    expect(bounded.result.outcome).toMatchObject({ type: "exhausted", field: "tokens", used: 80 });
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([80, 40]);
  });

  it("below the threshold is the other skill's, or an error; what it cost counts all the same [K6]", async () => {
    const unsure = (changes: object): TextAgent =>
      define({ model: scripted([route("writer", 0.4), { text: "Read.", usage }]), ...changes });
    const other = await watch(unsure({ routing: { threshold: 0.6, otherwise: "reader" } }).stream("x"));
    expect(chosenIn(other.events)).toEqual([{ skill: "reader", by: "model", confidence: 0.4 }]);
    const sure = await watch(unsure({ routing: { threshold: 0.4 } }).stream("x"));
    expect(chosenIn(sure.events)).toMatchObject([{ skill: "writer" }]);
    const events: AgentEvent[] = [];
    const reading = async (): Promise<void> => {
      for await (const event of unsure({ routing: { threshold: 0.6 } }).stream("x")) events.push(event);
    };
    await expect(reading()).rejects.toMatchObject({
      code: "skill-not-chosen",
      message: expect.stringContaining('0.4 sure of "writer", and 0.6 is needed'),
    });
    expect(events.at(-1)).toMatchObject({
      type: "run-end",
      outcome: { type: "failed", code: "skill-not-chosen" },
      usage,
    });
    expect(() => define({ routing: { otherwise: "nobody" } })).toThrow(
      expect.objectContaining({ code: "skill-unknown" }),
    );
    expect(() => define({ routing: { threshold: 2 } })).toThrow(
      expect.objectContaining({ code: "definition-invalid" }),
    );
  });

  it("is read from plain text, fences and quotes; nothing is guessed [K6]", async () => {
    const chosen = async (text: string): Promise<unknown> => {
      const { events } = await watch(define({ model: scripted([text, "Done."]) }).stream("x"));
      return chosenIn(events)[0];
    };
    const writes = { skill: "writer", by: "model", confidence: 1 };
    expect(await chosen(" writer\n")).toEqual(writes);
    expect(await chosen('"writer"')).toEqual(writes);
    expect(await chosen('```json\n{"skillName":"writer","confidence":0.5,}\n```')).toEqual({
      ...writes,
      confidence: 0.5,
    });
    expect(await chosen('By [1]: {"skillName":"writer","confidence":0.5}')).toEqual({
      ...writes,
      confidence: 0.5,
    });
    for (const text of ["I think the writer.", "{}", "Writer", "constructor", "[]"])
      await expect(chosen(text)).rejects.toMatchObject({
        code: "skill-unknown",
        hint: expect.stringContaining('`routing: { otherwise: "name" }`'),
      });
  });

  it.each([
    ["30", 0.3],
    ["100", 1],
    ["1", 1],
    ["7", 0.07],
    ['"30%"', 0.3],
    ['"0.3"', 0.3],
    ['" 95 % "', 0.95],
    ['"1%"', 0.01],
    ["101", 0],
    ["-0.5", 0],
    ['"low"', 0],
    ['""', 0],
    ["null", 0],
    ["true", 0],
    ["[1]", 0],
    ['"0x1"', 0],
    ["1e-3", 0.001],
  ])("takes a confidence of %s for %d: percent is not certainty [K6]", async (written, confidence) => {
    const text = `{"skillName":"writer","confidence":${written}}`;
    const routing = { threshold: 0.99, otherwise: "reader" };
    const { events } = await watch(define({ model: scripted([text, "Done."]), routing }).stream("x"));
    const skill = confidence === 1 ? "writer" : "reader";
    expect(chosenIn(events)).toEqual([{ skill, by: "model", confidence }]);
  });

  it("is below every threshold where it does not say how sure the model is, but for the name alone [K6]", async () => {
    const chosen = async (
      routing: AgentDefinition<undefined, undefined>["routing"],
      text = '{"skillName":"writer"}',
    ): Promise<unknown> => {
      const { events } = await watch(define({ model: scripted([text, "Done."]), routing }).stream("x"));
      return chosenIn(events)[0];
    };
    const sure = { skill: "writer", by: "model", confidence: 1 };
    expect(await chosen({ threshold: 0.9, otherwise: "reader" }, "writer")).toEqual(sure);
    expect(await chosen({ threshold: 0.1, otherwise: "reader" })).toEqual({ skill: "reader", by: "model" });
    expect(await chosen({ otherwise: "reader" })).toEqual({ skill: "writer", by: "model" });
    await expect(chosen({ threshold: 0.1 })).rejects.toMatchObject({
      code: "skill-not-chosen",
      message: expect.stringContaining('does not say how sure it is of "writer", and 0.1 is needed'),
    });
  });

  it("is an error when the model calls a tool instead, and what its provider throws is thrown [K6]", async () => {
    const before = read.calls.length;
    const calls = define({ model: scripted([calling("read")]), routing: { otherwise: "reader" } });
    await expect(calls.run("x")).rejects.toMatchObject({
      code: "skill-not-chosen",
      message: expect.stringContaining("called a tool where it had to choose"),
    });
    expect(read.calls).toHaveLength(before);
    const down = define({ model: scripted([new Error("down")]) });
    await expect(down.run("x")).rejects.toMatchObject({ code: "provider-failed" });
    const hanging = define({ model: modelFromFunction(() => new Promise(() => undefined)) });
    expect(await hanging.run("x", { signal: AbortSignal.timeout(20) })).toMatchObject({
      outcome: { type: "cancelled" },
    });
    expect(await hanging.with({ budget: { durationMs: 20 } }).run("x")).toMatchObject({
      outcome: { type: "exhausted", field: "durationMs" },
    });
  });

  it("is the first without a model, and where the author says so [K6]", async () => {
    const whisper = skill({
      name: "whisper",
      description: "",
      execute: (input) => String(input).toLowerCase(),
    });
    const plain = await watch(agent({ name: "p", skills: [shout, whisper] }).stream("Hi"));
    expect([plain.result.output, chosenIn(plain.events)]).toEqual(["HI", [{ skill: "shout", by: "first" }]]);
    const model = scripted(["Read."]);
    const first = await watch(define({ model, routing: "first" }).stream("x"));
    expect([chosenIn(first.events), model.requests.length]).toEqual([[{ skill: "reader", by: "first" }], 1]);
    const undecided = await watch(
      define({ model: scripted([route("writer", 1), "Done."]), selectSkill: () => undefined }).stream("x"),
    );
    expect(chosenIn(undecided.events)).toMatchObject([{ skill: "writer", by: "model" }]);
  });

  it("can be changed or refused by a hook, and never falls on a skill that is not there [K6, Z6]", async () => {
    const model = scripted([route("writer", 1), "Read."]);
    const rerouting: Hook = {
      beforeSkill: ({ skill: name }) => (name === "writer" ? { skill: "reader" } : {}),
    };
    const { events } = await watch(define({ model, hooks: [rerouting] }).stream("x"));
    expect(chosenIn(events)).toEqual([{ skill: "reader", by: "hook" }]);
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(["read"]);
    const lost = define({
      model: scripted([route("writer", 1)]),
      hooks: [{ beforeSkill: () => ({ skill: "nobody" }) }],
    });
    await expect(lost.run("x")).rejects.toMatchObject({ code: "skill-unknown" });
  });

  it("is recorded: a replay asks no model and tells the same; other skills are noticed", async () => {
    const journal = memoryJournal();
    const model = scripted([route("reader", 0.8, "why"), { text: "Read.", usage }]);
    const first = await watch(define({ model }).stream("x", { journal, runId: "r" }));
    const never = scripted([
      () => {
        throw new Error("asked again");
      },
    ]);
    const records = roundTrip(journal.records);
    const again = await watch(
      define({ model: never }).stream("x", { journal: memoryJournal(records), runId: "r" }),
    );
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
    expect(again.result.usage).toEqual(first.result.usage);
    const fewer = define({ model: never, skills: [writer, shout] });
    await expect(fewer.run("x", { journal: memoryJournal(records), runId: "r" })).rejects.toMatchObject({
      code: "journal-mismatch",
    });
  });
});
