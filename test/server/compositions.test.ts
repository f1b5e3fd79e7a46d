import { expect, describe, it } from "vitest";
import { pipe } from "../../src/compose.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import type { Server } from "../../src/server.ts";
import { ask, runsFile, serving, told, web } from "./scene.ts";

/** A server that keeps conversations, with one agent and agents put together. Each tells how many messages it was asked. */
function keeping(): Server {
  const counting = (name: string) => agent({ name, model: ({ messages }) => `${name} ${messages.length}` });
  const sessions = inMemorySessions();
  const council = pipe(counting("first"), counting("second")).with({ name: "council" });
  return serving(runsFile(), {
    agents: [counting("clerk"), council],
    sessions: (id) => session(sessions, id),
  });
}

const part = (text: string) => ({ type: "text", text });

/** Says something in a chat, a thread and a context of an agent, and gives what was answered. */
const doors: Readonly<Record<string, (server: Server, name: string, place: number) => Promise<Response>>> = {
  "a chat": (server, name, place) => {
    const messages = [{ id: `m${place}`, role: "user", parts: [part("Hi")] }];
    return ask(server, `POST /chat/${name}`, { body: { id: "c1", messages } });
  },
  "a thread of AG-UI": (server, name, place) => {
    const messages = [{ id: `m${place}`, role: "user", content: "Hi" }];
    const body = { threadId: "c1", runId: `r${place}`, messages, tools: [], context: [], state: {} };
    return ask(server, `POST /v1/agui/${name}`, { body });
  },
  "a context of A2A": (server, name, place) => {
    const message = { messageId: `m${place}`, contextId: "c1", role: "ROLE_USER", parts: [{ text: "Hi" }] };
    const body = { jsonrpc: "2.0", id: place, method: "SendMessage", params: { message } };
    return ask(server, `POST /v1/a2a/${name}`, { body, headers: { ...web, "a2a-version": "1.0" } });
  },
};

describe("agents put together, behind a server with sessions", () => {
  it.each(Object.entries(doors))("answer each message of %s by itself", async (_door, say) => {
    const server = keeping();
    const answer = async (name: string, place: number) => (await say(server, name, place)).text();
    expect(await answer("clerk", 1)).toContain("clerk 1");
    expect(await answer("clerk", 2)).toContain("clerk 3"); // it was told what was said before
    expect(await answer("council", 1)).toContain("second 1");
    expect(await answer("council", 2)).toContain("second 1");
  });

  it("have the messages of a chat, which a page reads again", async () => {
    const server = keeping();
    for (const place of [1, 2]) await (await doors["a chat"]?.(server, "council", place))?.text();
    const { messages = [] } = await told(ask(server, "GET /chat/council/c1"));
    expect(messages.map(({ role, parts }) => [role, parts.at(-1)])).toMatchObject([
      ["user", part("Hi")],
      ["assistant", part("second 1")],
      ["user", part("Hi")],
      ["assistant", part("second 1")],
    ]);
  });

  it("refuse the session of a run that names one: it would not be told what was said before", async () => {
    const server = keeping();
    const start = (more: object) =>
      ask(server, "POST /runs", { body: { agent: "council", input: "Hi", ...more } });
    const refused = await start({ session: "s1" });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/`session`.*council.*no conversation/);
    expect((await start({})).status).toBe(201);
  });

  it("refuse the skill of a run that names one, before it begins", async () => {
    const server = keeping();
    const body = { agent: "council", input: "Hi", skill: "first" };
    const refused = await told(ask(server, "POST /runs", { body }));
    expect(refused).toMatchObject({
      status: 400,
      code: "run-option-unusable",
      detail: expect.stringMatching(/"council".*`skill`.*no skill of its own/),
    });
    expect((await told(ask(server, "GET /runs"))).runs).toEqual([]);
  });
});
