import { describe, expect, it } from "vitest";
import { prove } from "../../../../src/testing.ts";
import { holes } from "./holes.ts";

describe("planted holes", () => {
  it("are more than 25", () => expect(Object.keys(holes).length).toBeGreaterThanOrEqual(25));

  it.each(Object.entries(holes))("%s", { timeout: 60_000 }, async (_name, { sentence, broken, sound }) => {
    const [found] = (await prove(broken, { sentences: [sentence] })).sentences;
    expect(found).toMatchObject({ verdict: "broken", script: expect.stringContaining("process.exitCode") });
    const [held] = (await prove(sound, { sentences: [sentence] })).sentences;
    expect(held?.because).toBeDefined();
    expect(held?.verdict).toBe("proved");
  });
});
