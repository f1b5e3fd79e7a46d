import { describe, expect, it } from "vitest";
import { type DurableRuns, durableRuns, memoryRuns } from "../../../src/durable.ts";
import { z } from "zod";
import { checkEdit } from "../../../src/durable/answer-record.ts";
import { agent, inMemorySessions } from "../../../src/index.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";

const clerk = agent({ name: "clerk", model: () => "Done." });

async function withRuns(): Promise<DurableRuns> {
  const runs = durableRuns({ store: memoryRuns(), agents: [clerk] });
  await runs.start(clerk, "Go", { id: "a" });
  await runs.start(clerk, "Go", { id: "b", session: "kim" });
  return runs;
}

describe("durable runs that are given what they do not take", () => {
  it.each([
    {},
    { session: undefined },
    { id: undefined },
    { agent: "clerk" },
    { id: "a", session: "kim" },
    "a",
  ])("forget nothing: %j", async (which) => {
    const runs = await withRuns();
    await expect(runs.erase(which as never)).rejects.toThrow(/^erase\(\) of durable runs: it /);
    expect(await runs.list()).toHaveLength(2);
  });

  it("show how sessions are given, to an author who gives their store", () => {
    const sessions = inMemorySessions() as never;
    const made = (): DurableRuns => durableRuns({ store: memoryRuns(), agents: [clerk], sessions });
    expect(made).toThrow(/`sessions` must be a function of an id, like `\(id\) => session\(store, id\)`/);
  });

  it("begin no run with an input of which JSON shows nothing", async () => {
    const runs = await withRuns();
    const input: unknown = { tags: new Set(["tea"]) };
    await expect(runs.start(clerk, input as string)).rejects.toMatchObject({ code: "input-invalid" });
    expect(await runs.list()).toHaveLength(2);
  });

  it("forget the session that is named beside an id that is undefined", async () => {
    const runs = await withRuns();
    expect(await runs.erase({ id: undefined, session: "kim" })).toBe(1);
    expect(await runs.erase({ id: "a", session: undefined })).toBe(1);
  });

  it.each<[what: string, begin: (runs: DurableRuns) => unknown, told: RegExp]>([
    ["list", (runs) => runs.list({ status: "done" as never }), /`status` must be one of ready, running/],
    ["list", (runs) => runs.list({ where: "waiting" } as never), /unknown field "where"; known are status/],
    ["list", (runs) => runs.list("waiting" as never), /must be an object, got a string/],
    ["list", (runs) => runs.list(null as never), /must be an object, got null/],
    ["list", (runs) => runs.list({ limit: 1.5 }), /`limit` must be a whole number/],
    ["result", (runs) => runs.result("a", { timeoutMs: 5 } as never), /unknown field "timeoutMs"/],
    ["result", (runs) => runs.result("a", null as never), /must be an object, got null/],
    ["result", (runs) => runs.result("a", { signal: 5 } as never), /`signal` must be an AbortSignal/],
    ["waiting", (runs) => runs.waiting({ id: "a" } as never), /unknown field "id"; known are agents/],
    ["events", (runs) => runs.events("a", null as never).next(), /must be an object, got null/],
    ["events", (runs) => runs.events("a", { from: 3 } as never).next(), /unknown field "from"/],
    ["events", (runs) => runs.events("a", { after: "3" as never }).next(), /`after` must be .*, got "3"/],
    ["events", (runs) => runs.events("a", { after: null as never }).next(), /`after` must be .*, got null/],
    ["cancel", (runs) => runs.cancel("a", { why: "late" } as never), /must be a string, got an object/],
    ["start", (runs) => runs.start(clerk, "Go", null as never), /must be an object, got null/],
    ["fork", (runs) => runs.fork("a", undefined as never), /must be an object, got nothing/],
    [
      "erase",
      (runs) => runs.erase({ id: "a", agent: "clerk" } as never),
      /it is a run: give `\{ id: run.id \}`/,
    ],
    ["import", (runs) => runs.import({} as never), /must be a string, got an object/],
    ["answer", (runs) => runs.answer("a", "q", undefined as never), /must be an object, got nothing/],
    ["answer", (runs) => runs.answer("a", "q", true as never), /must be an object, got a boolean/],
    ["show", (runs) => runs.show(undefined as never), /`id` must be a string, got nothing/],
    ["result", (runs) => runs.result(5 as never), /`id` must be a string, got a number/],
    ["cancel", (runs) => runs.cancel(null as never), /`id` must be a string, got null/],
    ["retry", (runs) => runs.retry({ id: "a" } as never), /`id` must be a string, got an object/],
    ["events", (runs) => runs.events(undefined as never).next(), /`id` must be a string/],
    ["replay", (runs) => runs.replay(undefined as never), /`id` must be a string/],
    ["fork", (runs) => runs.fork(5 as never, { beforeTurn: 1 }), /`id` must be a string/],
    ["export", (runs) => runs.export(undefined as never), /`id` must be a string/],
    ["signal", (runs) => runs.signal(5 as never, { name: "go" }), /`id` must be a string/],
    ["signal", (runs) => runs.signal("a", "go" as never), /it must be an object, got a string/],
    ["signal", (runs) => runs.signal("a", ["go"] as never), /it must be an object, got a list/],
    ["signal", (runs) => runs.signal("a", null as never), /it must be an object, got null/],
    ["settle", (runs) => runs.settle(5 as never, "c", { happened: true }), /`id` must be a string/],
    ["answer", (runs) => runs.answer(5 as never, "q", { approved: true, hash: "h" }), /`id` must be/],
    [
      "answer",
      (runs) => runs.answer("a", "q", { approved: true, hash: "h", by: "" }),
      /`by` must be .* empty/,
    ],
    [
      "answer",
      (runs) => runs.answer("a", "q", { approved: true } as never),
      /`hash` must be .*, got nothing/,
    ],
    [
      "answer",
      (runs) => runs.answer("a", "q", { approved: true, hash: "h", arguments: '{"euro":5}' as never }),
      /`arguments` must be an object, got a string/,
    ],
    [
      "answer",
      (runs) =>
        runs.answer("a", "q", {
          approved: true,
          hash: "h",
          arguments: { to: Promise.resolve("Ada") } as never,
        }),
      /`arguments` must be JSON, without a promise, a Map or a Set/,
    ],
    [
      "answer",
      (runs) => runs.answer("a", "q", { approved: true, hash: "h", free: "text" as never }),
      /`free` must be a list of names, got a string/,
    ],
    ["start", (runs) => runs.start(clerk, "Go", { id: "" }), /`id` must be .* not empty, got an empty text/],
    [
      "answer",
      (runs) => runs.answer("a", "q", { approve: true, hash: "h" } as never),
      /unknown field "approve"/,
    ],
    [
      "answer",
      (runs) => runs.answer("a", "q", { approved: "yes", hash: "h" } as never),
      /`approved` must be true/,
    ],
  ])("say so: %s", async (what, begin, told) => {
    const runs = await withRuns();
    const said = await Promise.try(begin, runs).then(String, (error: unknown) => error);
    expect(said).toMatchObject({ code: "definition-invalid", message: expect.stringMatching(told) });
    expect(said).toMatchObject({ message: expect.stringContaining(`${what}() of durable runs: `) });
    expect(said).not.toMatchObject({ hint: expect.stringContaining("definition") }); // nothing was defined, and a run may be under way
  });

  it("say of a run in place of its id what to give", async () => {
    const runs = await withRuns();
    const run = await runs.start(clerk, "Go");
    const given = run as never;
    for (const begin of [
      () => runs.result(given),
      () => runs.answer(given, "q", { approved: true, hash: "h" }),
      () => runs.events(given).next(),
      () => runs.waiting(given),
      () => runs.list({ before: given }),
    ])
      await expect(Promise.try<unknown, []>(begin)).rejects.toThrow(
        "must be a string, got a run: give `run.id`",
      );
  });

  it.each([Number.NaN, -1, "5000"])("drain no worker within %j ms", async (graceMs) => {
    const worker = durableRuns({ store: memoryRuns(), agents: [clerk] }).work();
    await expect(worker.drain({ graceMs: graceMs as number })).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining("`graceMs` must be a number from 0 on"),
    });
    await worker.drain({ graceMs: Infinity });
  });
});

