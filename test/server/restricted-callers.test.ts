import { describe, expect, it } from "vitest";
import { hashToken } from "../../src/server.ts";
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
