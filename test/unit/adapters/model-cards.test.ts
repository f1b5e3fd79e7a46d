import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { driverOfCard, listCards, type ModelCard, saveCard } from "../../../src/adapters/model-cards.ts";
import { resolveModel } from "../../../src/adapters/model/resolve.ts";
import { agent } from "../../../src/adapters/node.ts";
import { memoryJournal } from "../../../src/journal/memory-journal.ts";
import { modelFromFunction } from "../../../src/model/function-model.ts";
import type { Model } from "../../../src/model/model.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-cards-"));
  vi.stubEnv("WRIT_CACHE", folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const card = (changes: Partial<ModelCard> = {}): ModelCard => ({
  version: 1,
  model: "test/Qwen:7b",
  driver: "react",
  why: "right 20 of 23",
  writ: "1.0.0",
  date: "2031-01-02",
  scores: [{ driver: "react", score: 0.9 }],
  ...changes,
});

/** A model of a provider, that answers in the words of ReAct. */
function reacting(id: string): Model {
  return modelFromFunction(() => '{"thought": "Well.", "type": "final_answer", "answer": "Yes."}', {
    id,
    features: {},
  });
}

async function driverOf(model: Model): Promise<string | undefined> {
  let driver: string | undefined;
  await agent({ name: "asked", model }).run("?", {
    onEvent: (event) => {
      if (event.type === "message-end") driver = event.driver;
    },
  });
  return driver;
}

describe("the cards of models", () => {
  it("are written whole, and read again", () => {
    const path = saveCard(card());
    expect(listCards()).toEqual([{ type: "card", path, card: card() }]);
    expect(readdirSync(join(folder, "cards"))).toHaveLength(1); // and no part of one beside it
    expect(driverOfCard("test/Qwen:7b")).toBe("react");
    saveCard(card({ driver: "json" }));
    expect(driverOfCard("test/Qwen:7b")).toBe("json");
    expect(listCards()).toHaveLength(1);
  });

  it("belong to one name each, however alike the names are", () => {
    saveCard(card());
    for (const other of ["test/qwen:7b", "test/Qwen/7b", "test/Qwen-7b"])
      expect(driverOfCard(other)).toBeUndefined();
  });

  it("are told of no model when there are none", () => {
    expect(listCards()).toEqual([]);
    expect(driverOfCard("test/none")).toBeUndefined();
  });

  it.each([
    ["no JSON", "{", "it is no JSON"],
    ["another version", JSON.stringify({ ...card(), version: 2 }), "it is no card of this version of writ"],
    [
      "a driver that is gone",
      JSON.stringify({ ...card(), driver: "semaphore" }),
      'there is no driver "semaphore"',
    ],
    ["fields that are missing", JSON.stringify({ ...card(), why: 1 }), "fields of it are missing"],
    [
      "another model's",
      JSON.stringify(card({ model: "test/other" })),
      "it is not where the card of its model belongs",
    ],
    ["a huge file", "x".repeat(300_000), "it is too large for a card"],
  ])("are ignored where a file has %s", (_, text, reason) => {
    const name = basename(saveCard(card()));
    const other = join(folder, "other"); // a folder that this process has not read
    mkdirSync(join(other, "cards"), { recursive: true });
    writeFileSync(join(other, "cards", name), text);
    vi.stubEnv("WRIT_CACHE", other);
    expect(driverOfCard("test/Qwen:7b")).toBeUndefined();
    expect(listCards()).toEqual([{ type: "ignored", path: join(other, "cards", name), reason }]);
  });

  it("are read once in a process", () => {
    const path = saveCard(card());
    rmSync(path);
    expect(driverOfCard("test/Qwen:7b")).toBe("react");
  });

  it("make `auto` take their driver, for a model and for a name [P5.3]", async () => {
    const model = reacting("test/auto");
    expect(await driverOf(model)).toBe("native");
    saveCard(card({ model: "test/auto" }));
    const again = reacting("test/auto");
    expect(await driverOf(again)).toBe("react");
    expect(await driverOf(reacting("test/another"))).toBe("native");
    saveCard(card({ model: "ollama/qwen2.5:7b", driver: "hermes" }));
    expect(resolveModel("ollama/qwen2.5:7b", "test").features).toEqual({
      format: "schema",
      driver: "hermes",
    });
    expect(resolveModel("ollama/qwen2.5:14b", "test").features).toEqual({ format: "schema" });
  });

  it("say nothing of a model that names its driver, or that is a function", () => {
    saveCard(card({ model: "test/own" }));
    const own: Model = { ...reacting("test/own"), features: { driver: "lines" } };
    expect(resolveModel(own, "test").features).toEqual({ driver: "lines" });
    const bare = modelFromFunction(() => "");
    expect(resolveModel(bare, "test")).toBe(bare);
  });

  it("change nothing in a run that is replayed: what `auto` chose is in the record", async () => {
    let asked = 0;
    const model = (): Model => {
      const replies = ["", "", "", '{"thought": "Well.", "type": "final_answer", "answer": "Yes."}'];
      return modelFromFunction(() => replies[asked++] ?? "", { id: "test/replayed", features: {} });
    };
    const recorded = memoryJournal();
    const first = await agent({ name: "asked", model: model() }).run("?", { journal: recorded });
    expect(first.turns).toBe(4); // react would have given up after 3
    saveCard(card({ model: "test/replayed" }));
    const journal = memoryJournal(recorded.records);
    const replayed = await agent({ name: "asked", model: model() }).run("?", { journal });
    expect(replayed.transcript.messages).toEqual(first.transcript.messages);
    expect(replayed.text).toBe(first.text);
    expect(asked).toBe(4);
  });
});
