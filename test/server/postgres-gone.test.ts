import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, tool } from "../../src/index.ts";
import { postgresRuns } from "../../src/postgres.ts";
import { serve } from "../../src/server.ts";
import { problemResponse } from "../../src/server/problems.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { ask, events, principals, told, until, wordByWord } from "./scene.ts";

const seconds = (count: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, count * 1_000));

describe.skipIf(postgresMissing() !== undefined)("a server whose database is gone for ten seconds", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.close());

  function serving(schema: string) {
    const paid: unknown[] = [];
    const gate = Promise.withResolvers<void>();
    const pay = tool({
      name: "pay",
      description: "Pays",
      inputSchema: { type: "object" },
      effect: "irreversible",
      async execute(args) {
        paid.push(args);
        await gate.promise;
        return "paid";
      },
    });
    const payer = agent({
      name: "payer",
      model: ({ messages }) =>
        messages.some(({ role }) => role === "tool") ? "Paid." : { calls: [{ name: "pay", arguments: {} }] },
      tools: [pay],
      policy: () => ({ verdict: "allow", rule: "all", reason: "a test" }),
    });
    const words = Promise.withResolvers<void>();
    const talker = agent({ name: "talker", model: wordByWord(["Hello ", "there"], words.promise) });
    const store = postgresRuns(postgres.url, { schema, connections: 4 });
    const server = serve({ store, principals, agents: [payer, talker] });
    onTestFinished(async () => {
      gate.resolve();
      words.resolve();
      await server.drain({ graceMs: 0 });
      await store[Symbol.asyncDispose]();
    });
    return { server, paid, letPay: gate.resolve, letSpeak: words.resolve };
  }

  it("answers what is asked meanwhile once it is back, loses no run and pays once", async () => {
    const { server, paid, letPay } = serving("pays");
    const begin = (id: string) => ask(server, "POST /runs", { body: { agent: "payer", id, input: "Pay" } });
    expect((await begin("a")).status).toBe(201);
    await until(async () => paid.length === 1);
    postgres.stop("immediate");
    letPay(); // it is paid, and that cannot be written
    const asked = Promise.all([begin("b"), ask(server, "GET /runs/a"), ask(server, "GET /runs")]);
    await seconds(10);
    postgres.start();
    expect((await asked).map(({ status }) => status)).toEqual([201, 200, 200]);
    for (const id of ["a", "b"]) {
      const end = await until(async () => (await told(ask(server, `GET /runs/${id}`))).end);
      expect(JSON.stringify(end)).toContain("Paid.");
    }
    expect(paid).toHaveLength(2);
  });

  it.each(["postgres-unreachable", "postgres-failed"] as const)(
    "says 503 and no more after a minute: %s",
    async (code) => {
      const reason = "connect ECONNREFUSED 10.0.0.7:5432";
      const response = problemResponse(new WritError(code, { server: "db.internal", reason }));
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(await response.json()).toEqual({
        type: "urn:writ:database-failed",
        title: "database failed",
        status: 503,
        code: "database-failed",
      });
    },
  );

  it("goes on with its streams: a reader has each fact once, by its seq", async () => {
    const { server, letSpeak } = serving("streams");
    const body = { agent: "talker", id: "a", input: "Hi" };
    expect((await ask(server, "POST /runs", { body })).status).toBe(201);
    const seen: number[] = [];
    let isSpeaking = false;
    const read = async (): Promise<boolean> => {
      const after = seen.at(-1) ?? 0;
      const response = await ask(server, `GET /runs/a/events?after=${after}`);
      if (response.status !== 200) return false;
      for await (const event of events(response)) {
        isSpeaking ||= event.type === "text-delta";
        if (event.id !== undefined) seen.push(event.seq);
        if (event.type === "run-end") return true;
      }
      return false;
    };
    const reading = until(() => read().catch(() => false));
    await until(async () => isSpeaking);
    postgres.stop("immediate");
    letSpeak();
    await seconds(10);
    postgres.start();
    expect(await reading).toBe(true);
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index + 1));
  });
});
