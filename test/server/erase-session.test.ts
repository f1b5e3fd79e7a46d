import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { runsClient } from "../../src/client.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import type { SessionStore } from "../../src/session.ts";
import { postgresRuns, postgresSessions } from "../../src/postgres.ts";
import { hashToken, serve, type Server, type ServeOptions } from "../../src/server.ts";
import { sqliteRuns, sqliteSessions } from "../../src/sqlite.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { ask, payer, principals, runsFile, serving, shop, talker, told, until } from "./scene.ts";

/** Says how many messages it was sent, its own instructions not counted. */
const counter = agent({ name: "counter", model: ({ messages }) => `${messages.length}` });

type Stores = Pick<ServeOptions, "store" | "sessions"> & { readonly close: () => unknown };

function sqlite(): Stores & { readonly kept: SessionStore } {
  const file = runsFile();
  const [store, kept] = [sqliteRuns(file), sqliteSessions(file)];
  const close = (): void => [store, kept].forEach((one) => one.close());
  return { store, sessions: (id) => session(kept, id), kept, close };
}

function served({ close, store, sessions }: Stores, options: Partial<ServeOptions> = {}) {
  const server = serve({ store, sessions, principals, agents: [counter, talker(), payer()], ...options });
  onTestFinished(async () => {
    await server.drain({ graceMs: 0 });
    await close();
  });
  const say = async (input: string, id: string, given: object = {}): Promise<unknown> => {
    const body = { agent: "counter", input, id, session: "kim", ...given };
    await ask(server, "POST /runs", { body });
    return until(async () => (await told(ask(server, `GET /runs/${id}`))).end);
  };
  return { server, say };
}

async function forgetsAll(stores: Stores): Promise<void> {
  const { server, say } = served(stores);
  await say("I am Kim.", "a");
  expect(await say("Who am I?", "b")).toMatchObject({ output: "3" });
  expect(await told(ask(server, "DELETE /sessions/kim"))).toEqual({ status: 204 });
  expect((await told(ask(server, "GET /runs?session=kim"))).runs).toEqual([]);
  expect(await told(ask(server, "DELETE /sessions/kim"))).toMatchObject({
    status: 404,
    code: "session-missing",
    detail: 'There is no session "kim".',
  });
  expect(await say("Who am I?", "c")).toMatchObject({ output: "1" });
}

describe("a session that is deleted over HTTP", () => {
  it("is forgotten with its runs: SQLite", () => forgetsAll(sqlite()));

  it("is forgotten after its runs were, one by one, which leave the conversation", async () => {
    const { server, say } = served(sqlite());
    await say("I am Kim.", "a");
    expect((await ask(server, "DELETE /runs/a")).status).toBe(204);
    expect(await say("Who am I?", "b")).toMatchObject({ output: "3" });
    await ask(server, "DELETE /runs/b");
    expect((await ask(server, "DELETE /sessions/kim")).status).toBe(204);
    expect(await say("Who am I?", "c")).toMatchObject({ output: "1" });
  });

  it("is one of the caller: others have none of that name", async () => {
    const stores = sqlite();
    const { server, say } = served(stores);
    await say("I am Kim.", "a");
    expect(await told(ask(server, "DELETE /sessions/kim", { headers: shop }))).toMatchObject({ status: 404 });
    expect((await told(ask(server, "DELETE /sessions/kim", { headers: {} }))).status).toBe(401);
    expect(await stores.kept.list()).toEqual(["web/kim"]);
  });

  it("is not there for a caller who may not use the agent of one of its runs", async () => {
    const stores = sqlite();
    await served(stores).say("I am Kim.", "a");
    const only = [{ name: "web", tokens: [hashToken("web-token")], agents: ["talker"] }];
    const { server } = served({ ...stores, close: () => undefined }, { principals: only, work: false });
    expect(await told(ask(server, "DELETE /sessions/kim"))).toMatchObject({
      status: 404,
      code: "session-missing",
    });
    expect(await stores.kept.list()).toEqual(["web/kim"]);
  });

  it("whose runs are all gone is not there for a caller who may use some agents alone: it may be of another one", async () => {
    const stores = sqlite();
    const before = served(stores);
    await before.say("I am Kim.", "a");
    await ask(before.server, "DELETE /runs/a");
    const only = [{ name: "web", tokens: [hashToken("web-token")], agents: ["talker"] }];
    const { server } = served({ ...stores, close: () => undefined }, { principals: only, work: false });
    expect(await told(ask(server, "DELETE /sessions/kim"))).toMatchObject({
      status: 404,
      code: "session-missing",
    });
    expect(await stores.kept.list()).toEqual(["web/kim"]);
  });

  it("is forgotten for a caller who may use the agents of all its runs", async () => {
    const stores = sqlite();
    await served(stores).say("I am Kim.", "a");
    const only = [{ name: "web", tokens: [hashToken("web-token")], agents: ["counter"] }];
    const { server } = served({ ...stores, close: () => undefined }, { principals: only, work: false });
    expect(await told(ask(server, "DELETE /sessions/kim"))).toEqual({ status: 204 });
    expect(await stores.kept.list()).toEqual([]);
  });

  it("stays whole while one of its runs is at work", async () => {
    const gate = Promise.withResolvers<void>();
    const stores = sqlite();
    const { server, say } = served(stores, { agents: [counter, talker(gate.promise)] });
    await say("I am Kim.", "a");
    await ask(server, "POST /runs", { body: { agent: "talker", input: "Hi", id: "b", session: "kim" } });
    await until(async () => {
      const [run] = (await told(ask(server, "GET /runs?limit=1"))).runs;
      return run !== undefined && "status" in run && run.status === "running";
    });
    const refused = await told(ask(server, "DELETE /sessions/kim"));
    expect(refused.status).toBe(409);
    expect(["run-claimed", "session-busy"]).toContain(refused.code); // the run is taken a moment before it enters the session
    expect(await stores.kept.list()).toEqual(["web/kim"]);
    gate.resolve();
  });

  it("is its runs alone where the server keeps no conversations", async () => {
    const server = serving(runsFile(), { agents: [counter] });
    await ask(server, "POST /runs", { body: { agent: "counter", input: "Hi", id: "a", session: "kim/1" } });
    await until(async () => (await told(ask(server, "GET /runs/a"))).end);
    expect((await ask(server, "DELETE /sessions/kim%2F1")).status).toBe(204);
    expect((await told(ask(server, "GET /runs/a"))).status).toBe(404);
  });

  it("is refused, before anything is deleted, where its handle cannot delete it", async () => {
    const kept = inMemorySessions();
    const handle = Object.assign(session(kept, "web/kim"), { erase: undefined });
    const { server, say } = served({ ...sqlite(), sessions: () => handle });
    await say("I am Kim.", "a");
    expect(await told(ask(server, "DELETE /sessions/kim"))).toMatchObject({ status: 500 });
    expect((await told(ask(server, "GET /runs?session=kim"))).runs).toHaveLength(1);
  });

  it("is so by the client", async () => {
    const stores = sqlite();
    const { server, say } = served(stores);
    await say("I am Kim.", "a");
    const fetch: typeof globalThis.fetch = (...given) => server.fetch(new Request(...given));
    await runsClient({ url: "http://localhost", token: "web-token", fetch }).eraseSession("kim");
    expect(await stores.kept.list()).toEqual([]);
  });
});

