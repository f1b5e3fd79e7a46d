import type { JsonObject } from "../../src/util/json.ts";
import { type } from "arktype";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { agent, type Agent, tool } from "../../src/index.ts";

describe("inference", () => {
  it("gives execute the arguments of the schema, and the tool their types [H8, T4]", () => {
    const search = tool({
      name: "search",
      description: "",
      inputSchema: z.object({ query: z.string(), limit: z.number().default(3) }),
      execute: (args, context) => {
        expectTypeOf(args).toEqualTypeOf<{ query: string; limit: number }>();
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
        return args.limit;
      },
    });
    expectTypeOf<Parameters<typeof search.execute>[0]>().toEqualTypeOf<{ query: string; limit: number }>();
    tool({
      name: "ark",
      description: "",
      inputSchema: type({ city: "string" }),
      execute: ({ city }) => expectTypeOf(city).toEqualTypeOf<string>(),
    });
    tool({
      name: "raw",
      description: "",
      inputSchema: { type: "object" },
      execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
    });
  });

  it("types input and output of an agent [A1, T3]", () => {
    const plain = agent({ name: "a", model: () => "x" });
    expectTypeOf(plain("x")).resolves.toEqualTypeOf<string>();
    const typed = agent({
      name: "a",
      model: () => "x",
      input: z.object({ city: z.string() }),
      output: z.object({ rain: z.boolean() }),
    });
    expectTypeOf(typed).parameter(0).toEqualTypeOf<{ city: string }>();
    expectTypeOf(typed({ city: "Lima" })).resolves.toEqualTypeOf<{ rain: boolean }>();
    expectTypeOf(typed).toExtend<Agent<{ city: string }, { rain: boolean }>>();
    // @ts-expect-error the input has no city
    void typed({});
    // @ts-expect-error a tool is no text
    agent({ name: "a", tools: [7] });
  });
});
