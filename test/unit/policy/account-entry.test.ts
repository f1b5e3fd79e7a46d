import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AccountEntry,
  type AccountLimits,
  entryAt,
  reserveIn,
  settleIn,
  usedOf,
} from "../../../src/policy/account/account-entry.ts";

const at = (text: string): number => Date.parse(text);
const reply = { id: "r", until: 1000, inputTokens: 10, outputTokens: 40, price: () => 0 };

describe("the entry of an account", () => {
  it("begins its periods by the calendar in UTC, or after so many milliseconds", () => {
    const now = at("2024-02-29T13:45:10.500Z");
    const since = (per: "hour" | "day" | "month" | number): string =>
      new Date(entryAt(undefined, per, now).since).toISOString();
    expect(since("hour")).toBe("2024-02-29T13:00:00.000Z");
    expect(since("day")).toBe("2024-02-29T00:00:00.000Z");
    expect(since("month")).toBe("2024-02-01T00:00:00.000Z");
    expect(since(60_000)).toBe("2024-02-29T13:45:00.000Z");
  });

  it("knows the first of every month", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date("2400-01-01"), noInvalidDate: true }), (date) => {
        const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
        expect(entryAt(undefined, "month", date.getTime()).since).toBe(first);
      }),
    );
  });

  it("forgets what was used when a period is over, keeps what is still held, and goes back in no period", () => {
    const day = 86_400_000;
    const used = { tokens: 90, costUsd: 1, toolCalls: 2, runs: 3 };
    const held = [{ id: "a", tokens: 5, costUsd: 0, until: day + 500 }];
    const entry: AccountEntry = { since: 0, used, held };
    expect(entryAt(entry, "day", day - 1)).toEqual(entry);
    expect(usedOf(entryAt(entry, "day", day))).toEqual({ tokens: 5, costUsd: 0, toolCalls: 0, runs: 0 });
    expect(usedOf(entryAt(entry, "day", day + 500)).tokens).toBe(0);
    const later = entryAt(entry, "day", day);
    expect(entryAt({ ...later, used }, "day", 5).used).toEqual(used); // a clock that was put back
  });

  it("holds no reply for which there is not one token left, and frees a hold that nobody settled [Y17]", () => {
    const limits = { tokens: 60 };
    const first = reserveIn(entryAt(undefined, "day", 0), { reply }, limits);
    if (!first.ok) throw new Error("refused");
    expect(first.outputTokens).toBe(40);
    expect(reserveIn(first.entry, { reply }, limits).ok).toBe(false);
    const after = reserveIn(entryAt(first.entry, "day", 1000), { reply: { ...reply, id: "s" } }, limits);
    expect(after).toMatchObject({ ok: true, outputTokens: 40 });
  });

  it("lets nothing pass where it may have nothing, but for what costs nothing where it may have no dollars", () => {
    const empty = entryAt(undefined, "day", 0);
    const passes = (limits: AccountLimits, price = (): number | undefined => 0): boolean =>
      reserveIn(empty, { runs: 1, toolCalls: 1, reply: { ...reply, price } }, limits).ok;
    expect([{ tokens: 0 }, { runs: 0 }, { toolCalls: 0 }].map((limits) => passes(limits))).toEqual([
      false,
      false,
      false,
    ]);
    expect(passes({ costUsd: 0 })).toBe(true);
    expect(passes({ costUsd: 0 }, () => 0.000_001)).toBe(false);
    expect(passes({ costUsd: 0 }, () => undefined)).toBe(false);
  });

  it("takes back a run that it had booked, under any limit, and never below none", () => {
    const empty = entryAt(undefined, "day", 0);
    const after = (runs: number): unknown =>
      reserveIn({ ...empty, used: { ...empty.used, runs } }, { runs: -1 }, { runs: 0 });
    expect(after(3)).toMatchObject({ ok: true, entry: { used: { runs: 2 } } });
    expect(after(0)).toMatchObject({ ok: true, entry: { used: { runs: 0 } } });
  });

  it("never spends more than its bounds while usages stay within what was reserved [Y17]", () => {
    const step = fc.record({
      inputTokens: fc.nat(300),
      outputTokens: fc.integer({ min: 1, max: 300 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      settles: fc.boolean(),
      toolCalls: fc.nat(2),
      runs: fc.nat(2),
    });
    const limits = fc.record({
      tokens: fc.nat(2000),
      costUsd: fc.nat(3),
      toolCalls: fc.nat(9),
      runs: fc.nat(9),
    });
    const price = (input: number, output: number): number => (input + 3 * output) / 1000;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), limits, (steps, bounds: AccountLimits) => {
        let entry = entryAt(undefined, "day", 0);
        steps.forEach(({ inputTokens, outputTokens, part, settles, toolCalls, runs }, index) => {
          const id = String(index);
          const wish = { reply: { id, until: 9, inputTokens, outputTokens, price }, toolCalls, runs };
          const reserved = reserveIn(entry, wish, bounds);
          if (!reserved.ok) return;
          ({ entry } = reserved);
          const output = Math.floor(reserved.outputTokens * part);
          const spent = { tokens: inputTokens + output, costUsd: price(inputTokens, output) };
          if (settles) entry = settleIn(entry, id, spent);
          const used = usedOf(entry);
          for (const field of ["tokens", "costUsd", "toolCalls", "runs"] as const)
            expect(used[field]).toBeLessThanOrEqual((bounds[field] ?? Infinity) + 1e-9);
        });
      }),
    );
  });
});
