import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ask, payer, questionsOf, runsFile, serving, talker, told, until, web } from "./scene.ts";

describe("the address of a run that was begun", () => {
  it.each(["", "/agents"])("leads to it, and so does that of a fork, under the path %o", async (path) => {
    const server = serving(runsFile(), { agents: [talker()], ...(path === "" ? {} : { path }) });
    const runs = `http://localhost${path}/runs`;
    const begun = await ask(server, `POST ${path}/runs`, {
      body: { agent: "talker", input: "Hi", id: "a b" },
    });
    expect(new URL(begun.headers.get("location") ?? "", runs).href).toBe(`${runs}/a%20b`);
    await until(async () => (await told(ask(server, `GET ${path}/runs/a%20b`))).end !== undefined);
    const fork = `${path}/runs/a%20b/fork`;
    const forked = await ask(server, `POST ${fork}`, { body: { beforeTurn: 1, id: "new" } });
    expect(forked.status).toBe(201);
    const place = new URL(forked.headers.get("location") ?? "", `http://localhost${fork}`);
    expect(place.href).toBe(`${runs}/new`);
  });

  it.each([
    ["id", "."],
    ["id", ".."],
    ["session", ".."],
    ["session", "\uD83D"],
  ])("is none with the %s %j: it is refused", async (field, name) => {
    const server = serving(runsFile(), { agents: [talker()], work: false });
    const body = { agent: "talker", input: "Hi", [field]: name };
    const refused = await told(ask(server, "POST /runs", { body }));
    expect(refused).toMatchObject({
      status: 400,
      code: "request-invalid",
      detail: expect.stringContaining(`\`${field}\``),
    });
    expect((await told(ask(server, "GET /runs"))).runs).toEqual([]);
  });
});

it("a parameter of a query that stands there twice is refused: nobody can say which one is meant", async () => {
  const server = serving(runsFile(), { agents: [talker()], work: false });
  const refused = await told(ask(server, "GET /runs?limit=1&limit=2"));
  expect(refused).toMatchObject({
    status: 400,
    detail: expect.stringContaining("`limit` stands there twice"),
  });
});

it("a body with a key twice in one object is refused: readers take the one or the other, and the later one was paid", async () => {
  const paid: unknown[] = [];
  const server = serving(runsFile(), { agents: [payer(paid)], mcp: {} });
  await ask(server, "POST /runs", { body: { agent: "payer", input: "Hi", id: "r" } });
  const [question] = await until(async () => {
    const questions = await questionsOf(server);
    return questions.length > 0 && questions;
  });
  const { key, request } = question ?? { key: "", request: { hash: "" } };
  const about = JSON.stringify({ key, hash: request.hash }).slice(0, -1);
  const call = `"jsonrpc":"2.0","id":1,"method":"tools/call"`;
  for (const [path, body, twice] of [
    ["/runs/r/answers", `${about},"approved":false,"approved":true}`, "approved"],
    ["/runs/r/answers", `${about},"approved":true,"arguments":{"to":"Ada","\\u0074o":"Eve"}}`, "to"],
    [
      "/v1/chat/completions",
      '{"model":"payer","messages":[{"role":"user","content":"a","content":"b"}]}',
      "content",
    ],
    ["/mcp", `{${call},"params":{"name":"pay","arguments":{"to":"Ada","to":"Eve"}}}`, "to"],
  ] as const) {
    const refused = await ask(server, `POST ${path}`, { body });
    expect([path, refused.status]).toEqual([path, 400]);
    expect(await refused.text()).toContain(
      `the key ${JSON.stringify(JSON.stringify(twice)).slice(1, -1)} twice`,
    );
  }
  expect(paid).toEqual([]);
});

describe("a body that is compressed", () => {
  const body = new Uint8Array(gzipSync(JSON.stringify({ agent: "talker", input: "Hi" })));

  it.each(["gzip", "GZIP, br"])("is refused as that: %s", async (encoding) => {
    const server = serving(runsFile(), { agents: [talker()], mcp: {}, work: false });
    const headers = { ...web, "content-encoding": encoding };
    for (const what of ["POST /runs", "POST /v1/chat/completions", "POST /mcp"]) {
      const refused = await ask(server, what, { body, headers });
      expect([what, refused.status]).toEqual([what, 415]);
      expect(refused.headers.get("accept-encoding")).toBe("identity");
      expect(await refused.text()).toMatch(/request-compressed.*/s);
    }
  });

  it("is not one that is called identity", async () => {
    const server = serving(runsFile(), { agents: [talker()], work: false });
    const headers = { ...web, "content-encoding": "identity" };
    const begun = await ask(server, "POST /runs", { body: { agent: "talker", input: "Hi" }, headers });
    expect(begun.status).toBe(201);
  });
});

describe("an idempotency key", () => {
  it.each([
    ["chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
    ["responses", { input: "Hi" }],
  ])("is as long as ids of runs at most, which a database would refuse: %s", async (path, asked) => {
    const server = serving(runsFile(), { agents: [talker()] });
    const body = { model: "talker", ...asked };
    const answer = (length: number) =>
      told(
        ask(server, `POST /v1/${path}`, { body, headers: { ...web, "idempotency-key": "k".repeat(length) } }),
      );
    expect(await answer(500)).toMatchObject({ status: 200 });
    expect(await answer(501)).toMatchObject({
      status: 400,
      error: {
        message: expect.stringContaining("`idempotency-key` cannot be taken: it has more than 500") as string,
      },
    });
  });
});
