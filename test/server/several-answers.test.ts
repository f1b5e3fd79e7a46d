import { expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import { ask, events, questionsOf, runsFile, serving } from "./scene.ts";

/** The end of what a page of AG-UI is told of a run that asks. */
interface Shown {
  readonly outcome: { readonly interrupts: readonly { readonly id: string }[] };
}

it("takes none of several answers of a page of AG-UI where one of them is none", async () => {
  const pay = fakeTool("pay", "paid");
  const calls = ["Ada", "Bob"].map((to) => ({ name: "pay", arguments: { to } }));
  const clerk = agent({
    name: "clerk",
    model: ({ messages }) => (messages.some(({ role }) => role === "tool") ? "Done." : { calls }),
    tools: [pay],
    policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
  });
  const server = serving(runsFile(), { agents: [clerk] });
  const page = (more: object) => {
    const body = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "Pay" }] };
    return ask(server, "POST /v1/agui/clerk", { body: { ...body, ...more } });
  };
  const { outcome } = (await Array.fromAsync(events(await page({})))).at(-1) as unknown as Shown;
  const answers = (...payloads: readonly object[]) =>
    outcome.interrupts.map(({ id: interruptId }, place) => {
      return { interruptId, status: "resolved", payload: payloads[place] };
    });
  const yes = { approved: true };
  expect((await page({ resume: answers(yes, {}) })).status).toBe(400);
  expect(await questionsOf(server)).toHaveLength(2);
  expect(await (await page({ resume: answers(yes, yes) })).text()).toContain("Done.");
  expect(pay.calls).toHaveLength(2);
});
