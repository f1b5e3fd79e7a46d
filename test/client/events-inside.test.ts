import { expect, it, onTestFinished } from "vitest";
import { agent, type AgentEvent, isFact } from "../../src/index.ts";
import { runsClient } from "../../src/client.ts";
import { serve } from "../../src/server.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { principals, web } from "../server/scene.ts";

const calls = (name: string, args: Readonly<Record<string, string>> = {}) => ({
  calls: [{ name, arguments: args }],
});

function served() {
  const look = fakeTool("look", "seen", { effect: "read" });
  const reader = agent({
    name: "reader",
    description: "Reads.",
    model: scripted([calls("look"), "It is there."]),
    tools: [look],
    policy: () => ({ verdict: "ask", rule: "look", reason: "" }),
  });
  const boss = agent({
    name: "boss",
    model: scripted([calls("reader", { input: "a" }), "Done."]),
    tools: [reader.asTool()],
    policy: () => ({ verdict: "allow", rule: "all", reason: "" }),
  });
  const server = serve({ store: sqliteRuns(":memory:"), agents: [boss], principals });
  onTestFinished(() => server.drain());
  const asked: string[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    asked.push(request.url);
    return server.fetch(request);
  };
  return { asked, server, runs: runsClient({ url: "http://localhost", token: "web-token", fetch }) };
}

const shown = ({ agent: name, type, seq }: AgentEvent): string => `${name} ${type} ${seq}`;

it("tells a reader the facts of agents inside a run, as they happen, each once where it comes back in the middle", async () => {
  const { asked, server, runs } = served();
  await runs.start("boss", "Go", { id: "a/1" });
  const heard: AgentEvent[] = [];
  for await (const event of runs.events("a/1", { inside: true })) {
    heard.push(event);
    if (event.type === "approval-request") break; // it closes the connection, and comes back later
  }
  expect(heard.every(isFact)).toBe(true);
  expect(heard.at(-1)).toMatchObject({ agent: "reader", parentRunId: "a/1" });
  await expect.poll(() => runs.waiting("a/1")).toHaveLength(1); // it is listed when the worker has left the run
  const [question] = await runs.waiting("a/1");
  await runs.answer("a/1", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
  const known: Record<string, number> = {};
  for (const { runId, seq } of heard) known[runId] = seq;
  expect(Object.keys(known)).toHaveLength(2);
  for await (const event of runs.events("a/1", { inside: true, after: known })) heard.push(event);

  const all = await Array.fromAsync(runs.events("a/1", { inside: true }));
  const ofRun = (name: string, events: readonly AgentEvent[]): readonly string[] =>
    events.filter((event) => event.agent === name).map(shown);
  for (const name of ["boss", "reader"]) expect(ofRun(name, heard)).toEqual(ofRun(name, all));
  expect(all.at(-1)).toMatchObject({ type: "run-end", runId: "a/1" });
  const [inside] = all.flatMap(({ parentRunId, runId }) => (parentRunId === "a/1" ? [runId] : []));
  const delegations = all.flatMap((event) => ("delegation" in event ? [event.delegation.runId] : []));
  expect(delegations).toEqual([inside]); // its end: the beginning is told as it happens alone
  for (const { runId, seq } of all) known[runId] = seq;
  expect(await Array.fromAsync(runs.events("a/1", { inside: true, after: known }))).toEqual([]);
  expect((await Array.fromAsync(runs.events("a/1"))).every(({ agent: name }) => name === "boss")).toBe(true);

  // The id of each event is the place behind it, in every run: an EventSource sends it back as it was.
  const url = "http://localhost/runs/a%2F1/events?inside=true";
  const text = await (await server.fetch(new Request(url, { headers: web }))).text();
  const ids = [...text.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id);
  expect(ids).toHaveLength(all.length);
  const after = async (id: string): Promise<number> => {
    const response = await server.fetch(new Request(url, { headers: { ...web, "last-event-id": id } }));
    return response.status === 204 ? 0 : ((await response.text()).match(/^id: /gm)?.length ?? 0);
  };
  expect(await after(ids.at(-1) ?? "")).toBe(0);
  expect(await after(ids.at(-2) ?? "")).toBe(1);
  expect(asked.some((each) => each.includes("inside=true"))).toBe(true);
});

it("refuses a place that is none, and another run's", async () => {
  const { server, runs } = served();
  await runs.start("boss", "Go", { id: "a" });
  for (const place of ["x", "1,", "1,a%2F:x", "1,%:2", "1,b%2Fturn:2", "1,a:2", "1:2"]) {
    const asked = new Request("http://localhost/runs/a/events?inside=true", {
      headers: { ...web, "last-event-id": place },
    });
    const response = await server.fetch(asked);
    expect([place, response.status]).toEqual([place, 400]);
    expect(await response.json()).toMatchObject({ code: "request-invalid" });
  }
  const wrong = await server.fetch(
    new Request("http://localhost/runs/a/events?inside=yes", { headers: web }),
  );
  expect(wrong.status).toBe(400);
});
