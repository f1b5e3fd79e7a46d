import { describe, expect, it } from "vitest";
import { copyOfPlain } from "../../../src/call/given.ts";

describe("the copy of arguments that an executor is given", () => {
  it("copies lists and plain objects, those without a prototype too", () => {
    const bare: unknown = Object.assign(Object.create(null) as object, { list: [{ x: 1 }] });
    const copy = copyOfPlain(bare);
    expect(copy).toEqual({ list: [{ x: 1 }] });
    expect(copy).not.toBe(bare);
  });

  it("leaves an object of a class as it is", () => {
    const day = new Date(0);
    expect(copyOfPlain({ day })).toEqual({ day });
    expect((copyOfPlain({ day }) as { day: Date }).day).toBe(day);
  });
});
