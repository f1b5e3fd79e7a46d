import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Driver } from "../../../src/driver/driver.ts";
import { jsonDriver } from "../../../src/driver/json.ts";
import { linesDriver } from "../../../src/driver/lines.ts";
import { nativeDriver } from "../../../src/driver/native.ts";
import { followAnswer } from "../../../src/driver/partial-answer.ts";
import { reactDriver } from "../../../src/driver/react.ts";
import { turnOf } from "./turn.ts";

const output = z.object({ city: z.string(), days: z.array(z.number()) });
const follow = (driver: Driver, pieces: readonly string[]): readonly unknown[] => {
  const take = followAnswer(driver, turnOf({ output }));
  return pieces.flatMap((piece) => take?.(piece) ?? []);
};

describe("an answer while it is written", () => {
  it("grows with the pieces that add to it, and only with them", () => {
    expect(
      follow(nativeDriver, ["Here: ", '{"city": "Os', "lo", '", ', '"da', 'ys": [1', ", 2", "]}", " done"]),
    ).toEqual([
      { city: "Os" },
      { city: "Oslo" },
      { city: "Oslo" },
      { city: "Oslo", days: [] },
      { city: "Oslo", days: [1] },
      { city: "Oslo", days: [1, 2] },
    ]);
  });

  it("is found inside the protocols, where a call is none", () => {
    expect(follow(jsonDriver(), ['{"final": {"content": {"city": "Li', 'ma"', "}}", "}"]).at(-1)).toEqual({
      city: "Lima",
    });
    expect(
      follow(jsonDriver(), ['{"thought": "x", "action": {"tool": "a", ', '"args": {"city": "x"}}}']),
    ).toEqual([]);
    const decision = ['{"thought": "known", "type": "final_answer", ', '"answer": {"city"', ': "Lima"}}'];
    expect(follow(reactDriver(), decision)).toEqual([{}, { city: "Lima" }]);
    expect(follow(reactDriver(), ['{"type": "call_tool", "tool": "a", "args": {"city": "x"}}'])).toEqual([]);
  });

  it("is not followed where nothing is held to a schema, or replies are no JSON", () => {
    expect(followAnswer(nativeDriver, turnOf())).toBeUndefined();
    expect(followAnswer(linesDriver, turnOf({ output }))).toBeUndefined();
  });
});
