import { HttpAgent } from "@ag-ui/client";
import { expect, it } from "vitest";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import { ask, events, questionsOf, runsFile, serving, told, until, web } from "./scene.ts";

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
  const misspelt = { approved: true, args: { to: "Bob" } };
  const wrong = await page({ resume: answers(yes, misspelt) });
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("args")]);
  const twice = [...answers(yes, yes), ...answers({ approved: false })].slice(0, 3);
  expect((await page({ resume: twice })).status).toBe(400);
  expect(await questionsOf(server)).toHaveLength(2);
  expect(await (await page({ resume: answers(yes, yes) })).text()).toContain("Done.");
  expect(pay.calls).toHaveLength(2);
});

it("gives a run the results of a page's tools that come with the next message", async () => {
  const guide = agent({
    name: "guide",
    model: ({ messages }) => {
      const results = messages.filter(({ role }) => role === "tool");
      if (messages.at(-1)?.role === "user" && JSON.stringify(messages.at(-1)).includes("Thanks"))
        return "Bye.";
      return results.length === 0 ? { calls: [{ name: "open_page" }] } : `Opened: ${JSON.stringify(results)}`;
    },
  });
  const sessions = inMemorySessions();
  const server = serving(runsFile(), { agents: [guide], sessions: (id) => session(sessions, id) });
  const page = async (messages: readonly object[]) => {
    const tools = [{ name: "open_page", description: "", parameters: { type: "object" } }];
    const body = { threadId: "t", runId: "r", tools, messages };
    return Array.fromAsync(events(await ask(server, "POST /v1/agui/guide", { body })));
  };
  const show = { id: "m1", role: "user", content: "Show" };
  const { outcome } = (await page([show])).at(-1) as unknown as {
    readonly outcome: { readonly pendingToolCallIds: readonly [string] };
  };
  const [toolCallId] = outcome.pendingToolCallIds;
  const result = { id: "x1", role: "tool", toolCallId, content: "seen by Kim" };
  const thanks = { id: "m2", role: "user", content: "Thanks" };
  expect(JSON.stringify(await page([show, result, thanks]))).toContain("Bye.");
  const first = await until(async () => {
    const run = await told(ask(server, `GET /runs/${encodeURIComponent("agui/guide/t/m1")}`));
    return run.end !== undefined && run;
  });
  expect(JSON.stringify(first.end)).toContain("seen by Kim");
});

it("answers a message that comes together with the answers of a page of AG-UI", async () => {
  const pay = fakeTool("pay", "paid");
  const clerk = agent({
    name: "clerk",
    tools: [pay],
    policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
    model: ({ messages }) => {
      if (messages.at(-1)?.role === "tool") return "Refused.";
      return JSON.stringify(messages.at(-1)).includes("Pay") ? { calls: [{ name: "pay" }] } : "At nine.";
    },
  });
  const server = serving(runsFile(), { agents: [clerk] });
  const asked = { id: "m", role: "user", content: "Pay" };
  const page = (more: object) =>
    ask(server, "POST /v1/agui/clerk", { body: { threadId: "t", runId: "r", messages: [asked], ...more } });
  const { outcome } = (await Array.fromAsync(events(await page({})))).at(-1) as unknown as Shown;
  const resume = outcome.interrupts.map(({ id: interruptId }) => ({ interruptId, status: "cancelled" }));
  const later = { id: "n", role: "user", content: "No. When do you open?" };
  const told = await (await page({ messages: [asked, later], resume })).text();
  expect(told).toContain("At nine.");
  expect(await questionsOf(server)).toEqual([]);
  expect(pay.calls).toEqual([]);
});

it("puts a page of AG-UI right whose results came second: two pages that answer at once, also one call each", async () => {
  const guide = agent({
    name: "guide",
    model: ({ messages }) => {
      const results = messages.flatMap((one) => (one.role === "tool" ? [/page \d/.exec(one.text)?.[0]] : []));
      const calls = ["/17", "/18"].map((path) => ({ name: "open_page", arguments: { path } }));
      return results.length === 0 ? { calls } : `Opened: ${results.join()}`;
    },
  });
  const file = runsFile();
  const servers = [0, 1].map(() => serving(file, { agents: [guide] }));
  const tools = [{ name: "open_page", description: "Opens a page", parameters: { type: "object" } }];
  const pageOf = (threadId: string, nth: number) =>
    new HttpAgent({
      url: "http://localhost/v1/agui/guide",
      threadId,
      headers: web,
      fetch: async (url, init) => (servers[nth] ?? serving(file)).fetch(new Request(url, init)),
    });
  for (const [round, given] of [[0, 1], [0, 1], [0, 1], [0]].entries()) {
    const first = pageOf(`t${round}`, 0);
    first.addMessage({ id: "u", role: "user", content: "Show" });
    await first.runAgent({ tools });
    const calls = first.messages.flatMap((one) => ("toolCalls" in one ? (one.toolCalls ?? []) : []));
    expect(calls).toHaveLength(2);
    const second = pageOf(`t${round}`, 1);
    second.setMessages(structuredClone(first.messages));
    const pages = [first, second];
    const ends = await Promise.all(
      pages.map(async (page, nth) => {
        // In the last round each page has the result of one call.
        const own = given.length === 2 ? calls : calls.slice(nth, nth + 1);
        for (const { id } of own)
          page.addMessage({ id: `${nth}${id}`, role: "tool", toolCallId: id, content: `page ${nth}` });
        return (await page.runAgent({ tools })).result as unknown;
      }),
    );
    const last = pages.map((page) =>
      page.messages.flatMap((one) =>
        one.role === "tool" && typeof one.content === "string" ? [one.content] : [],
      ),
    );
    const said = ends.find((end) => end !== undefined);
    for (const shown of last.filter((_, nth) => ends[nth] !== undefined))
      expect(`Opened: ${shown.toSorted().join()}`, `round ${round}`).toBe(said);
    if (given.length === 1) expect(said).toBe("Opened: page 0,page 1");
  }
});
