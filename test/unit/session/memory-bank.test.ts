import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../../src/message/usage.ts";
import { memoryBank } from "../../../src/session/memory-bank.ts";
import { inMemorySlots } from "../../../src/session/memory-store.ts";
import { keepAll, linesOf, slidingLines, summarised, tokenBudget } from "../../../src/session/retention.ts";

const text = fc
  .array(fc.constantFrom("a", "bb", "\n", "\r\n", "word ", "é", "🙂"), { maxLength: 60 })
  .map((parts) => parts.join(""));
const count = fc.integer({ min: 1, max: 12 });

describe("a memory bank", () => {
  it("gives the whole text or an empty one, and overwrites", async () => {
    const bank = memoryBank();
    expect(await bank.read("a")).toBe("");
    await bank.write("a", "one\n\ntwo\n");
    expect(await bank.read("a")).toBe("one\n\ntwo\n");
    await bank.write("a", "three");
    expect(await bank.read("a")).toBe("three");
    expect(await bank.slots()).toEqual(["a"]);
  });

  it("finds lines in any case, and none with an empty text", async () => {
    const bank = memoryBank();
    await bank.write("a", "The Sky is blue\ngrass is green\nSKY and sea\n");
    expect(await bank.search("a", "sky")).toBe("The Sky is blue\nSKY and sea");
    expect(await bank.search("a", "SkY")).toBe("The Sky is blue\nSKY and sea");
    expect(await bank.search("a", "[a-z]")).toBe("");
    expect(await bank.search("a", "earth")).toBe("");
    expect(await bank.search("nobody", "sky")).toBe("");
  });

  it("keeps what was there when the retention fails", async () => {
    let broken = false;
    const retention = (lines: readonly string[]): readonly string[] => {
      if (broken) throw new Error("no model");
      return lines;
    };
    const bank = memoryBank({ retention });
    await bank.write("a", "old");
    broken = true;
    await expect(bank.write("a", "new")).rejects.toThrow("no model");
    expect(await bank.read("a")).toBe("old");
    broken = false;
    await bank.write("a", "newer");
    expect(await bank.read("a")).toBe("newer");
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "it must be the lines that stay, a list of texts, got nothing"],
    ["one text", "old", "it must be the lines that stay, a list of texts, got a string"],
    ["what is no text", ["old", 7], "`[1]` must be a string, got a number"],
  ])(
    "says what is wrong with a retention that gives %s, and keeps what was there",
    async (_what, given, said) => {
      const bank = memoryBank({ retention: () => given as readonly string[] });
      await expect(bank.write("a", "new")).rejects.toMatchObject({
        code: "definition-invalid",
        message: `What \`retention\` of a memory bank gave: ${said}.`,
      });
      expect(await bank.slots()).toEqual([]);
    },
  );

  it("writes in the order of the calls, whole, however long the retention of one takes", async () => {
    const gates: (() => void)[] = [];
    const retention = async (lines: readonly string[]): Promise<readonly string[]> => {
      if (lines[0] === "slow") await new Promise<void>((resolve) => gates.push(resolve));
      return lines;
    };
    const bank = memoryBank({ retention });
    const slow = bank.write("a", "slow\nfirst");
    const fast = bank.write("a", "fast\nsecond");
    await bank.write("b", "other slots do not wait");
    expect(await bank.read("a")).toBe("");
    gates[0]?.();
    await Promise.all([slow, fast]);
    expect(await bank.read("a")).toBe("fast\nsecond");
  });

  it("says what it kept, and holds its limit whoever writes", async () => {
    const store = inMemorySlots();
    const bank = memoryBank({ store, maxLines: 2 });
    expect(await bank.write("a", "1\n2\n")).toBe("1\n2\n");
    expect(await bank.write("a", "1\n2\n3\n")).toBe("2\n3\n");
    expect(await store.read("a")).toBe("2\n3\n");
  });

  it("never has more lines than its limit, and those are the last ones", async () => {
    await fc.assert(
      fc.asyncProperty(text, count, fc.option(count), async (written, maxLines, sliding) => {
        const retention = sliding === null ? keepAll() : slidingLines(sliding);
        const bank = memoryBank({ maxLines, retention });
        await bank.write("a", written);
        const kept = linesOf(await bank.read("a"));
        const all = linesOf(written);
        expect(kept.length).toBe(Math.min(maxLines, sliding ?? Infinity, all.length));
        expect(kept).toEqual(all.slice(all.length - kept.length));
        expect(written.endsWith(await bank.read("a"))).toBe(true);
      }),
    );
  });

  it("keeps as many of the last lines as a budget of tokens has room for, and at least one", async () => {
    await fc.assert(
      fc.asyncProperty(text, count, async (written, tokens) => {
        const all = linesOf(written);
        const kept = await tokenBudget(tokens)(all);
        expect(kept).toEqual(all.slice(all.length - kept.length));
        if (all.length > 0) expect(kept.length).toBeGreaterThan(0);
        const cost = (lines: readonly string[]): number => estimateTokens(lines.join("\n").length);
        if (kept.length > 1) expect(cost(kept)).toBeLessThanOrEqual(tokens);
        if (kept.length < all.length) expect(cost(all.slice(-kept.length - 1))).toBeGreaterThan(tokens);
      }),
    );
  });

  it("puts a digest in the place of the older lines, each of which is digested once", async () => {
    await fc.assert(
      fc.asyncProperty(
        text,
        count,
        fc.constantFrom("", "digest", "two\nlines"),
        async (written, keepRecent, digest) => {
          const asked: (readonly string[])[] = [];
          const retention = summarised({ keepRecent, digest: (lines) => (asked.push(lines), digest) });
          const all = linesOf(written);
          const kept = await retention(all);
          if (all.length <= keepRecent) {
            expect([kept, asked]).toEqual([all, []]);
          } else {
            expect(asked).toEqual([all.slice(0, -keepRecent)]);
            expect(kept).toEqual([...linesOf(digest), ...all.slice(-keepRecent)]);
          }
        },
      ),
    );
  });

  it("waits for a digest that an agent makes, and refuses one that is no text", async () => {
    const digest = (lines: readonly string[]): Promise<string> => Promise.resolve(`${lines.length} older`);
    const bank = memoryBank({ retention: summarised({ keepRecent: 1, digest }) });
    expect(await bank.write("a", "1\n2\n3")).toBe("2 older\n3");
    const wrong = memoryBank({
      retention: summarised({ keepRecent: 1, digest: () => 7 as unknown as string }),
    });
    await expect(wrong.write("a", "1\n2")).rejects.toMatchObject({ code: "summary-failed" });
    expect(await wrong.read("a")).toBe("");
  });

  it("refuses limits that are no whole numbers", () => {
    const invalid = expect.objectContaining({ code: "definition-invalid" });
    for (const wrong of [0, -1, 1.5, Number.NaN, "3" as unknown as number]) {
      expect(() => memoryBank({ maxLines: wrong })).toThrow(invalid);
      expect(() => slidingLines(wrong)).toThrow(invalid);
      expect(() => tokenBudget(wrong)).toThrow(invalid);
      expect(() => summarised({ keepRecent: wrong, digest: () => "" })).toThrow(invalid);
    }
  });
});
