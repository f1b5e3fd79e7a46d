import { expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { ask, events, payer, runsFile, serving } from "./scene.ts";

/** The end of what a page of AG-UI is told of a run that asks. */
interface Shown {
  readonly outcome: { readonly interrupts: readonly object[] };
}

it("asks a page of AG-UI about the call of an agent inside, and about none of the page, whatever ids models give", async () => {
  const boss = agent({
    name: "boss",
    model: () => ({ calls: [{ name: "payer", arguments: { input: "Pay" } }] }),
    tools: [payer().asTool()],
    policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
  });
  const server = serving(runsFile(), { agents: [boss] });
  const body = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "Pay" }] };
  const told = await Array.fromAsync(events(await ask(server, "POST /v1/agui/boss", { body })));
  const { outcome } = told.at(-1) as unknown as Shown;
  const metadata = { tool: "pay", arguments: { to: "Ada" }, path: ["boss", "payer"] };
  expect(outcome.interrupts).toMatchObject([{ metadata }]);
  expect(outcome.interrupts[0]).not.toHaveProperty("toolCallId");
});
