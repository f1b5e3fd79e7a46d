import { describe, expect, it } from "vitest";
import { agent, allow, ask, deny, guarded, policy } from "../../../src/index.ts";
import { calls, requested, strict, within } from "../../../src/policy.ts";
import { fakeTool } from "../../../src/testing.ts";

const any = (value: unknown): never => value as never;
const book = policy({ name: "p", rules: [allow("pay")] });
const pay = fakeTool("pay", "paid");

describe("what a rule, a condition or a preset does not take is told, and never left out", () => {
  it.each<[what: string, begin: () => unknown, told: RegExp]>([
    [
      "a condition that is not there",
      () => allow("pay").when(any(undefined)),
      /^allow\(…\)\.when\(\): .*, got nothing/,
    ],
    ["nor here", () => deny("pay").unless(any(undefined)), /^deny\(…\)\.unless\(\): .*, got nothing/],
    [
      "a condition that was not called",
      () => allow("pay").when(any(requested)),
      /must be a condition.*got a function/,
    ],
    ["a reason that is none", () => ask("pay").because(any(undefined)), /^ask\(…\)\.because\(\): .*a string/],
    [
      "a list of arguments",
      () => ask("pay").show(any(["to"])),
      /^ask\(…\)\.show\(\): .*a string, got a list/,
    ],
    ["exactness without its name", () => requested(any(true)), /^requested\(\): .*an object, got a boolean/],
    [
      "exactness by another name",
      () => requested(any({ exact: true })),
      /^requested\(\): .*"exact"; did you mean/,
    ],
    ["no exactness", () => requested(any(null)), /^requested\(\): .*got null/],
    ["a bound by another name", () => within(any({ min: 0, maximum: 5 })), /^within\(\): .*"maximum"/],
    ["no bounds", () => within(any(undefined)), /^within\(\): .*got nothing/],
    ["a number of calls alone", () => calls(any(3)), /^calls\(\): .*got a number/],
    [
      "rules beside those of a preset",
      () => guarded(any({ rules: [deny("pay")] })),
      /^guarded\(\): .*"rules".*extraRules/,
    ],
    [
      "the same of the other one",
      () => strict(any({ rules: [deny("pay")] })),
      /^strict\(\): .*"rules".*extraRules/,
    ],
    ["no options", () => strict(any(null)), /^strict\(\): .*got null/],
  ])("%s", (_what, begin, told) => {
    expect(begin).toThrow(told);
  });

  it.each<[what: string, begin: () => unknown, told: RegExp]>([
    ["no cases", () => book.test(any(undefined)), /^test\(\): `cases` must be a list of cases, got nothing/],
    [
      "a case alone",
      () => book.test(any({ tool: "pay" })),
      /^test\(\): `cases` must be a list of cases, got an object/,
    ],
    [
      "arguments by another name",
      () => book.test(any([{ tool: "pay", args: { euro: 5 }, expect: "allow" }])),
      /^test\(\): `cases\[0\]` has the unknown field "args"/,
    ],
    [
      "a verdict that there is not",
      () => book.test(any([{ tool: "pay", arguments: {}, expect: "allowed" }])),
      /`cases\[0\]\.expect` must be "allow" or "ask" or "deny", got "allowed"/,
    ],
    ["a tool to lint", () => book.lint(any(pay)), /^lint\(\): `tools` must be a list of tools/],
    ["no run", () => book.simulate(any(undefined)), /^simulate\(\): `run` must be the events of a run/],
    ["a text of events", () => book.simulate(any("{}")), /^simulate\(\): `run` .*got a string/],
    [
      "an event that is none",
      () => book.simulate(any([null])),
      /^An event of simulate\(\): it must be an object/,
    ],
    [
      "a tool alone",
      () => book.simulate([], any({ tools: pay })),
      /^simulate\(\): `options.tools` must be a list/,
    ],
    [
      "a call without its run",
      () => book.advise(any({ tool: "pay" })),
      /^advise\(\): `call\.knows` must be an object/,
    ],
    ["no call", () => book.advise(any(undefined)), /^advise\(\): `call` must be a call/],
  ])("asked about %s, a policy says so", (_what, begin, told) => {
    expect(begin).toThrow(told);
  });
});

it.each([
  ["guarded", guarded],
  ["strict", strict],
  ["policy", policy],
])("an agent takes no %s that was not called: it would deny each call", (name, made) => {
  const define = () => agent({ name: "a", model: () => "Done.", tools: [pay], policy: made as never });
  expect(define).toThrow(`\`policy\` must be what ${name}() gives, and is ${name} itself: call it`);
});
