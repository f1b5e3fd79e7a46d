import { expect, it } from "vitest";
import { agent, allow, policy, tool } from "../../../src/index.ts";
import { arg, oneOf } from "../../../src/policy.ts";
import { growth } from "../../cpu-time.ts";

const inputSchema = { type: "object", properties: { to: { type: "string" } } };
const toolsOf = (size: number) =>
  Array.from({ length: size }, (_, place) =>
    tool({ name: `t${place}`, description: "A tool", inputSchema, execute: () => "" }),
  );
const all = toolsOf(6400);

it("grows with its rules, and so does an agent with them", () => {
  const make = (size: number): unknown => {
    const rules = all.slice(0, size).map(({ name }) => allow(name).when(arg("to").is(oneOf("Ada"))));
    return agent({
      name: "a",
      model: () => "",
      tools: all.slice(0, size),
      policy: policy({ name: "p", rules }),
    });
  };
  expect(growth(400, make)).toBeLessThan(5);
});
