import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeHost } from "../../src/adapters/clock.ts";
import { durableRuns, memoryRuns, type RunStore } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { type Inspector, inspectorOf } from "../../src/inspect/inspector.ts";
import type { TriedCall } from "../../src/inspect/view.ts";
import { fakeTool } from "../../src/testing.ts";
import { answered, clerk, waitingRun } from "../unit/inspect/scene.ts";

const token = "a-token-that-nobody-guesses";

async function inspect(store: RunStore, agents = [clerk()]): Promise<Inspector> {
  const inspector = await inspectorOf({
    store,
    agents,
    token,
    place: "runs.db",
    by: "kim",
    works: false,
    host: nodeHost,
    onError: (error) => {
      throw error;
    },
  });
  onTestFinished(() => inspector.drain());
  return inspector;
}

const bearer = { authorization: `Bearer ${token}` };

interface Asked {
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Asks an inspector, with its token where nothing else is said. */
function ask(
  { fetch }: Inspector,
  path: string,
  { host = "127.0.0.1:9", headers = bearer, body }: Asked = {},
): Promise<Response> {
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  return fetch(new Request(`http://${host}${path}`, { ...sent, headers }));
}

const tried = { tool: "send_mail", arguments: {}, asked: "", mode: "judge" };

describe("an inspector", () => {
  it.each([
    ["no token", "/api/runs", { headers: {} }, 401],
    ["another token", "/api/runs", { headers: { authorization: "Bearer no" } }, 401],
    ["the token in the address alone", `/api/runs?token=${token}`, { headers: {} }, 401],
    ["another name for this machine", "/api/runs", { host: "rebound.example:9" }, 403],
    [
      "a page of another origin",
      "/api/runs",
      { headers: { ...bearer, origin: "https://evil.example" } },
      403,
    ],
    ["a path that is not there", "/api/secrets", {}, 404],
    ["a file beside its own", "/..%2f..%2fpackage.json", {}, 404],
    ["a run that is not there", "/api/run?id=none", {}, 404],
    ["a part of the query that it has not", "/api/run?id=mail-1&all=yes", {}, 400],
    ["an answer without a token", "/api/answer?id=mail-1", { headers: {}, body: {} }, 401],
    ["a call that is tried without a token", "/api/play/call?agent=clerk", { headers: {}, body: {} }, 401],
    ["a call that is tried of no known agent", "/api/play/call?agent=none", { body: tried }, 403],
    [
      "a call that is tried in no known way",
      "/api/play/call?agent=clerk",
      { body: { ...tried, mode: "do" } },
      400,
    ],
    ["an answer that is none", "/api/answer?id=mail-1", { body: { approved: "yes" } }, 400],
  ] as readonly (readonly [string, string, Asked, number])[])(
    "answers %s with its status",
    async (...row) => {
      const [, path, asked, status] = row;
      const inspector = await inspect(await waitingRun());
      expect((await ask(inspector, path, asked)).status).toBe(status);
    },
  );

  it("keeps no stream open for who asks for the head of it alone", async () => {
    const { fetch } = await inspect(memoryRuns());
    const changes = (method: string) =>
      fetch(new Request("http://127.0.0.1:9/api/changes", { method, headers: bearer }));
    for (let count = 0; count < 1000; count += 1) expect((await changes("HEAD")).status).toBe(200);
    const { status, body } = await changes("GET");
    await body?.cancel();
    expect(status).toBe(200);
  });

  it("serves its page to whoever reaches it, with no secret in it and nothing from elsewhere", async () => {
    const inspector = await inspect(await waitingRun());
    const page = await ask(inspector, "/", { headers: {} });
    const text = await page.text();
    expect(text).not.toContain(token);
    expect(text).not.toContain("mail-1");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(text.match(/(?:src|href)="[^"]+"/g)).toEqual(['href="/page.css"', 'src="/page.js"']);
  });

  it("has a page of at most 90 kB, compressed", async () => {
    const inspector = await inspect(await waitingRun());
    const parts = ["/", "/page.js", "/page.css"].map(async (path) => {
      const answer = await ask(inspector, path, { headers: {} });
      return gzipSync(await answer.bytes()).length;
    });
    const bytes = (await Promise.all(parts)).reduce((sum, each) => sum + each, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(90_000);
  });

  it("may only look where it has no program of the agent", async () => {
    const store = await waitingRun();
    const inspector = await inspect(store, []);
    const [question] = await store.questions();
    const body = { key: question?.key, hash: question?.request.hash, approved: true };
    const refused = await ask(inspector, "/api/answer?id=mail-1", { body });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("writ inspect agent.ts");
    expect(await store.questions()).toHaveLength(1);
  });

  it("keeps an answer under the name of whoever started it, and refuses one to another call", async () => {
    const store = await waitingRun();
    const inspector = await inspect(store);
    const [question] = await store.questions();
    const body = { key: question?.key ?? "", hash: "of another call", approved: true };
    expect((await ask(inspector, "/api/answer?id=mail-1", { body })).status).toBe(409);
    const right = { ...body, hash: question?.request.hash };
    expect((await ask(inspector, "/api/answer?id=mail-1", { body: right })).status).toBe(204);
    const kept = (await store.records("mail-1")).find(({ key }) => key === question?.key);
    expect(JSON.parse(kept?.json ?? "{}")).toMatchObject({ approved: true, by: "kim" });
  });

  it("finds runs by words of what was recorded of them", async () => {
    const store = await waitingRun();
    await answered(store, false);
    const inspector = await inspect(store);
    const found = async (text: string): Promise<unknown> =>
      (await ask(inspector, `/api/search?text=${encodeURIComponent(text)}`)).json();
    await expect.poll(() => found("what does it COST"), { timeout: 30_000 }).toEqual({ ids: ["mail-1"] });
    expect(await found("zebras and giraffes")).toEqual({ ids: [] });
  });

  it("forgets a run that was erased, and tells its readers", async () => {
    const store = await waitingRun();
    const inspector = await inspect(store);
    const search = async (): Promise<unknown> => (await ask(inspector, "/api/search?text=cost")).json();
    await expect.poll(search, { timeout: 60_000 }).toEqual({ ids: ["mail-1"] });
    const changes = (await ask(inspector, "/api/changes")).body?.pipeThrough(new TextDecoderStream());
    let told = "";
    void changes?.pipeTo(new WritableStream({ write: (text) => void (told += text) })).catch(() => undefined);
    await store.erase({ id: "mail-1" });
    await expect.poll(() => told, { timeout: 60_000 }).toContain('{"runs":[],"erased":["mail-1"]}');
    expect(await search()).toEqual({ ids: [] });
    expect(await (await ask(inspector, "/api/runs")).json()).toMatchObject({ runs: [] });
  });

  it("says what another policy would say of the calls of a run, and calls nothing", async () => {
    const store = await waitingRun();
    const inspector = await inspect(store);
    const before = await store.records("mail-1");
    const rules = [{ verdict: "deny", tools: ["read_mail"], because: "mails are private" }];
    const tried = async (policy: unknown): Promise<Response> =>
      ask(inspector, "/api/try-policy?id=mail-1", { body: { policy } });
    const { calls } = (await (await tried({ name: "mine", rules })).json()) as {
      calls: readonly TriedCall[];
    };
    expect(calls.map(({ tool, was, would }) => `${tool} ${was.verdict} ${would.verdict}`)).toEqual([
      "read_mail allow deny",
      "find_order allow allow",
      "send_mail ask deny", // no rule allows it
    ]);
    expect(await store.records("mail-1")).toEqual(before);
    const refused = await tried({ name: "mine", rules: [{ verdict: "maybe" }] });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("rules[0]");
    const own = await (await ask(inspector, "/api/policy?agent=clerk")).json();
    expect(own).toEqual({ name: "sensible" });
  });

  it("says where a replay with another program is first not as recorded", async () => {
    const store = await waitingRun();
    const replay = async (agents: readonly ReturnType<typeof clerk>[]): Promise<Response> =>
      ask(await inspect(store, [...agents]), "/api/replay?id=mail-1");
    expect(await (await replay([clerk()])).json()).not.toHaveProperty("difference");
    const other = await replay([clerk().with({ instructions: "You are a pirate." })]);
    expect(await other.json()).toMatchObject({ difference: { at: "turn/1/model" } });
    expect((await replay([])).status).toBe(403);
  });

  it("exports a run as a page that may load nothing, in which no text of a run is code", async () => {
    const store = await waitingRun();
    const inspector = await inspect(store, [
      clerk().with({ instructions: "</script><script>alert(1)</script>" }),
    ]);
    const page = await (await ask(inspector, "/api/export?id=mail-1")).text();
    expect(page).toMatch(/default-src 'none'.*script-src 'sha256-[\w+/]+=*'; style-src 'sha256-/);
    expect(page).not.toContain("<script>alert");
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page).toContain("eve@example.net");
  });

  it("ends a run of its playground at once that was cancelled elsewhere", async () => {
    const store = memoryRuns();
    let asked: AbortSignal | undefined;
    const slow = agent({
      name: "slow",
      model: (_request, { signal }) => {
        asked = signal;
        return new Promise(() => undefined);
      },
    });
    const inspector = await inspect(store, [slow]);
    const body = { said: [{ by: "user", text: "Hi" }] };
    const begun = await ask(inspector, "/api/play/chat?agent=slow", { body });
    const { id } = (await begun.json()) as { id: string };
    await expect.poll(() => asked).toBeDefined();
    await store.cancel(id, "not this");
    await expect.poll(() => asked?.aborted, { timeout: 10_000 }).toBe(true);
  });

  it("hands the runs of its playground over when it ends, and begins no more", async () => {
    const store = memoryRuns();
    const gate = Promise.withResolvers<object>();
    let asked = 0;
    const pay = fakeTool("pay", "paid");
    const slow = agent({
      name: "slow",
      model: () => ((asked += 1), gate.promise),
      tools: [pay],
    });
    const inspector = await inspect(store, [slow]);
    const body = { said: [{ by: "user", text: "Pay" }] };
    const begun = await ask(inspector, "/api/play/chat?agent=slow", { body });
    const { id } = (await begun.json()) as { id: string };
    await expect.poll(() => asked).toBe(1);
    const drained = inspector.drain();
    gate.resolve({ calls: [{ name: "pay", arguments: {} }] });
    await drained;
    expect((await store.read(id))?.status).toBe("ready");
    expect((await ask(inspector, "/api/play/chat?agent=slow", { body })).status).toBe(503);
    expect({ asked, calls: pay.calls.length }).toEqual({ asked: 1, calls: 0 });
  });

  it("tells of a run of its playground that another worker was faster to take", async () => {
    const store = memoryRuns();
    const gate = Promise.withResolvers<string>();
    const slow = agent({ name: "slow", model: () => gate.promise });
    const runs = durableRuns({ store, agents: [slow] });
    await using _worker = runs.work();
    const taking = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== "open") return typeof value === "function" ? value.bind(target) : value;
        return async (id: string) => {
          await expect.poll(async () => (await target.read(id))?.status).toBe("running");
          return target.open(id);
        };
      },
    });
    const inspector = await inspect(taking, [slow]);
    const body = { said: [{ by: "user", text: "Hi" }] };
    const begun = await ask(inspector, "/api/play/chat?agent=slow", { body });
    expect(begun.status).toBe(201);
    const { id } = (await begun.json()) as { id: string };
    gate.resolve("Done.");
    expect(await runs.result(id)).toMatchObject({ output: "Done." });
  });
});