describe("arguments of a person", () => {
  const hash = "h";
  const store = (inputSchema: object) => ({
    questions: async () => [
      { runId: "a", key: "q", since: 0, request: { tool: "code", hash, inputSchema } } as never,
    ],
  });
  const answered = (inputSchema: object, edit: object): Promise<void> =>
    checkEdit({ id: "a", key: "q" }, { approved: true, hash, arguments: edit as never }, store(inputSchema));

  it.each([
    [z.string().regex(/^ab$/i), "Ab"], // JSON Schema has no flags
    [z.string().trim().max(3), " abc "], // and nothing that is done to a text before it is judged
  ])("are held against the schema of the question, but for what it says of texts: %#", async (code, text) => {
    const { jsonSchema } = toSchema(z.object({ code }), { name: "code", role: "input" });
    await expect(answered(jsonSchema, { code: text })).resolves.toBeUndefined();
    await expect(answered(jsonSchema, { code: [] })).rejects.toMatchObject({ code: "edit-invalid" });
  });

  it.each([
    [
      {
        oneOf: [
          { type: "string", maxLength: 3 },
          { type: "string", minLength: 4 },
        ],
      },
      "ab",
    ],
    [{ type: "string", not: { pattern: "^admin" } }, "Ada"],
    [{ const: { pattern: "x" } }, { pattern: "x" }],
  ])(
    "are kept where the schema has them, also by a form of texts that it forbids: %#",
    async (code, given) => {
      const schema = { type: "object", properties: { code } };
      await expect(answered(schema, { code: given })).resolves.toBeUndefined();
    },
  );

  it("are kept where nobody can read the schema, as that of a server may be", async () => {
    await expect(answered({ type: "object", $ref: "#/nowhere" }, { code: "x" })).resolves.toBeUndefined();
  });
});
