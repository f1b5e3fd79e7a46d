import { expect, it } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";

it.each<[key: unknown, told: string]>([
  [{ id: 1 }, "it must be a string or a number, got an object"],
  [Promise.resolve("a"), "got a promise (`await` it)"],
  [undefined, "got nothing"],
])("a call whose exclusive key is %j fails with what it must be", async (key, told) => {
  const save = tool({
    name: "save",
    description: "",
    inputSchema: { type: "object" },
    effect: "none",
    exclusive: () => key as never,
    execute: () => "saved",
  });
  const model = scripted([{ calls: [{ name: "save", arguments: {} }] }, "Done."]);
  const { calls } = await agent({ name: "keeper", model, tools: [save] }).run("Save it");
  expect(calls[0]).toMatchObject({ status: "error" });
  expect(JSON.stringify(calls[0])).toContain(`\`exclusive\` of the tool \\"save\\" gives: `);
  expect(JSON.stringify(calls[0])).toContain(told);
});

it("a call may have a number as its exclusive key", () => {
  const save = tool({
    name: "save",
    description: "",
    inputSchema: { type: "object" },
    exclusive: () => 5 as never,
    execute: () => "saved",
  });
  expect(save.exclusiveKey({})).toBe("save/5");
});

it.each([true, () => "a key"])("a tool that is made of another one keeps its key: %s", (exclusive) => {
  const about = {
    name: "save",
    description: "d",
    inputSchema: z.object({}),
    effect: "read",
    execute: () => 1,
  } as const;
  const save = tool({ ...about, exclusive });
  const again = tool({ ...save, inputSchema: z.object({}), execute: () => 2 });
  expect(again.exclusiveKey({})).toBe(save.exclusiveKey({}));
  expect(tool({ ...save, inputSchema: z.object({}), exclusive: false }).exclusiveKey({})).toBeUndefined();
});
