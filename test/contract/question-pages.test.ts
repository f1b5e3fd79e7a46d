import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryRuns, type QuestionFilter, type RunStore } from "../../src/durable.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { postgresRuns } from "../../src/postgres.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";

/** Asks twelve questions of each of three runs, of two agents. */
async function asking(store: RunStore): Promise<void> {
  for (const [id, agent] of [
    ["web/1", "payer"],
    ["web/2", "talker"],
    ["shop/1", "payer"],
  ] as const) {
    await store.begin({ id, agent, input: "", options: {}, protocol: 1 });
    const journal = await store.claim([agent], id);
    for (let nth = 0; nth < 12; nth += 1)
      await journal?.ask?.({ key: `q${nth}`, request: { tool: "pay", hash: "h" } }).catch(() => undefined);
    await journal?.wait();
  }
}

/** The questions of all pages; between them, `meanwhile` happens to the last one. */
async function pages(
  store: RunStore,
  wanted: QuestionFilter,
  meanwhile: (id: string, key: string) => unknown = () => undefined,
): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let after: QuestionFilter["after"]; ;) {
    const page = await store.questions(undefined, { ...wanted, ...(after === undefined ? {} : { after }) });
    expect(page.length).toBeLessThanOrEqual(wanted.limit ?? Infinity);
    after = page.at(-1);
    if (after === undefined) return seen;
    seen.push(...page.map(({ runId, key }) => `${runId} ${key}`));
    await meanwhile(after.runId, after.key);
  }
}

const keys = (id: string) => Array.from({ length: 12 }, (_, nth) => `${id} q${nth}`);

function pagesContract(open: () => RunStore & Partial<AsyncDisposable & Disposable>): void {
  it("come in pages, oldest first, of some agents and ids", async () => {
    const store = open();
    await asking(store);
    const all = [...keys("web/1"), ...keys("web/2"), ...keys("shop/1")];
    expect(await pages(store, { limit: 5 })).toEqual(all);
    expect(await pages(store, {})).toEqual(all);
    expect(await pages(store, { limit: 5, prefix: "web/", agents: ["payer", "x"] })).toEqual(keys("web/1"));
    expect(await pages(store, { agents: [] })).toEqual([]);
    expect(await store.questions("shop/1", { limit: 2 })).toMatchObject([{ key: "q0" }, { key: "q1" }]);
    const answer = (id: string, key: string) => store.answer(id, key, { approved: true, hash: "h" });
    const seen = await pages(store, { limit: 5 }, answer);
    expect([...new Set(seen)]).toEqual(all); // those of the same millisecond may come again
    await store[Symbol.asyncDispose]?.();
    store[Symbol.dispose]?.();
  });
}

describe("open questions in memory", () => pagesContract(memoryRuns));
describe("open questions in SQLite", () => pagesContract(() => sqliteRuns(":memory:")));
describe.skipIf(postgresMissing() !== undefined)("open questions in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());
  pagesContract(() => postgresRuns(server.url));
});
