import { describe, expect, it, vi } from "vitest";
import { runsClient } from "../../src/client.ts";
import type { WaitingQuestion } from "../../src/durable.ts";
import { hashToken, serve } from "../../src/server.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { ask, payer, questionsOf, runsFile, serving, talker, told, until } from "./scene.ts";

/** The caller `web`, who may use these agents alone by now. */
const only = (...agents: readonly string[]) => [{ name: "web", tokens: [hashToken("web-token")], agents }];

describe("a caller who may not use an agent any more", () => {
  it("is asked nothing by its runs", async () => {
    const file = runsFile();
    const agents = [payer(), talker()];
    const before = serving(file, { agents });
    await ask(before, "POST /runs", { body: { agent: "payer", input: "Pay Ada", id: "p" } });
    await until(async () => (await questionsOf(before))[0]);
    const later = serving(file, { agents, principals: only("talker"), work: false });
    expect(await questionsOf(later)).toEqual([]);
    const still = serving(file, { agents, principals: only("payer"), work: false });
    expect(await questionsOf(still)).toMatchObject([{ runId: "p" }]);
  });

  it("is asked nothing by the calls of its tool, whatever name of them the application gave", async () => {
    const store = sqliteRuns(runsFile());
    const list = vi.spyOn(store, "questions");
    const given = { store, agents: [payer(), talker()], mcp: { tools: ["pay"] }, work: false } as const;
    await ask(serve({ ...given, principals: only("talker", "payer.pay") }), "GET /questions");
    await ask(serve({ ...given, principals: only("payer") }), "GET /questions");
    const asked = list.mock.calls.map(([, wanted]) => [...new Set(wanted?.agents)]);
    expect(asked).toEqual([["talker"], ["payer", "payer.pay"]]);
    store.close();
  });

  it("sees no question of another caller where the author's own store gives all of them", async () => {
    const file = runsFile();
    const agents = [payer()];
    const principals = ["web", "desk"].map((name) => ({ name, tokens: [hashToken(`${name}-token`)] }));
    const before = serving(file, { agents, principals });
    const headers = { authorization: "Bearer desk-token", "content-type": "application/json" };
    await ask(before, "POST /runs", { body: { agent: "payer", input: "Pay Ada" }, headers });
    const all = sqliteRuns(file);
    await until(async () => (await all.questions())[0]);
    const store = { ...all, questions: () => all.questions() };
    expect(await questionsOf(serve({ store, agents, principals, work: false }))).toEqual([]);
    all.close();
  });

  it.each([
    ["names the agents", (all: readonly WaitingQuestion[]) => all],
    ["does not name them", (all: readonly WaitingQuestion[]) => all.map(({ agent: _agent, ...one }) => one)],
  ])(
    "sees no question of another agent where the author's own store gives all and %s",
    async (_case, given) => {
      const file = runsFile();
      const agents = [payer(), payer([], "banker")];
      const before = serving(file, { agents });
      for (const [id, agent] of Object.entries({ a: "payer", b: "banker", c: "payer", d: "banker" }))
        await ask(before, "POST /runs", { body: { agent, input: "Pay Ada", id } });
      await until(async () => ((await questionsOf(before)).length === 4 ? true : undefined));
      const all = sqliteRuns(file);
      const store = { ...all, questions: async () => given(await all.questions()) };
      const server = serve({ store, agents, principals: only("payer"), work: false });
      const [first, second] = await questionsOf(server);
      expect(new Set([first?.runId, second?.runId])).toEqual(new Set(["a", "c"]));
      const page = async (query: string) => (await told(ask(server, `GET /questions?${query}`))).questions;
      expect(await page("limit=1")).toEqual([first]);
      const place = encodeURIComponent(JSON.stringify([first?.since, first?.runId, first?.key]));
      expect(await page(`limit=5&after=${place}`)).toEqual([second]);
      all.close();
    },
  );

  it("gets pages of questions, each by one statement", async () => {
    const file = runsFile();
    const agents = [payer(), talker()];
    const before = serving(file, { agents });
    for (const id of ["a", "b", "c"])
      await ask(before, "POST /runs", { body: { agent: "payer", input: "Pay Ada", id } });
    await until(async () => ((await questionsOf(before)).length === 3 ? true : undefined));
    const store = sqliteRuns(file);
    const [list, read] = [vi.spyOn(store, "questions"), vi.spyOn(store, "read")];
    const server = serve({ store, agents, principals: only("payer"), work: false });
    const page = async (query: string) => (await told(ask(server, `GET /questions?${query}`))).questions;
    const first = await page("limit=2");
    const after = first.at(-1);
    const place = encodeURIComponent(JSON.stringify([after?.since, after?.runId, after?.key]));
    const second = await page(`limit=2&after=${place}`);
    const asking = [...first, ...second].map(({ runId }) => runId);
    expect([first.length, asking.toSorted()]).toEqual([2, ["a", "b", "c"]]);
    expect([list.mock.calls.length, read.mock.calls.length]).toEqual([2, 0]);
    expect(await told(ask(server, "GET /questions?after=7"))).toMatchObject({ code: "request-invalid" });
    const client = runsClient({ url: "http://server.example", token: "web-token", fetch: server.fetch });
    expect(await client.waiting({ limit: 1, ...(after === undefined ? {} : { after }) })).toEqual(second);
    expect(await client.waiting()).toHaveLength(3);
    await server.drain({ graceMs: 0 });
    store.close();
  });

  it("has pages of runs that are short only where there are no more", async () => {
    const file = runsFile();
    const agents = [payer(), talker()];
    const before = serving(file, { agents, work: false });
    for (const [id, agent] of Object.entries({ a: "talker", b: "talker", c: "payer", d: "payer" }))
      await ask(before, "POST /runs", { body: { agent, input: "Hi", id } });
    const later = serving(file, { agents, principals: only("talker"), work: false });
    const page = async (query: string) => (await told(ask(later, `GET /runs?${query}`))).runs;
    expect(await page("limit=1")).toMatchObject([{ id: "b" }]);
    expect(await page("limit=1&before=b")).toMatchObject([{ id: "a" }]);
    expect(await page("limit=1&before=a")).toEqual([]);
    expect(await told(ask(later, "GET /runs?before=erased"))).toMatchObject({ code: "run-missing" });
    expect(await page("limit=3")).toMatchObject([{ id: "b" }, { id: "a" }]);
    expect(await page("agent=payer")).toEqual([]);
  });
});
