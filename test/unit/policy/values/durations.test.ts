import { describe, expect, it } from "vitest";
import { valuesIn } from "../../../../src/policy/values/bound-values.ts";

const isBound = (text: string, value: string): boolean => valuesIn([text]).has(value, "date");

describe("the end of what begins and lasts as the user says", () => {
  it.each([
    ["a 1-hour long event on 2024-05-16 at 10:00", "2024-05-16 11:00"],
    ["a 1 hour long event on 2024-05-19 at 10:00 or at 16:00", "2024-05-19 17:00"],
    ["lunch at 12:00 on 2024-05-19 for one hour", "2024-05-19T13:00"],
    ["a call at 9:30 for 90 minutes", "11:00"],
    ["a call at 9:30 for half an hour", "10:00"],
    ["a call at 3pm for an hour", "16:00"],
    ["a call at 10:00, 1.5 hours", "11:30"],
    ["a call at 10:00, three hours", "13:00"],
    ["a call at 10:00, 45min", "10:45"],
  ])("is bound: %s, %s", (text, value) => {
    expect(isBound(text, value)).toBe(true);
  });

  it.each([
    ["an event on 2024-05-16 at 10:00", "2024-05-16 11:00"],
    ["a 1-hour event on 2024-05-16 at 10:00", "2024-05-16 12:00"],
    ["a 1-hour event on 2024-05-16 at 10:00", "2024-05-17 11:00"],
    ["a 1-hour event on 2024-05-16", "2024-05-16 11:00"],
    ["an event at 10:00, remind me 2 hours before", "12:00"],
    ["at 10:00 for one hour and 20 minutes", "11:00"],
    ["a 4-hour event at 22:00", "02:00"],
    ["a 0-minute event and a 900-hour one at 10:00", "09:00"],
  ])("is not: %s, %s", (text, value) => {
    expect(isBound(text, value)).toBe(false);
  });
});
