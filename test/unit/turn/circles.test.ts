import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolCall, ToolResult } from "../../../src/message/message.ts";
import { addRound, proposedAgain, timesDone } from "../../../src/turn/act.ts";
import type { CallRound, Repeats } from "../../../src/run/checkpoint.ts";
import { noRepeats } from "../../../src/turn/state.ts";
import type { Json } from "../../../src/util/json.ts";

const callOf = (name: string, given: Json = {}): ToolCall => ({
  type: "tool-call",
  id: `${name} ${Math.random()}`,
  name,
  arguments: given,
});
const resultOf = (text: string): ToolResult => ({ status: "ok", text });
const round = (name: string, text = name): CallRound => ({
  calls: [callOf(name)],
  results: [resultOf(text)],
});
const after = (...rounds: readonly CallRound[]): Repeats => rounds.reduce(addRound, noRepeats);

/** How often the last circle of one to three rounds stands at the end of a list, counted the slow way. */
function slowly(rounds: readonly string[]): number {
  let best = rounds.length === 0 ? 1 : 0;
  for (const period of [1, 2, 3]) {
    let same = 0;
    while (rounds.length - 1 - same - period >= 0 && rounds.at(-1 - same) === rounds.at(-1 - same - period))
      same += 1;
    best = Math.max(best, Math.floor(same / period) + 1);
  }
  return best;
}

describe("circles", () => {
  it("are counted as they are, for every list of rounds", () => {
    const rounds = fc.array(fc.constantFrom("a1", "a2", "b1", "c1"), { maxLength: 24 });
    fc.assert(
      fc.property(rounds, (names) => {
        const repeats = after(...names.map((name) => round(name.slice(0, 1), name)));
        expect(timesDone(repeats)).toBe(slowly(names));
        expect(repeats.rounds.length).toBeLessThanOrEqual(3);
      }),
    );
  });

  it("are foreseen: calls that go on with one, and what they would bring", () => {
    expect(proposedAgain(noRepeats, [callOf("a")])).toBeUndefined();
    expect(proposedAgain(after(round("a")), [callOf("b")])).toBeUndefined();
    expect(proposedAgain(after(round("a")), [callOf("a"), callOf("a")])).toBeUndefined();
    expect(proposedAgain(after(round("a"), round("a")), [callOf("a")])).toMatchObject({
      times: 3,
      round: { results: [{ text: "a" }] },
    });
    const pingPong = after(round("a"), round("b"), round("a"), round("b"));
    expect(proposedAgain(pingPong, [callOf("a")])).toMatchObject({
      times: 3,
      round: { results: [{ text: "a" }] },
    });
    expect(proposedAgain(pingPong, [callOf("b")])).toMatchObject({ times: 2 });
    const oneCallTwoResults = after(round("a", "1"), round("a", "2"), round("a", "1"), round("a", "2"));
    expect(proposedAgain(oneCallTwoResults, [callOf("a")])).toMatchObject({
      times: 3,
      round: { results: [{ text: "1" }] },
    });
  });

  it("need the same arguments, whatever the order of their fields, and the same results", () => {
    const given = (args: Json, text = "x"): CallRound => ({
      calls: [callOf("a", args)],
      results: [resultOf(text)],
    });
    expect(timesDone(after(given({ x: 1, y: [2, { z: null }] }), given({ y: [2, { z: null }], x: 1 })))).toBe(
      2,
    );
    const others: Json[] = [{ x: 1 }, { x: 1, y: [2] }, { x: 1, y: { 0: 2 } }, [1], null, "x"];
    for (const other of others) expect(timesDone(after(given({ x: 1, y: [2, {}] }), given(other)))).toBe(1);
    expect(timesDone(after(given(1), given(1, "y")))).toBe(1);
  });
});
