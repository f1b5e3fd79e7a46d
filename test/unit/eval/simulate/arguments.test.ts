import { expect, it } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../../../src/index.ts";
import { simulate } from "../../../../src/testing.ts";

it.each<[string, z.ZodObject]>([
  ["a pattern", z.object({ it: z.string().regex(/^[A-Z]{3}-\d{4}$/u) })],
  ["a beginning", z.object({ it: z.string().startsWith("ORD-") })],
  ["a least length", z.object({ it: z.array(z.string().min(20)).min(2) })],
  ["an address", z.object({ it: z.url() })],
  ["a mail address", z.object({ it: z.email() })],
  ["a day", z.object({ it: z.iso.date() })],
  ["a point in time", z.object({ it: z.iso.datetime() })],
  ["a number of a grid", z.object({ it: z.number().multipleOf(7).min(3).max(20) })],
  ["a number between others", z.object({ it: z.int().gt(5).lt(8) })],
  ["a pair", z.object({ it: z.tuple([z.string(), z.number()]) })],
  [
    "one of several objects",
    z.object({
      it: z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("card"), number: z.string().regex(/^\d{16}$/u) }),
        z.object({ kind: z.literal("bill"), days: z.int() }),
      ]),
    }),
  ],
])("simulate() calls a tool that takes %s", async (_what, inputSchema) => {
  const pay = tool({ name: "pay", description: "", effect: "write", inputSchema, execute: () => "paid" });
  const payer = agent({
    name: "payer",
    model: () => "",
    tools: [pay],
    policy: () => ({ verdict: "allow", rule: "all", reason: "" }),
  });
  const { failure } = await simulate(payer, {
    schedules: 100,
    invariants: { "nothing is paid": ({ effects }) => effects.length === 0 },
  });
  expect(failure?.invariant).toBe("nothing is paid");
});
