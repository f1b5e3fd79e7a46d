import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { agent, tool } from "../../../src/index.ts";

/** Every optional field of an interface, as undefined. */
function undefinedOf(file: string, name: string): object {
  const text = readFileSync(new URL(`../../../src/${file}`, import.meta.url), "utf8");
  const [body = ""] = new RegExp(`export interface ${name}\\b[^]*?\\n\\}`).exec(text) ?? [];
  const fields = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\?:/gm)].map(([, field = ""]) => field);
  expect(fields.length).toBeGreaterThan(3);
  return Object.fromEntries(fields.map((field) => [field, undefined]));
}

it("an option that is undefined counts as left out", async () => {
  const look = tool({
    ...undefinedOf("tool/tool.ts", "ToolDefinition"),
    name: "look",
    description: "",
    inputSchema: { type: "object" },
    execute: () => "seen",
  });
  const clerk = agent({
    ...undefinedOf("agent/definition.ts", "AgentDefinition"),
    name: "clerk",
    model: ({ messages }) =>
      messages.some(({ role }) => role === "tool") ? "done" : { calls: [{ name: "look", arguments: {} }] },
    tools: [look],
    policy: () => ({ verdict: "allow", rule: "all", reason: "" }),
  });
  const { output, calls } = await clerk.run("Go", undefinedOf("agent/run-options.ts", "RunOptions"));
  expect([output, calls.map(({ name }) => name)]).toEqual(["done", ["look"]]);
  const runs = durableRuns({
    ...undefinedOf("durable/durable-options.ts", "DurableOptions"),
    store: memoryRuns(),
    agents: [clerk],
  });
  const worker = runs.work({ concurrency: undefined as never });
  await runs.start(clerk, "Go", { ...undefinedOf("durable/new-run.ts", "StartOptions"), id: "r" });
  expect((await runs.result("r")).output).toBe("done");
  await worker.drain({ graceMs: undefined as never });
});
