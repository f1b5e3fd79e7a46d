import { expect, it } from "vitest";
import { lazy } from "../../../src/util/remembered.ts";

it("makes a value when it is first asked for, once, whatever it is", () => {
  let made = 0;
  const nothing = lazy(() => {
    made += 1;
    return undefined;
  });
  expect(made).toBe(0);
  expect([nothing(), nothing()]).toEqual([undefined, undefined]);
  expect(made).toBe(1);
});

it("tries again what threw", () => {
  let asked = 0;
  const value = lazy(() => {
    asked += 1;
    if (asked === 1) throw new Error("not yet");
    return "there";
  });
  expect(value).toThrow("not yet");
  expect(value()).toBe("there");
});
