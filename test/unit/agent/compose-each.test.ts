import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parallel, pipe } from "../../../src/compose.ts";
import { agent, memoryJournal, skill } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";

const order = z.object({ lines: z.array(z.object({ item: z.string(), count: z.int() })) });
const lines = (count: number) => Array.from({ length: count }, (_, at) => ({ item: `tea ${at}`, count: at }));

/** Ends later the earlier its item is. */
const price = (seen: string[] = [], width = { now: 0, most: 0 }) =>
  agent({
    name: "price",
    input: order.shape.lines.element,
    skills: [
      skill({
        name: "price",
        description: "",
        input: order.shape.lines.element,
        async execute({ item, count }) {
          width.now += 1;
          width.most = Math.max(width.most, width.now);
          await new Promise((resolve) => setTimeout(resolve, 12 - 3 * count));
          width.now -= 1;
          seen.push(item);
          if (item === "stale") throw new Error("it is stale");
          return count * 3;
        },
      }),
    ],
  });
const each = ({ lines: all }: z.infer<typeof order>) => all;

describe("parallel with each", () => {
  it("runs one agent for each item, and gives the outputs in the order of the items", async () => {
    const seen: string[] = [];
    const width = { now: 0, most: 0 };
    const prices = parallel(price(seen, width), { each, concurrency: 2 });
    expect(await prices({ lines: lines(4) })).toEqual([0, 3, 6, 9]);
    expect(width.most).toBe(2);
    expect(seen).toHaveLength(4);
    expect(await prices({ lines: [] })).toEqual([]);
    expect(prices.name).toBe("each(price)");
  });

  it("stands in a pipe, knows what comes to it, and takes texts as they are", async () => {
    const split = agent({
      name: "split",
      model: () => '{"words": ["[1]", "b"]}',
      output: z.object({ words: z.array(z.string()) }),
    });
    const model = scripted(["A", "B"]);
    const loud = agent({ name: "loud", model });
    const all = pipe(split, parallel(loud, { each: ({ words }) => words, concurrency: 1 }));
    expect(await all("a b")).toEqual(["A", "B"]);
    expect(model.requests.map(({ messages }) => messages.at(-1))).toMatchObject([
      { parts: [{ text: "[1]" }] },
      { parts: [{ text: "b" }] },
    ]);
  });

  it("takes a list of texts for an agent without a schema", async () => {
    const model = scripted(["A", "B"]);
    const loud = parallel(agent({ name: "loud", model }), {
      each: (words: string[]) => words,
      concurrency: 1,
    });
    expect(await loud(["a", "b"])).toEqual(["A", "B"]);
    expect(model.requests.map(({ messages }) => messages.at(-1))).toMatchObject([
      { parts: [{ text: "a" }] },
      { parts: [{ text: "b" }] },
    ]);
  });

  it("ends with the first item that fails, and names it", async () => {
    const bad = { lines: [{ item: "stale", count: 4 }, ...lines(3)] };
    const { outcome, error } = await parallel(price(), { each }).run(bad);
    expect(outcome).toMatchObject({ type: "failed", code: "skill-failed" });
    expect(error?.code).toBe("stage-failed");
    expect(error?.message).toContain("it is stale");
    const wrong = parallel(price(), { each }).run({ lines: [{ item: "x" }] } as never);
    await expect(wrong).rejects.toThrow('does not fit "price": count');
  });

  it("replays from its journal, and runs nothing again", async () => {
    const seen: string[] = [];
    const prices = parallel(price(seen), { each });
    const journal = memoryJournal();
    const first = await prices.run({ lines: lines(3) }, { journal });
    const again = await prices.run({ lines: lines(3) }, { journal: memoryJournal(journal.records) });
    expect(again.output).toEqual(first.output);
    expect(seen).toHaveLength(3);
    await expect(
      prices.run({ lines: lines(2) }, { journal: memoryJournal(journal.records) }),
    ).rejects.toThrow();
  });

  it("refuses what is no list, several agents, and one agent without `each`", async () => {
    const { error } = await parallel(price(), { each: (() => "tea") as never }).run({ lines: [] });
    expect(error?.message).toContain("its result is not a list");
    expect(() => parallel([price()] as never, { each })).toThrow(/parallel\(\): .*each/);
    expect(() => parallel(price() as never)).toThrow(/`each` must be a function, got nothing/);
    expect(() => parallel(price(), { each, concurrency: 0 })).toThrow(/concurrency/);
  });
});
