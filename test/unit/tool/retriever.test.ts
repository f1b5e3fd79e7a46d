import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";
import { byWords, type Passage, retriever, type RetrieverDefinition } from "../../../src/tool/retriever.ts";
import type { ToolContext } from "../../../src/tool/tool.ts";

const context = { signal: new AbortController().signal } as ToolContext;
const pages: readonly Passage[] = [
  { text: "Tea at four.", source: "rules.md", score: 0.9 },
  { text: "No tea at five." },
  { text: "Tea is green." },
];

function searching(
  retrieve: RetrieverDefinition["retrieve"],
  { limit }: { readonly limit?: number } = {},
): ReturnType<typeof retriever> {
  return retriever({
    name: "search",
    description: "Searches",
    retrieve,
    ...(limit === undefined ? {} : { limit }),
  });
}

describe("retriever", () => {
  it("is a tool that gives the model passages as JSON [K10]", async () => {
    const asked: unknown[] = [];
    const search = searching((query, { limit, signal }) => {
      asked.push([query, limit, signal instanceof AbortSignal]);
      return pages.slice(0, 1);
    });
    expect(search.effect).toBe("read");
    const model = scripted([
      { calls: [{ name: "search", arguments: { query: "tea", limit: 2 } }] },
      "At four.",
    ]);
    const result = await agent({ name: "a", model, tools: [search] }).run("when?");
    expect(asked).toEqual([["tea", 2, true]]);
    expect(result.text).toBe("At four.");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      status: "ok",
      value: [{ text: "Tea at four.", source: "rules.md", score: 0.9 }],
    });
  });

  it("never gives more than the limit, whatever the search gives [K10]", async () => {
    const search = searching(() => pages, { limit: 2 });
    expect(await search.execute({ query: "tea" }, context)).toHaveLength(2);
    expect(await search.execute({ query: "tea", limit: 1 }, context)).toHaveLength(1);
    expect(await search.input.parse({ query: "tea", limit: 3 })).toMatchObject({ ok: false });
    expect(await search.input.parse({ query: "" })).toMatchObject({ ok: false });
    expect(await search.input.parse({ query: "tea", limit: 2 })).toMatchObject({ ok: true });
  });

  it("shows the model nothing but text, source and score", async () => {
    const search = searching(async () => [Object.assign({ text: "a" }, { secret: "key", vector: [1] })]);
    expect(await search.execute({ query: "a" }, context)).toEqual([{ text: "a" }]);
  });

  it("gives an empty list when nothing is found", async () => {
    expect(await searching(() => []).execute({ query: "a" }, context)).toEqual([]);
  });

  it.each([
    [undefined, "it gave no list of passages"],
    [[{ text: "a" }, { text: 5 }], "passage 2 has a wrong `text`"],
    [[null], "passage 1 has a wrong `text`"],
    [[{ text: "a", source: 1 }], "passage 1 has a wrong `source`"],
    [[{ text: "a", score: NaN }], "passage 1 has a wrong `score`"],
  ])("says what is wrong with what a search gave: %j", async (found, reason) => {
    const search = searching(() => found as never);
    await expect(search.execute({ query: "a" }, context)).rejects.toMatchObject({
      code: "retriever-invalid",
      data: { name: "search", reason },
    });
  });

  it.each([0, 1.5, NaN])("refuses the limit %s", (limit) => {
    expect(() => searching(() => [], { limit })).toThrow("`limit` must be a whole number of at least 1");
  });

  it("refuses what is no search", () => {
    expect(() => searching("index" as never)).toThrow('Retriever "search": `retrieve` must be a function');
  });
});

describe("a search by words [C35]", () => {
  it("gives passages best first, with their score, and no more than asked for", async () => {
    const pages = [
      { text: "Dogs wait outside of the house.", source: "animals.md" },
      { text: "Tea is served at four.", source: "house-rules.md" },
      { text: "Teas of the week: green tea, black tea.", source: "menu.md" },
    ];
    const signal = new AbortController().signal;
    const search = byWords(pages);
    const found = await search("when is tea served?", { limit: 5, signal });
    expect(found.map(({ source }) => source)).toEqual(["house-rules.md", "menu.md"]);
    expect(found[0]).toMatchObject({ text: "Tea is served at four.", score: expect.any(Number) });
    expect(await search("house", { limit: 1, signal })).toHaveLength(1);
    expect(await search("coffee", { limit: 5, signal })).toEqual([]);
  });
});
