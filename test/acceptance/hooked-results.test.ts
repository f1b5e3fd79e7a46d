import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Hook, memoryJournal, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { calling, ofType, watch } from "./watching.ts";

const weather = (outputSchema: z.ZodType): ReturnType<typeof tool> =>
  tool({
    name: "weather",
    description: "The weather",
    inputSchema: z.object({}),
    outputSchema,
    execute: () => ({ celsius: 21 }),
  });

const run = async (
  hook: Hook,
  outputSchema: z.ZodType = z.object({ celsius: z.number(), unit: z.string().default("C") }),
) => {
  const model = scripted([calling(["weather", {}]), "Done."]);
  const clerk = agent({
    name: "a",
    model,
    tools: [weather(outputSchema)],
    hooks: [{ name: "mine", ...hook }],
  });
  const journal = memoryJournal();
  const [{ result } = {}] = ofType((await watch(clerk.stream("go", { journal }))).events, "tool-end");
  const replay = memoryJournal(journal.records, { mode: "replay" });
  const [replayed] = ofType((await watch(clerk.stream("go", { journal: replay }))).events, "tool-end");
  expect(replayed?.result).toEqual(result);
  return result;
};

describe("what a hook gives for a result is held to the tool's output schema", () => {
  it("in place of running the tool: it passes the checks that the tool's own value passes", async () => {
    expect(await run({ beforeToolCall: () => ({ result: { celsius: 3 } }) })).toMatchObject({
      status: "ok",
      value: { celsius: 3, unit: "C" },
    });
    expect(await run({ beforeToolCall: () => ({ result: { celsius: "cold" } }) })).toMatchObject({
      status: "error",
      text: "Tool 'weather' failed: its result does not match its output schema.",
    });
  });

  it("after the tool: a value that the hook changed is one that the tool could give, and a text alone is not held to it", async () => {
    const after =
      (change: object): Hook["afterToolCall"] =>
      ({ result }) => ({ result: { ...result, ...change } });
    expect(await run({ afterToolCall: after({ value: { celsius: 4 } }) })).toMatchObject({
      status: "ok",
      value: { celsius: 4, unit: "C" },
    });
    expect(await run({ afterToolCall: after({ value: { celsius: "****" } }) })).toMatchObject({
      status: "error",
      text: expect.stringMatching(/mine.*celsius/),
    });
    const masked = await run({ afterToolCall: after({ text: "****" }) });
    expect(masked).toMatchObject({ status: "ok", text: "****" });
    expect(masked).not.toHaveProperty("value");
    const longer = z.object({
      celsius: z
        .number()
        .transform((celsius) => celsius + 1)
        .pipe(z.number()),
    });
    expect(await run({ afterToolCall: after({ note: "seen" }) }, longer)).toMatchObject({
      value: { celsius: 22 },
      note: "seen",
    });
    expect(await run({ afterToolCall: after({ value: { celsius: 4 } }) }, longer)).toMatchObject({
      status: "error",
      text: expect.stringContaining("would change once more"),
    });
    expect(
      await run({ afterToolCall: after({ status: "error", value: { celsius: "none" } }) }),
    ).toMatchObject({
      status: "error",
    });
  });
});
