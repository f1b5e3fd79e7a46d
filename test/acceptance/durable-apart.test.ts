import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, tool } from "../../src/index.ts";

it("runs that a worker takes while a tool runs are no part of that tool's run", async () => {
  const store = memoryRuns();
  const inputs: unknown[] = [];
  const other = agent({
    name: "other",
    model: ({ messages }) => {
      inputs.push(messages.find(({ role }) => role === "user"));
      return "Done.";
    },
  });
  const starts = tool({
    name: "starts",
    description: "",
    inputSchema: { type: "object" },
    async execute() {
      await store.begin({ id: "second", agent: "other", input: "Go", options: {}, protocol: 1 });
      await new Promise((resolve) => setTimeout(resolve, 50));
      return "started";
    },
  });
  const calling =
    (name: string, args = {}) =>
    ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
      messages.at(-1)?.role === "tool" ? "Done." : { calls: [{ name, arguments: args }] };
  const inner = agent({ name: "inner", description: "", model: calling("starts"), tools: [starts] });
  const first = agent({ name: "first", model: calling("inner", { input: "Go" }), tools: [inner.asTool()] });
  const runs = durableRuns({ store, agents: [first, other] });
  await using _worker = runs.work();
  await runs.start(first, "Go", { id: "first" });
  await runs.result("first");
  await runs.result("second");
  expect(inputs).toEqual([{ role: "user", parts: [{ type: "text", text: "Go" }] }]);
});

it("nor of the context that another run's tool keeps for itself, such as a span", async () => {
  const span = new AsyncLocalStorage<string>();
  const store = memoryRuns();
  const seen: unknown[] = [];
  const other = agent({ name: "other", model: () => `in ${(seen.push(span.getStore()), "")}` });
  const first = agent({
    name: "first",
    model: ({ messages }) =>
      messages.at(-1)?.role === "tool" ? "Done." : { calls: [{ name: "starts", arguments: {} }] },
    tools: [
      tool({
        name: "starts",
        description: "",
        inputSchema: { type: "object" },
        execute: () =>
          span.run("of the tool", async () => {
            await store.begin({ id: "second", agent: "other", input: "Go", options: {}, protocol: 1 });
            await new Promise((resolve) => setTimeout(resolve, 50));
            return "started";
          }),
      }),
    ],
  });
  const runs = durableRuns({ store, agents: [first, other] });
  await using _worker = span.run("of the program", () => runs.work());
  await runs.start(first, "Go", { id: "first" });
  await runs.result("first");
  await runs.result("second");
  expect(seen).toEqual(["of the program"]);
});
