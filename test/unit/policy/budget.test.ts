import { describe, expect, it } from "vitest";
import type { WritError } from "../../../src/error/writ-error.ts";
import {
  crossed,
  emptyLedger,
  extendLimit,
  type Limits,
  limitsOf,
  reserveCall,
  reserveTurn,
  spend,
  spendInside,
  tooLong,
} from "../../../src/policy/account/budget.ts";

const limits = (budget: Partial<Limits> = {}): Limits => limitsOf(budget, "a");

describe("bounds", () => {
  it("have their defaults: 8 turns, 32 calls of tools, five minutes, three repeats, three levels, 100 questions of tools, 64 kB of a result, and no others [B-toolCalls, B-duration, B-depth, B-turns.1]", () => {
    const { turns, toolCalls, durationMs, repeats, depth, llmCalls, resultBytes, ...others } = limits();
    expect({ turns, toolCalls, durationMs, repeats, depth, llmCalls, resultBytes }).toEqual({
      turns: 8,
      toolCalls: 32,
      durationMs: 300_000,
      repeats: 3,
      depth: 3,
      llmCalls: 100,
      resultBytes: 65_536,
    });
    expect(Object.values(others).every((bound) => bound === Infinity)).toBe(true);
    expect(limitsOf({ turns: undefined, warnAt: 1, price: () => 1 }, "a")).toEqual(limits());
  });

  it("are positive numbers with a name that there is", () => {
    for (const budget of [
      { turns: 0 },
      { tokens: -1 },
      { costUsd: Number.NaN },
      { toolCalls: "3" },
      { minutes: 3 },
      { toString: 3 },
      { warnAt: 0 },
      { warnAt: 1.1 },
      { depth: null },
      { price: 3 },
      { price: null },
    ])
      expect(() => limitsOf(budget as never, "a")).toThrow(
        expect.objectContaining({ code: "budget-invalid" }),
      );
  });

  it("are told as they were given, and a price wants a function", () => {
    const said = (budget: object): string => {
      try {
        limitsOf(budget, "a");
        return "";
      } catch (error) {
        return `${(error as WritError).message} ${(error as WritError).hint}`;
      }
    };
    expect(said({ turns: "3" })).toContain('has turns = "3", which is not a bound');
    expect(said({ price: 3 })).toContain("Give a function from a usage to dollars");
  });

  it("are met in an order that does not change: turns, tokens, dollars, time [C29]", () => {
    const spent = { ...emptyLedger, turns: 2, tokens: 9, costUsd: 3 };
    const all = { turns: 2, tokens: 9, costUsd: 3, durationMs: 5 };
    const met = (bounds: Partial<Limits>): string | undefined => {
      const reservation = reserveTurn(spent, limits(bounds), 5);
      return reservation.ok ? undefined : reservation.excess.field;
    };
    expect(met(all)).toBe("turns");
    expect(met({ ...all, turns: 3 })).toBe("tokens");
    expect(met({ ...all, turns: 3, tokens: 10 })).toBe("costUsd");
    expect(met({ durationMs: 5 })).toBe("durationMs");
    expect(met({ turns: 3, tokens: 10, costUsd: 3.1, durationMs: 6 })).toBeUndefined();
    expect(tooLong({ durationMs: 5 }, 7).excess).toEqual({
      field: "durationMs",
      limit: 5,
      used: 7,
      message: "exceeded duration budget of 5 ms",
    });
  });

  it("of calls count what is reserved, the same tool in a row, and the bytes of one call [B-toolCalls, B-sameTool, B-argumentBytes]", () => {
    const call = (tool: string, argumentBytes = 0): Parameters<typeof reserveCall>[2] => ({
      tool,
      argumentBytes,
    });
    const bounds = limits({ toolCalls: 3, sameToolInARow: 2, argumentBytes: 10 });
    const reserve = (names: readonly string[]): string => {
      let ledger = emptyLedger;
      for (const name of names) {
        const reserved = reserveCall(ledger, bounds, call(name));
        if (!reserved.ok) return reserved.excess.message;
        ({ ledger } = reserved);
      }
      return `${ledger.toolCalls}`;
    };
    expect([reserve(["a", "b", "a"]), reserve(["a", "a", "b"])]).toEqual(["3", "3"]);
    expect(reserve(["a", "b", "a", "b"])).toBe("exceeded tool-call budget of 3");
    expect(reserve(["b", "a", "a", "a"])).toContain("exceeded tool-call budget");
    expect(reserve(["a", "a", "a"])).toBe("called tool 'a' 3 times in a row, more than the budget of 2");
    expect(reserveCall(emptyLedger, bounds, call("a", 11))).toMatchObject({
      ok: false,
      excess: { field: "argumentBytes", used: 11 },
    });
    expect(reserveCall(emptyLedger, bounds, call("a", 10)).ok).toBe(true);
  });

  it("of turns and calls are never exceeded, also where they have parts: 1.5 turns are one", () => {
    const bounds = limits({ turns: 1.5, toolCalls: 1.5 });
    const once = reserveTurn(emptyLedger, bounds, 0);
    expect(once.ok && reserveTurn(once.ledger, bounds, 0)).toMatchObject({ excess: { used: 1, limit: 1.5 } });
    const call = { tool: "look", argumentBytes: 1 };
    const called = reserveCall(emptyLedger, bounds, call);
    expect(called.ok && reserveCall(called.ledger, bounds, call)).toMatchObject({ excess: { used: 1 } });
    expect(reserveTurn(emptyLedger, limits({ turns: 0.5 }), 0).ok).toBe(false);
  });

  it("are raised only to a larger one, and those of a single call not at all [B3]", () => {
    const bounds = limits({
      turns: 2,
      argumentBytes: 5,
      resultBytes: 5,
      toolMs: 5,
      repeats: 2,
      tokens: 5,
      costUsd: 5,
      sameToolInARow: 5,
    });
    for (const field of [
      "turns",
      "toolCalls",
      "tokens",
      "costUsd",
      "durationMs",
      "sameToolInARow",
    ] as const) {
      expect(extendLimit(bounds, field, 1_000_000)).toEqual({ ...bounds, [field]: 1_000_000 });
      for (const to of [bounds[field], 1, 0, -1, Number.NaN, undefined])
        expect(extendLimit(bounds, field, to)).toBeUndefined();
    }
    for (const field of ["argumentBytes", "resultBytes", "toolMs", "repeats", "depth"] as const)
      expect(extendLimit(bounds, field, 1_000_000)).toBeUndefined();
  });

  it("are nearly used up from the part that the author says, and never where there is none [B2]", () => {
    const ledger = { ...emptyLedger, turns: 4, toolCalls: 8, tokens: 79, costUsd: 1 };
    const bounds = limits({ turns: 5, toolCalls: 10, tokens: 100, durationMs: 10 });
    expect(crossed({ ledger, elapsedMs: 8 }, bounds, 0.8)).toEqual([
      { field: "turns", used: 4, limit: 5 },
      { field: "toolCalls", used: 8, limit: 10 },
      { field: "durationMs", used: 8, limit: 10 },
    ]);
    expect(crossed({ ledger, elapsedMs: 8 }, bounds, 1)).toEqual([]);
  });

  it("of dollars take an unknown price for endless, of one's own and of runs inside, also after a disk wrote it [C31]", () => {
    const usage = { inputTokens: 3, outputTokens: 4 };
    expect(spend(emptyLedger, { usage })).toMatchObject({ tokens: 7, costUsd: Infinity });
    expect(spend(emptyLedger, { usage, costUsd: 0.5 })).toMatchObject({ costUsd: 0.5 });
    expect(spendInside(emptyLedger, { usage, costUsd: 0.5, toolCalls: 2 })).toMatchObject({
      tokens: 7,
      costUsd: 0.5,
      toolCalls: 2,
    });
    const written = JSON.parse(JSON.stringify({ usage, costUsd: Infinity, toolCalls: 0 })) as Parameters<
      typeof spendInside
    >[1];
    expect(spendInside(emptyLedger, written).costUsd).toBe(Infinity);
  });
});
