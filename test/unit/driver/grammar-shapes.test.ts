import { describe, expect, it } from "vitest";
import { jsonDriver } from "../../../src/driver/json.ts";
import { linesDriver } from "../../../src/driver/lines.ts";
import { reactDriver } from "../../../src/driver/react.ts";
import { tool } from "../../../src/index.ts";
import type { TurnInput } from "../../../src/driver/driver.ts";
import { readGbnf } from "../../gbnf.ts";
import { turnOf } from "./turn.ts";

const add = tool({
  name: "add",
  description: "Add",
  inputSchema: {
    type: "object",
    properties: { a: { type: "integer", maximum: 9 }, b: { type: "integer" } },
    required: ["a"],
    additionalProperties: false,
  },
  execute: () => 1,
});

const protocols = [
  {
    name: "json",
    driver: jsonDriver(),
    call: (args: string) => `{"action":{"tool":"add","args":${args}}}`,
    answer: '{"final":{"content":"8"}}',
  },
  {
    name: "react",
    driver: reactDriver(),
    call: (args: string) => `{"thought":"so","type":"call_tool","tool":"add","args":${args}}`,
    answer: '{"thought":"so","type":"final_answer","answer":"8"}',
  },
  {
    name: "lines",
    driver: linesDriver,
    call: (args: string) => `Step: add ${args} =`,
    answer: "Answer: 8\n",
  },
] as const;

describe.each(protocols)("the grammar of a turn in $name", ({ driver, call, answer }) => {
  const accepts = (text: string, toolChoice: TurnInput["toolChoice"], tools = [add]): boolean => {
    const { format } = driver.request(turnOf({ tools, toolChoice, features: { format: "grammar" } }));
    if (format?.type !== "grammar") throw new Error("no grammar");
    return readGbnf(format.grammar).matches(text);
  };

  it("has the answer beside the calls, unless a call is wanted", () => {
    expect(accepts(answer, "auto")).toBe(true);
    expect(accepts(answer, "none")).toBe(true);
    expect(accepts(answer, "auto", [])).toBe(true);
    expect(accepts(answer, "required", [])).toBe(true); // nobody can call a tool that is not there
    expect(accepts(answer, "required")).toBe(false);
    expect(accepts(answer, { tool: "add" })).toBe(false);
  });

  it("holds arguments to the schema of their tool", () => {
    expect(accepts(call('{"a":3}'), "auto")).toBe(true);
    expect(accepts(call('{"a":-3,"b":10}'), "required")).toBe(true);
    for (const wrong of ['{"a":10}', '{"b":1}', '{"a":"3"}', '{"a":3,"c":1}', "{}"])
      expect(accepts(call(wrong), "auto")).toBe(false);
    expect(accepts(call('{"a":3}'), "none")).toBe(false);
  });
});