/** Deletes the session of Kim, which has one run; meanwhile, before or after its runs are erased, `begin` begins another run. */
async function interrupted(when: "before" | "after", begin: (server: Server) => Promise<unknown>) {
  const gate = Promise.withResolvers<void>();
  const stores = sqlite();
  const { server, say } = served(stores, { agents: [counter, talker(gate.promise)] });
  await say("I am Kim.", "a");
  const erase = stores.store.erase.bind(stores.store);
  vi.spyOn(stores.store, "erase").mockImplementation(async (which) => {
    const isDeleting = "session" in which;
    if (isDeleting && when === "before") await begin(server);
    const count = await erase(which);
    if (isDeleting && when === "after") await begin(server);
    return count;
  });
  const deleted = await told(ask(server, "DELETE /sessions/kim"));
  gate.resolve();
  await until(async () => (await told(ask(server, "GET /runs/b"))).end);
  return { say, deleted };
}

async function begins(server: Server): Promise<void> {
  await ask(server, "POST /runs", { body: { agent: "talker", input: "Hi", id: "b", session: "kim" } });
  await until(async () => (await told(ask(server, "GET /runs?status=running"))).runs[0]);
  await new Promise((resolve) => setTimeout(resolve, 50)); // it would have read the conversation by now
}

describe("a run that begins while its session is deleted", () => {
  it("has a whole conversation, the new one: runs erased before", async () => {
    const { say, deleted } = await interrupted("after", begins);
    expect(deleted).toEqual({ status: 204 });
    expect(await say("Who am I?", "c")).toMatchObject({ output: "3" });
  });

  it("has a whole conversation, the old one, and the deletion is refused: runs not erased yet", async () => {
    const { say, deleted } = await interrupted("before", begins);
    expect(deleted).toMatchObject({ status: 409, code: "run-claimed" });
    expect(await say("Who am I?", "c")).toMatchObject({ output: "5" });
  });
});

describe.skipIf(postgresMissing() !== undefined)("a session in PostgreSQL that is deleted over HTTP", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.close());

  it("is forgotten with its runs", async () => {
    const [store, kept] = [postgresRuns(postgres.url), postgresSessions(postgres.url)];
    const close = async (): Promise<void> => {
      await store[Symbol.asyncDispose]();
      await kept[Symbol.asyncDispose]();
    };
    await forgetsAll({ store, sessions: (id) => session(kept, id), close });
  });
});
