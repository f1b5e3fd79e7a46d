import { describe, expect, it } from "vitest";
import { emptyLedger, type Ledger, type Limits, limitsOf } from "../../../src/policy/account/budget.ts";
import { type KeptBalance, type Balance, purse } from "../../../src/policy/account/purse.ts";

const account = (limits: Partial<Limits>, ledger: Partial<Ledger> = {}): Balance => ({
  ledger: { ...emptyLedger, ...ledger },
  limits: limitsOf(limits, "a"),
});
const tokens = (count: number): Parameters<ReturnType<typeof purse>["spend"]>[0] => ({
  usage: { inputTokens: count, outputTokens: 0 },
  costUsd: 0,
  toolCalls: 0,
});

describe("a purse", () => {
  it("forbids nothing before its run began, nor where there is no bound", () => {
    const held: KeptBalance = { now: undefined };
    const own = purse(undefined, held);
    own.spend(tokens(1e9));
    expect([own.turnExcess(), own.callExcess()]).toEqual([undefined, undefined]);
    held.now = account({ toolCalls: 1e9 });
    own.spend({ ...tokens(1e9), costUsd: 1e9, toolCalls: 5 });
    expect([own.turnExcess(), own.callExcess()]).toEqual([undefined, undefined]);
  });

  it("forbids a model call by tokens and dollars, and a tool call by tool calls, from the bound on", () => {
    const now = account({ tokens: 100, costUsd: 1, toolCalls: 3 }, { tokens: 60, toolCalls: 2 });
    const own = purse(undefined, { now });
    own.spend(tokens(39));
    expect([own.turnExcess(), own.callExcess()]).toEqual([undefined, undefined]);
    own.spend({ ...tokens(0), toolCalls: 1 });
    expect([own.turnExcess(), own.callExcess()]).toMatchObject([
      undefined,
      { field: "toolCalls", limit: 3, used: 3 },
    ]);
    own.spend(tokens(1));
    expect(own.turnExcess()).toEqual({
      field: "tokens",
      limit: 100,
      used: 100,
      message: "exceeded the tokens budget of 100 of the run around it",
    });
    const priced = purse(undefined, { now: account({ costUsd: 1 }) });
    priced.spend({ ...tokens(0), costUsd: Infinity });
    expect(priced.turnExcess()).toMatchObject({ field: "costUsd", used: Infinity });
  });

  it("is emptied of what is in its run's own account when a turn begins, and only then", () => {
    const held: KeptBalance = { now: account({ tokens: 100 }, { turns: 1 }) };
    const own = purse(undefined, held);
    own.spend(tokens(60));
    held.now = account({ tokens: 100 }, { turns: 1, tokens: 30 });
    expect(own.turnExcess()).toBeUndefined();
    held.now = account({ tokens: 100 }, { turns: 1, tokens: 40 });
    expect(own.turnExcess()).toMatchObject({ used: 100 });
    held.now = account({ tokens: 100 }, { turns: 2, tokens: 99 });
    expect(own.turnExcess()).toBeUndefined();
  });

  it("is bounded by the runs around it, and tells them what is spent", () => {
    const outer = purse(undefined, { now: account({ tokens: 100, toolCalls: 2 }) });
    const middle = purse(outer, { now: account({ tokens: 50 }) });
    const inner = purse(middle);
    inner.spend({ ...tokens(50), toolCalls: 2 });
    expect(inner.turnExcess()).toMatchObject({ field: "tokens", limit: 50 });
    expect(inner.callExcess()).toMatchObject({ field: "toolCalls", limit: 2 });
    outer.spend(tokens(50));
    expect(inner.turnExcess()).toMatchObject({ limit: 100, used: 100 });
    expect(outer.turnExcess()).toMatchObject({ limit: 100 });
  });
});
