import { type } from "arktype";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, skill } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import type { SchemaSource } from "../../src/tools.ts";

const counted = z.object({ n: z.number() });

describe("the output of a skill beside that of its agent", () => {
  const made = (own: SchemaSource, output: SchemaSource): unknown =>
    agent({
      name: "a",
      model: () => "x",
      output,
      skills: [skill({ name: "s", description: "", tools: [], output: own })],
    });

  it.each<[string, SchemaSource, SchemaSource, string]>([
    ["a text for an object", z.string(), counted, "string where object is wanted"],
    ["an object without a field", z.object({ m: z.number() }), counted, "`n` is missing"],
    ["a field of another type", z.object({ n: z.string() }), counted, "`n` is string where number is wanted"],
    ["a list of others", z.array(z.string()), z.array(counted), "`[]` is string where object is wanted"],
    ["choices that are none of the agent's", z.enum(["a", "b"]), z.enum(["c"]), '"a" where "c" is wanted'],
    [
      "none of several",
      z.union([z.string(), z.boolean()]),
      z.union([counted, z.null()]),
      "string where object is wanted",
    ],
    ["of another library", type({ n: "string" }), counted, "`n` is string where number is wanted"],
    ["a JSON Schema", { type: "string" }, { type: ["number", "null"] }, "string where number is wanted"],
  ])("is refused when the agent is made: %s [K2]", (_, ...[own, output, clash]) => {
    expect(() => made(own, output)).toThrow(
      expect.objectContaining({
        code: "definition-invalid",
        message: expect.stringContaining(
          `Skill "s" of agent "a": its \`output\` can never be the agent's: ${clash}.`,
        ),
      }),
    );
  });

  it.each<[string, SchemaSource, SchemaSource]>([
    ["the same", counted, counted],
    ["narrower", z.object({ n: z.int(), note: z.string() }), counted],
    ["one of several", counted, z.union([z.string(), counted])],
    ["made by a function that no schema describes", z.string().transform(Number), z.number()],
    ["that a default makes whole", z.object({ n: z.number().default(1) }), counted],
    ["that says nothing", {}, counted],
    ["behind a reference", { $ref: "#/$defs/n", $defs: { n: { type: "string" } } }, z.number()],
  ])("may be %s [K2]", (_, own, output) => {
    expect(() => made(own, output)).not.toThrow();
  });

  it("is held to the agent's, so that the agent never gives what its type does not say [K2]", async () => {
    const small = z.object({ n: z.number().max(9) });
    const said = ['{"n": 12, "why": "a dozen"}', '{"n": 7, "why": "a week"}'];
    const model = scripted(said);
    const own = z.object({ n: z.number(), why: z.string() });
    const skills = [skill({ name: "s", description: "", tools: [], output: own })];
    const result = await agent({ name: "a", model, output: small, skills }).run("How many?");
    expect(result.output).toEqual({ n: 7 });
    expect(JSON.stringify(model.requests[0]?.messages)).toContain("why"); // the skill's schema is what the model is told
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("Your answer was not accepted: n: ");
  });

  it("is what the agent gives where the agent says nothing", async () => {
    const skills = [skill({ name: "s", description: "", tools: [], output: counted })];
    const { n } = await agent({ name: "a", model: scripted(['{"n": 3}']), skills })("How many?");
    expect(n).toBe(3);
  });
});

describe("the output of a plain skill", () => {
  const plain = (gives: unknown, output?: SchemaSource): ReturnType<typeof agent> =>
    agent({
      name: "a",
      ...(output && { output }),
      skills: [skill({ name: "s", description: "", output: counted, execute: () => gives })],
    });

  it("is held to its own schema, also where the agent says nothing [K2]", async () => {
    expect(await plain({ n: 3, more: true })("x")).toEqual({ n: 3 });
    const { outcome, error, output } = await plain({ n: "3" }).run("x");
    expect([outcome.type, error?.code, output]).toEqual(["failed", "skill-failed", undefined]);
    expect(error?.message).toContain("its result does not match the output schema: n: ");
  });

  it("is held to the agent's after it, and refused where it can never be that [K2]", async () => {
    const small = z.object({ n: z.number().max(9) });
    expect((await plain({ n: 12 }, small).run("x")).error?.code).toBe("skill-failed");
    expect(await plain({ n: 7 }, small)("x")).toEqual({ n: 7 });
    expect(() => plain({ n: 7 }, z.string())).toThrow("its `output` can never be the agent's");
  });

  it.each(["instructions", "parse", "memory"])("has not got `%s`, which is for a model", (field) => {
    const definition = { name: "s", description: "", execute: () => 1, [field]: undefined };
    expect(() => skill(definition)).toThrow(`has \`${field}\`, which is for \`tools\``);
  });
});
