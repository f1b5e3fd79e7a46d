import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent } from "../../src/index.ts";
import { account } from "../../src/policy.ts";
import {
  type PostgresAccounts,
  postgresAccounts,
  type PostgresOptions,
  postgresRuns,
  postgresSessions,
} from "../../src/postgres.ts";
import { scripted } from "../../src/testing.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { silentLine } from "./silent-line.ts";
import { endSpenders, sharedAccountContract } from "./spender.ts";

const usage = { inputTokens: 20, outputTokens: 80 };

it("refuse what nobody can mean, and let nothing be spent while nobody is there", async () => {
  const invalid = expect.objectContaining({
    code: "definition-invalid",
    message: expect.stringContaining("postgresAccounts()"),
  });
  expect(() => postgresAccounts("localhost:5432")).toThrow(invalid);
  await using store = postgresAccounts("postgresql://kim:hidden@127.0.0.1:1/agents");
  const kim = account({ store, key: "kim", limits: { tokens: 1000 } });
  let asked = 0;
  const clerk = agent({ name: "clerk", model: () => `asked ${(asked += 1)} times` });
  const failed = clerk.run("hi", { account: kim });
  await expect(failed).rejects.toMatchObject({ code: "account-failed" });
  await expect(failed).rejects.not.toThrow("hidden");
  expect(asked).toBe(0);
});

describe.skipIf(postgresMissing() !== undefined)("accounts in PostgreSQL", () => {
  let server: PostgresServer;
  let admin: pg.Client;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Client(server.url);
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    server.close();
  });
  afterEach(endSpenders);
  function open({ url = server.url, ...options }: { url?: string } & PostgresOptions = {}): PostgresAccounts {
    const store = postgresAccounts(url, { schema: `accounts ${schemas}`, ...options });
    onTestFinished(() => store.close());
    return store;
  }
  const place = (): string => `${server.url}#accounts ${(schemas += 1)}`;

  it("keep what was booked, for the next process, under the key that it was booked for", async () => {
    schemas += 1;
    const model = scripted([
      { text: "done", usage },
      { text: "done", usage },
    ]);
    const clerk = agent({ name: "clerk", model });
    for (const expected of [100, 200]) {
      const store = open();
      const kim = account({ store, key: 'kim "\uD800\0"', limits: { costUsd: 5 } });
      await clerk("hi", { account: kim });
      expect((await kim.used()).tokens).toBe(expected);
      expect((await account({ store, key: "kim", limits: {} }).used()).tokens).toBe(0);
      await store.close();
      await store.close();
    }
  });

  sharedAccountContract(place);

  it("count every change of many writers at once, in one process and in several", async () => {
    schemas += 1;
    const stores = Array.from({ length: 4 }, () => open({ connections: 3 }));
    const used = (tokens: number) => ({ tokens, costUsd: 0, toolCalls: 0, runs: 0 });
    const add = (store: PostgresAccounts): Promise<void> =>
      store.update("k", (entry) => ({ since: 0, held: [], used: used((entry?.used.tokens ?? 0) + 1) }));
    await Promise.all(stores.flatMap((store) => Array.from({ length: 50 }, () => add(store))));
    expect(await stores[0]?.read("k")).toEqual({ since: 0, held: [], used: used(200) });
  });

  it("change nothing if the change throws", async () => {
    schemas += 1;
    const store = open();
    const thrown = new Error("no");
    const change = (): never => {
      throw thrown;
    };
    await expect(store.update("k", change)).rejects.toBe(thrown);
    expect(await store.read("k")).toBeUndefined();
  });

  it("make a change once where the server's word of it was lost, even if another was made meanwhile", async () => {
    schemas += 1;
    const line = await silentLine(Number(new URL(server.url).port));
    onTestFinished(() => line.close());
    const url = new URL(server.url);
    url.port = String(line.port);
    const [store, other] = [open({ url: url.href, connections: 1 }), open()];
    const spend = (
      on: PostgresAccounts,
      tokens: number,
      asked: () => void = () => undefined,
    ): Promise<void> =>
      on.update("k", (entry) => {
        asked();
        const sum = (entry?.used.tokens ?? 0) + tokens;
        return { since: 0, held: [], used: { tokens: sum, costUsd: 0, toolCalls: 0, runs: 0 } };
      });
    await store.read("k");
    let times = 0;
    const lose = (): void => {
      if ((times += 1) === 1) line.loseReply(); // of the statement that writes it
    };
    await spend(store, 1, lose);
    expect(times).toBe(1);
    times = 0;
    const spending = spend(store, 10, lose);
    while ((await other.read("k"))?.used.tokens !== 11) await sleep(1);
    await spend(other, 100);
    await spending;
    expect((await other.read("k"))?.used.tokens).toBe(111);
    expect(times).toBe(1);
  });

  it("stand beside the runs and the sessions in one schema, and let nothing be spent from a broken entry", async () => {
    schemas += 1;
    const schema = `accounts ${schemas}`;
    await using runs = postgresRuns(server.url, { schema });
    await using sessions = postgresSessions(server.url, { schema });
    const store = open();
    const kim = account({ store, key: "kim", limits: { tokens: 1000 } });
    const clerk = agent({ name: "clerk", model: scripted([{ text: "done", usage }]) });
    await Promise.all([runs.list(), sessions.list(), clerk("hi", { account: kim })]);
    for (const entry of ["{", "null", '{"since":0}']) {
      await admin.query(`UPDATE "${schema}".accounts SET entry = $1`, [entry]);
      await expect(clerk.run("hi", { account: kim })).rejects.toMatchObject({ code: "account-failed" });
    }
    await store.close();
    await expect(clerk.run("hi", { account: kim })).rejects.toMatchObject({ code: "account-failed" });
  });
});
