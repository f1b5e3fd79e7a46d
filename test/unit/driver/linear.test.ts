import { cpuMs, growth } from "../../cpu-time.ts";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { driverNamed } from "../../../src/driver/choose.ts";
import { commandDriver } from "../../../src/driver/command.ts";
import { driverNames, nativeDriver, recogniser } from "../../../src/drivers.ts";
import { tool } from "../../../src/index.ts";
import { fakeTool } from "../../../src/testing.ts";
import { replyOf, turnOf } from "./turn.ts";

const units = [
  ["Thought:", "\n", "Action Input:"],
  ["Thought:", "\nAction: f\n Action Input: {}", "x"],
  ["Action: f\nAction Input: {", "} ", ""],
  ["", "Action Input: ", ""],
  ["Step: ", "=", ""],
  ["Step: f {", "}=", ""],
  ["Step: 1 + ", "2=", ""],
  ["", ".", "x"],
  ["tool:", " ", "\n"],
  ["```", "\n", "x"],
  ["", "```\n", ""],
  ["", "\n ", "@tool"],
  ["", "<tool_call>", "{"],
  ["", "<tool_call>{}", ""],
  ["", "<tool_call> ", "}"],
  ["[f(", "**{", ""],
  ['{"tool":', '{"a":', ""],
  ["", '{"type":', "}"],
  ["", '"', ":"],
] as const;

describe("replies of 60 kB that are nothing", () => {
  const add = tool({
    name: "add",
    description: "Add",
    notation: "{a} + {b}",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });
  const tools = [fakeTool("f", 1), add];
  const page = turnOf({ tools });
  it.each(units)("are read at once by every driver: %j, many times %j, and %j", (before, unit, after) => {
    const text = before + unit.repeat(60_000 / unit.length) + after;
    const work = (): void => {
      for (const driver of [...driverNames.map(driverNamed), commandDriver({ prose: "keep" })])
        expect(driver.read(replyOf(text), page).message.parts.length).toBeGreaterThan(0);
    };
    expect(cpuMs(4000, work)).toBeLessThan(4000);
  });
});

describe("texts of 200 kB in which the recogniser finds nothing", () => {
  const finder = recogniser([fakeTool("add", 1)]);
  it.each([
    ["", "\\_", ""],
    ["", "\\_a", "{"],
    ["", "_#{", ""],
    ["", "<tool_call>add<arg_key>a</arg_key><arg_value>", ""],
    ["", "<invoke name=add><parameter name=a>", ""],
  ])("are read at once: %j, many times %j, and %j", (before, unit, after) => {
    const text = before + unit.repeat(200_000 / unit.length) + after;
    const work = (): void => expect(finder.read(text).calls).toEqual([]);
    expect(cpuMs(4000, work)).toBeLessThan(4000);
  });
});

it.each(["<tool_call>", ""])("a text held back costs what its pieces cost: %j", (beginning) => {
  const work = (pieces: number): void => {
    const show = nativeDriver.visibleText?.(turnOf({}));
    show?.(beginning);
    for (let piece = 0; piece < pieces; piece += 1) show?.("    ");
  };
  expect(growth(5000, work)).toBeLessThan(5);
});
