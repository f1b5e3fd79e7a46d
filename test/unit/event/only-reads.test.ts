import { describe, expect, it } from "vitest";
import { onlyReads } from "../../../src/event/only-reads.ts";
import { agent, type AgentEvent, tool } from "../../../src/index.ts";

/**
 * Makes an agent with a listener that only reads; its model calls a tool that only looks, which may start while the model still writes.
 * What happens first is told in `order`.
 */
function looker() {
  const order: string[] = [];
  const look = tool({
    name: "look",
    description: "Looks",
    inputSchema: { type: "object" },
    effect: "read",
    execute: () => void order.push("looks"),
  });
  let asked = 0;
  const by = agent({
    name: "looker",
    model: () => ((asked += 1) === 1 ? { calls: [{ name: "look", arguments: {} }] } : "done"),
    tools: [look],
    onEvent: onlyReads(({ type }: AgentEvent) => void (type === "message-end" && order.push("is told"))),
  });
  return { by, order };
}

describe("a listener that only reads", () => {
  it("is told of a whole reply at once: the run goes as it would unheard", async () => {
    const { by, order } = looker();
    await by.run("go");
    expect(order).toEqual(["is told", "looks", "is told"]);
  });

  it("takes no delta from a reader of the run, who may leave in the middle", async () => {
    const { by, order } = looker();
    for await (const _ of by.stream("go"));
    expect(order).toEqual(["looks", "is told", "is told"]);
  });

  it("takes none from a reader of a run around it", async () => {
    const { by, order } = looker();
    let asked = 0;
    const outer = agent({
      name: "outer",
      model: () =>
        (asked += 1) === 1 ? { calls: [{ name: "looker", arguments: { input: "go" } }] } : "done",
      tools: [by.asTool({ description: "Looks" })],
    });
    for await (const _ of outer.stream("go"));
    expect(order).toEqual(["looks", "is told", "is told"]);
  });
});
