import { describe, expect, it } from "vitest";
import { sampled, sampleParts } from "../bfcl/sample.ts";

const cases = Array.from({ length: 500 }, (_, index) => index);

describe("parts of the seeded choice", () => {
  it("share no case, have the sizes that are told, and are the same each time", () => {
    const parts = sampleParts.map((part) => sampled(cases, part));
    expect(parts.map(({ length }) => length)).toEqual([100, 100, 200]);
    expect(new Set(parts.flat()).size).toBe(400);
    expect(sampleParts.map((part) => sampled(cases, part))).toEqual(parts);
  });

  it("end with the cases that there are", () => {
    expect(sampleParts.map((part) => sampled(cases.slice(0, 150), part).length)).toEqual([100, 50, 0]);
  });
});
