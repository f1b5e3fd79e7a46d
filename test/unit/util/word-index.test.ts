import { describe, expect, it } from "vitest";
import { wordIndex } from "../../../src/util/word-index.ts";
import { cpuMs } from "../../cpu-time.ts";

const texts = [
  "Search the files of a folder",
  "send_mail: Sends an e-mail to a customer",
  "list mails of an inbox",
  "getWeatherForecast",
  "the weather today, the weather tomorrow",
  "Größe ändern",
  "queries a database",
  "a key to the cars",
];
const search = wordIndex(texts.map((text) => [{ text, weight: 1 }]));
const found = (query: string): readonly string[] => search(query).map(({ index }) => texts[index] ?? "");

describe("an index of words that are written without spaces", () => {
  const sentences = [
    "明天下午三点在东京开会",
    "お茶は四時に出ます。2024年の予定",
    "พรุ่งนี้ประชุมที่กรุงเทพ",
    "Tea at four",
  ];
  const inSentences = wordIndex(sentences.map((text) => [{ text, weight: 1 }]));
  it.each([
    ["东京", [0]],
    ["开会 明天", [0]],
    ["四時", [1]],
    ["茶", [1]],
    ["2024", [1]],
    ["กรุงเทพ", [2]],
    ["北京", []],
    ["tea", [3]],
  ])("finds %j anywhere in a sentence", (query, indices) => {
    expect(inSentences(query).map(({ index }) => index)).toEqual(indices);
  });
});

describe("an index of words [C35]", () => {
  it.each([
    ["searching file", ["Search the files of a folder"]],
    ["mail", [texts[1], texts[2]]],
    ["send mails", [texts[1], texts[2]]],
    ["forecast", ["getWeatherForecast"]],
    ["WEATHER", [texts[4], texts[3]]],
    ["weath", [texts[4], texts[3]]],
    ["ANDERN", ["Größe ändern"]],
    ["query", ["queries a database"]],
    ["keys", ["a key to the cars"]],
    ["car", ["a key to the cars"]],
    ["the of an", []],
    ["rain", []],
    ["", []],
    ["...", []],
  ])("finds %j", (query, wanted) => {
    expect(new Set(found(query))).toEqual(new Set(wanted));
  });

  it("gives the best first, and rare words more weight", () => {
    const lines = Array.from({ length: 50 }, (_, at) => `order number ${at}`);
    const index = wordIndex([...lines, "order tea"].map((text) => [{ text, weight: 1 }]));
    expect(index("order tea")[0]?.index).toBe(50);
    expect(index("number 7").map(({ index }) => index)[0]).toBe(7);
    const scores = index("order number").map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((one, other) => other - one));
    const weighed = wordIndex([[{ text: "tea", weight: 1 }], [{ text: "tea", weight: 3 }]]);
    expect(weighed("tea").map(({ index }) => index)).toEqual([1, 0]);
  });

  it("finds nothing by a word of a query that all entries have", () => {
    const lines = Array.from({ length: 9 }, (_, at) => `order number ${at}`);
    const index = wordIndex([...lines, "order tea"].map((text) => [{ text, weight: 1 }]));
    expect(index("order tea").map((hit) => hit.index)).toEqual([9]);
  });

  it("takes no long time for long queries", () => {
    const long = `${"s".repeat(100_000)} ${"ing ".repeat(50_000)}`;
    expect(cpuMs(1_000, () => search(long))).toBeLessThan(1_000);
  });
});
