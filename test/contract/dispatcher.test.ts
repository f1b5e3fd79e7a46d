import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DbosTables } from "../../src/adapters/dbos/dbos-tables.ts";
import { executorGuard } from "../../src/adapters/dbos/executor-guard.ts";
import { dbosDispatcher } from "../../src/dbos.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { killRun } from "../../tools/kill/kill-runs.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { dispatcherContract } from "./dispatcher.ts";
import { dbosDispatched } from "./dispatcher-dbos.ts";
import { postgresDispatched } from "./dispatcher-postgres.ts";
import { sqliteDispatched } from "./dispatcher-sqlite.ts";

/** The part of what workflows are listed by that a test looks at. */
interface Listed {
  readonly executorId?: string;
  readonly limit?: number;
  readonly offset?: number;
}

dispatcherContract("the workers of a SQLite file", sqliteDispatched);

it("DBOS refuses the bound of an agent that is misspelt", () => {
  const payer = agent({ name: "payer", model: () => "paid" });
  const queues = { paier: { atOnce: 2 } };
  const dispatcher = dbosDispatcher("postgresql://nobody@localhost/none", { queues });
  const runs = durableRuns({ store: memoryRuns(), dispatcher, agents: [payer] });
  expect(() => runs.work()).toThrow(/it bounds "paier".* Did you mean "payer"\?/);
});

describe.skipIf(postgresMissing() !== undefined)("dispatchers in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  dispatcherContract(
    "the workers of a PostgreSQL",
    postgresDispatched(() => server),
  );
  dispatcherContract(
    "DBOS",
    dbosDispatched(() => server),
  );

  it("DBOS hands a run on whose workers are killed, and nothing is lost or done twice", async () => {
    const under = dbosDispatched(() => server);
    const { complaints, kills } = await killRun(["out:2", "in:2"], { waits: true, store: under });
    expect([complaints, kills]).toEqual([[], 2]);
  }, 240_000); // many processes, one after the other

  it("DBOS serves where its launch failed halfway, once that is over", async () => {
    const { openDispatched, place } = dbosDispatched(() => server);
    const { address } = await place();
    const { store, dispatcher } = openDispatched(address);
    await using _connections = dispatcher;
    const quick = agent({ name: "a", model: () => "done" });
    const runs = durableRuns({ store, dispatcher, agents: [quick] });
    await runs.work().drain(); // makes the tables
    const admin = new pg.Client(server.url);
    await admin.connect();
    const versions = `${address.split("#")[1]}_dbos.application_versions`; // DBOS writes there when all else is launched
    const warned = once(process, "warning");
    await admin.query(`ALTER TABLE ${versions} RENAME TO hidden`);
    await using _worker = runs.work();
    expect(String((await warned)[0])).toMatch(/handed no runs by its dispatcher now, .*application_versions/);
    await admin.query(
      `ALTER TABLE ${versions.replace("application_versions", "hidden")} RENAME TO application_versions`,
    );
    await admin.end();
    await runs.start(quick, "Go", { id: "r" });
    expect((await runs.result("r")).outcome.type).toBe("answered");
  });

  it("DBOS keeps the bound of an agent over all workers, and serves one worker of a process", async () => {
    const { openDispatched, place } = dbosDispatched(() => server, {
      a: { atOnce: 2 },
      ofOtherWorkers: { atOnce: 1 },
    });
    const { store, dispatcher } = openDispatched((await place()).address);
    await using _connections = dispatcher;
    let [most, now] = [0, 0];
    const two = Promise.withResolvers<void>();
    const busy = agent({
      name: "a",
      async model() {
        most = Math.max(most, (now += 1));
        if (now === 2) two.resolve();
        await two.promise; // however slow the machine is
        await sleep(100); // a third would come now
        now -= 1;
        return "done";
      },
    });
    const runs = durableRuns({ store, dispatcher, agents: [busy] });
    const worker = runs.work({ concurrency: 10 });
    expect(() => runs.work()).toThrow(/DBOS runs once in a process/);
    await expect(dispatcher?.[Symbol.asyncDispose]()).rejects.toThrow(
      /close\(\) of dbosDispatcher\(\).* Drain it first/,
    );
    for (let id = 0; id < 6; id += 1) await runs.start(busy, "Go", { id: String(id) });
    for (let id = 0; id < 6; id += 1) expect((await runs.result(String(id))).outcome.type).toBe("answered");
    expect(most).toBe(2);
    await worker.drain();
    await runs.work().drain(); // and another one after it
    await store.close();
  });

  it("DBOS queues a run once that waits for its turn, so that no other one waits for it twice", async () => {
    const { openDispatched, place } = dbosDispatched(() => server, { a: { atOnce: 1 } });
    const { address } = await place();
    const { store, dispatcher } = openDispatched(address);
    await using _connections = dispatcher;
    const first = Promise.withResolvers<void>();
    const slow = agent({ name: "a", model: () => first.promise.then(() => "done") });
    const runs = durableRuns({ store, dispatcher, agents: [slow] });
    await runs.work().drain(); // makes the tables
    await using _worker = runs.work();
    for (let id = 0; id < 5; id += 1) await runs.start(slow, "Go", { id: String(id) });
    await sleep(6500); // it looks for forgotten runs every five seconds
    const admin = new pg.Client(server.url);
    await admin.connect();
    const { rows } = await admin.query(`SELECT FROM ${address.split("#")[1]}_dbos.workflow_status`);
    await admin.end();
    first.resolve();
    expect((await runs.result("4")).outcome.type).toBe("answered");
    expect(rows).toHaveLength(5);
  }, 30_000);

  it("DBOS finds what a dead worker had in hand behind a thousand runs of those that live", async () => {
    const alive = Array.from({ length: 1000 }, (_, index) => ({
      workflowID: `a${index}`,
      executorId: "lives",
    }));
    const pending = [...alive, { workflowID: "left", executorId: "dead" }].map((each) => ({
      ...each,
      queueName: "writ/a",
    }));
    const resumed: unknown[] = [];
    const client = {
      listWorkflows: async ({ executorId, limit = 0, offset = 0 }: Listed) =>
        pending
          .filter((each) => (executorId ?? each.executorId) === each.executorId)
          .slice(offset, offset + limit),
      resumeWorkflows: async (ids: unknown) => void resumed.push(ids),
    };
    const guard = executorGuard({ url: server.url, schema: "writ_dbos", queues: {} }, "lives");
    await guard.stand();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the part of it that is asked
    await guard.takeOver({ client } as unknown as DbosTables, ["writ/a"]);
    await guard.close();
    expect(resumed).toEqual([["left"]]);
  });

  it("DBOS goes on with the worker after one that is drained again", async () => {
    const { openDispatched, place } = dbosDispatched(() => server);
    const { store, dispatcher } = openDispatched((await place()).address);
    await using _connections = dispatcher;
    const quick = agent({ name: "a", model: () => "done" });
    const runs = durableRuns({ store, dispatcher, agents: [quick] });
    const first = runs.work();
    await Promise.all([first.drain(), first.drain()]);
    const worker = runs.work();
    await first.drain(); // as `await using` does at its end
    expect(() => runs.work()).toThrow(/DBOS runs once in a process/);
    await runs.start(quick, "Go", { id: "r" });
    expect((await runs.result("r")).outcome.type).toBe("answered");
    await worker.drain();
    await store.close();
  });
});
