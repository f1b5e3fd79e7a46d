import { describe, expect, it } from "vitest";
import { hashToken } from "../../src/server.ts";
import { ask, payer, questionsOf, runsFile, serving, talker, until } from "./scene.ts";

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
});
