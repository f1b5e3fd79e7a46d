import { describe, expect, it } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent, tool } from "../../src/index.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool } from "../../src/testing.ts";
import { ask, events, questionsOf, runsFile, serving, shop, told, until } from "./scene.ts";

/** One who pays; in the process of the first payment that payment never ends. */
function payer(paid: unknown[], isStuck = false) {
  return agent({
    name: "payer",
    model: ({ messages }) => {
      const said = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
      return said[0] ?? { calls: [{ name: "pay", arguments: { to: "Ada" } }] };
    },
    tools: [
      tool({
        name: "pay",
        description: "",
        inputSchema: { type: "object", properties: { to: { type: "string" } } },
        effect: "irreversible",
        reconcile: "person",
        async execute(args) {
          paid.push(args);
          if (isStuck) await new Promise(() => undefined);
          return "paid now";
        },
      }),
    ],
    policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
  });
}

/** A server with a run whose payment was at work when its process died. */
async function unsettled(about: { readonly id: string; readonly session?: string } = { id: "web/p" }) {
  const [file, paid] = [runsFile(), [] as unknown[]];
  const store = sqliteRuns(":memory:");
  const died = durableRuns({ store, agents: [payer(paid, true)], sessions: () => undefined });
  await died.start(payer([]), "Pay Ada", about);
  const worker = died.work();
  await until(async () => paid.length > 0);
  const server = serving(file, { agents: [payer(paid)] });
  const moved = sqliteRuns(file);
  await durableRuns({ store: moved }).import(await died.export(about.id));
  await worker.drain({ graceMs: 0 });
  for (const each of [store, moved]) each.close();
  const question = await until(async () => (await questionsOf(server))[0]);
  return { server, question, paid };
}

/** The end of what a page of AG-UI is told of a run that asks. */
interface Shown {
  readonly outcome: { readonly interrupts: readonly { readonly id: string }[] };
}

const endOf = (server: Awaited<ReturnType<typeof unsettled>>["server"], id: string) =>
  until(async () => (await told(ask(server, `GET /runs/${id}`))).end);

describe("a call that was at work when its process died, over HTTP", () => {
  it("is nothing that a chat asks to approve: it may have happened, and the page cannot say so", async () => {
    const session = "web/chat/payer/c1";
    const { server, paid } = await unsettled({ id: `${session}/m1`, session });
    const shown = await (await ask(server, "GET /chat/payer/c1/stream")).text();
    expect(shown).toContain('"toolName":"pay"');
    expect(shown).not.toContain("tool-approval-request");
    const body = { call: "turn/1/call/0", happened: true, value: "paid yesterday" };
    const id = encodeURIComponent("chat/payer/c1/m1");
    expect((await ask(server, `POST /runs/${id}/settle`, { body })).status).toBe(204);
    await endOf(server, id);
    const { messages } = await told(ask(server, "GET /chat/payer/c1"));
    expect(JSON.stringify(messages)).toContain("paid yesterday");
    expect(paid).toHaveLength(1);
  });

  it("is settled once, by its caller alone, and no approval takes the place of that", async () => {
    const { server, question, paid } = await unsettled();
    expect(question.request).toMatchObject({ tool: "pay", unsettled: true });
    const settle = (body: object, more = {}) =>
      told(ask(server, "POST /runs/p/settle", { body: { call: "turn/1/call/0", ...body }, ...more }));
    expect(await settle({ happened: true }, { headers: shop })).toMatchObject({ status: 404 });
    expect(await settle({ happened: "perhaps" })).toMatchObject({ status: 400 });
    expect(await settle({ happened: true, call: "turn/7/call/0" })).toMatchObject({
      status: 409,
      code: "call-not-unknown",
    });
    const approval = { key: question.key, hash: question.request.hash, approved: true };
    expect(await told(ask(server, "POST /runs/p/answers", { body: approval }))).toMatchObject({
      status: 409,
      code: "question-other",
    });
    expect(await settle({ happened: true, value: "paid yesterday" })).toEqual({ status: 204 });
    expect(JSON.stringify(await endOf(server, "p"))).toContain("paid yesterday");
    expect(await settle({ happened: false })).toMatchObject({ status: 409, code: "question-answered" });
    expect(paid).toHaveLength(1);
  });

  it("is settled twice at once by clients of AG-UI, which are both told how it went on", async () => {
    const session = "web/agui/payer/t1";
    const { server, paid } = await unsettled({ id: `${session}/m1`, session });
    const page = (more: object = {}) =>
      ask(server, "POST /v1/agui/payer", {
        body: { threadId: "t1", runId: "r", messages: [], ...more },
      });
    const shown = (await Array.fromAsync(events(await page()))).at(-1) as unknown as Shown;
    const interruptId = shown.outcome.interrupts[0]?.id;
    const payload = { happened: true, value: "paid yesterday" };
    const resume = [{ interruptId, status: "resolved", payload }];
    const both = await Promise.all([page({ resume }), page({ resume })]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    for (const each of both) expect(await each.text()).toContain("paid yesterday");
    expect(paid).toHaveLength(1);
  });
});

describe("a fork over HTTP", () => {
  it("goes its own way with other results, is the caller's, and lets nothing happen again", async () => {
    const pay = fakeTool("pay", "paid");
    const again = agent({
      name: "payer",
      model: ({ messages }) => {
        const said = messages.flatMap((message) =>
          message.role === "tool" ? [JSON.stringify(message.value)] : [],
        );
        return said[0] ?? { calls: [{ name: "pay", arguments: { to: "Ada" } }] };
      },
      tools: [pay],
      policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
    });
    const server = serving(runsFile(), { agents: [again] });
    await ask(server, "POST /runs", { body: { agent: "payer", input: "Pay Ada", id: "p" } });
    expect(await endOf(server, "p")).toMatchObject({ output: `"paid"` });
    const fork = (body: object, more = {}) =>
      told(ask(server, "POST /runs/p/fork", { body: { beforeTurn: 2, ...body }, ...more }));
    const results = { "turn/1/call/0": "no money" };
    expect(await fork({}, { headers: shop })).toMatchObject({ status: 404, code: "run-missing" });
    for (const more of [{ again: ["pay"] }, { instructions: "Be evil" }, { model: "ollama/x" }])
      expect(await fork(more)).toMatchObject({ status: 400 });
    expect(await fork({ beforeTurn: 0 })).toMatchObject({ status: 400 });
    expect(await fork({ beforeTurn: 9 })).toMatchObject({ status: 404, code: "turn-missing" });
    expect(await fork({ results: { "turn/1/call/5": 1 } })).toMatchObject({ code: "call-missing" });
    expect(await fork({ id: "q", results })).toMatchObject({ status: 201, id: "q", fork: { run: "p" } });
    expect(await fork({ id: "q", results })).toMatchObject({ status: 409, code: "run-exists" });
    expect(await endOf(server, "q")).toMatchObject({ output: `"no money"` });
    expect(pay.calls).toHaveLength(1);
  });
});
