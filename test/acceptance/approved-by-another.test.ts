import { describe, expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, ask, policy } from "../../src/index.ts";
import type { Approvals } from "../../src/policy.ts";
import { serve } from "../../src/server.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const desk = ["ada", "kim"];
const askers: string[] = [];
/** Anybody of the desk but the one who began the run. */
const byAnother: Approvals = (_question, { runId }) => {
  askers.push(runId);
  return { by: desk.filter((name) => !runId.startsWith(`${name}/`)) };
};

const clerk = () =>
  agent({
    name: "clerk",
    model: scripted([{ calls: [{ name: "refund", arguments: { order: "17" } }] }, "Refunded."]),
    tools: [fakeTool("refund", "done", { effect: "irreversible" })],
    policy: policy({ name: "money", rules: [ask("refund")] }),
  });
const boss = (inside: ReturnType<typeof clerk>, approvals: Approvals | undefined) =>
  agent({
    name: "boss",
    model: scripted([{ calls: [{ name: "clerk", arguments: { input: "Refund order 17" } }] }, "Told."]),
    tools: [inside.asTool()],
    ...(approvals === undefined ? {} : { approvals }),
  });

describe("approvals as a function of the question's run", () => {
  it.each([
    ["of the agent", () => clerk().with({ approvals: byAnother })],
    ["of the agent around it", () => boss(clerk(), byAnother)],
    [
      "of an agent inside, which knows the outermost run",
      () => boss(clerk().with({ approvals: byAnother }), undefined),
    ],
  ])("keeps the one who began the run from answering: %s", async (_, make) => {
    askers.length = 0;
    const one = make();
    const store = memoryRuns();
    const server = serve({
      store,
      agents: [one],
      principals: ({ headers }) => ({ name: headers.get("x-user") ?? "" }),
    });
    const send = (path: string, body: object): Promise<Response> =>
      server.fetch(
        new Request(`https://desk.example${path}`, {
          method: "POST",
          headers: { "x-user": "ada" },
          body: JSON.stringify(body),
        }),
      );
    await send("/runs", { agent: one.name, input: "Refund order 17", id: "r" });
    const runs = durableRuns({ store, agents: [one] });
    await expect.poll(() => runs.waiting()).toHaveLength(1);
    const [question] = await runs.waiting();
    if (question === undefined) throw new Error("nothing waits");
    expect(question.by).toEqual(["kim"]);
    const { key, request } = question;
    const yes = { approved: true, hash: request.hash };
    const own = await send("/runs/r/answers", { key, ...yes });
    expect([own.status, await own.json()]).toMatchObject([403, { code: "question-forbidden" }]);
    await runs.answer("ada/r", key, { ...yes, by: "kim" });
    expect(await runs.result("ada/r")).toMatchObject({ outcome: { type: "answered" } });
    expect(new Set(askers)).toEqual(new Set(["ada/r"]));
    await server.drain();
  });
});
