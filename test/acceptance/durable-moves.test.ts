import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { agent, inMemorySessions, type Policy, session, tool } from "../../src/index.ts";
import { durableRuns, type DurableRuns, memoryRuns, type RunStore } from "../../src/durable.ts";
import type { ModelRequest } from "../../src/models.ts";
import { postgresRuns } from "../../src/postgres.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { randomFrom } from "../random.ts";

type PlannedCall = readonly [name: string, to: string];
let log: string[] = [];

/** A model that makes the planned calls, turn by turn, then answers; only the conversation decides. */
const planned =
  (who: string, ...turns: readonly (readonly PlannedCall[])[]) =>
  async ({ messages }: Pick<ModelRequest, "messages">) => {
    const turn = messages.filter(({ role }) => role === "assistant").length;
    log.push(`model ${who} ${turn}`);
    await sleep(2);
    const given = (name: string, to: string): Record<string, string> =>
      name.startsWith("kid") ? { input: to } : { to };
    const calls = turns[turn]?.map(([name, to]) => ({ name, arguments: given(name, to) }));
    return calls === undefined ? "done" : { calls };
  };
const acting = (name: string, effect: "read" | "irreversible") =>
  tool({
    name,
    description: "",
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    effect,
    async execute({ to }: { to?: unknown }) {
      const line = `${name} ${String(to)}`;
      log.push(line);
      await sleep(3);
      return line;
    },
  });
const [look, pay] = [acting("look", "read"), acting("pay", "irreversible")];
const kid = (name: string) =>
  agent({ name, model: planned(name, [["look", name]], [["pay", name]]), tools: [look, pay] }).asTool();
const asks: Policy = ({ tool: name, arguments: args }) =>
  name === "pay" && JSON.stringify(args).includes("asked")
    ? { verdict: "ask", rule: "asks", reason: "a person decides" }
    : { verdict: "allow", rule: "free", reason: "" };
const boss = agent({
  name: "boss",
  model: planned(
    "boss",
    [
      ["look", "a"],
      ["pay", "a"],
      ["look", "b"],
    ],
    [
      ["kid1", "x"],
      ["kid2", "y"],
    ],
    [
      ["pay", "asked"],
      ["look", "c"],
    ],
  ),
  tools: [look, pay, kid("kid1"), kid("kid2")],
  policy: asks,
  budget: { toolCalls: 20 },
});

type OpenStore = RunStore & { readonly close: () => unknown };
const folder = mkdtempSync(join(tmpdir(), "writ-moves-"));
let server: PostgresServer | undefined;
let cleanUp: (() => unknown)[] = [];
beforeAll(async () => {
  if (postgresMissing() === undefined) server = await startPostgres();
});
afterEach(async () => {
  for (const each of cleanUp.toReversed()) await each();
  cleanUp = [];
});
afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Durable runs with a worker of their own. */
function working(store: OpenStore): DurableRuns {
  const runs = durableRuns({ store, agents: [boss], keep: false });
  const worker = runs.work();
  cleanUp.push(
    () => store.close(),
    () => worker.drain({ graceMs: 2000 }),
  );
  return runs;
}

/** Waits until a run has so many records, and says whether it came so far. */
async function recorded(store: RunStore, count: number): Promise<boolean> {
  for (;;) {
    if ((await store.records("r")).length >= count) return true;
    const run = await store.read("r");
    if (run === undefined || run.end !== undefined) return false;
    for (const { runId, key, request } of await store.questions("r"))
      await store.answer(runId, key, { approved: true, hash: request.hash }).catch(() => undefined);
    await sleep(1);
  }
}

const count = (line: string): number => log.filter((each) => each === line).length;

/** The model calls and tool calls that are recorded with a result, as the log names them. */
function committedIn(text: string): readonly string[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const { record } = JSON.parse(line) as { record?: { key: string; json?: string } };
      if (record?.json === undefined) return [];
      const turn = /(?:^|(?<kid>kid\d)~\w+\/\d+\/)turn\/(?<turn>\d+)\/model$/.exec(record.key)?.groups;
      if (turn !== undefined) return [`model ${turn["kid"] ?? "boss"} ${Number(turn["turn"]) - 1}`];
      const text = /"text":"((?:look|pay) \w+)"/.exec(record.json)?.[1];
      return /call\/\d+$/.test(record.key) && text !== undefined ? [text] : [];
    });
}

/** Each has two points. */
const rounds = Number(process.env["MOVES"] ?? 15);

describe("a run that is moved between stores", () => {
  it("goes on elsewhere and back: 30 random points, no recorded step again, the old owner fenced", async ({
    skip,
  }) => {
    skip(server === undefined, "PostgreSQL is not here");
    const next = randomFrom(Number(process.env["SEED"] ?? 7));
    let [moves, looked] = [0, 0];
    for (let round = 0; round < rounds; round += 1) {
      log = [];
      const file: OpenStore = sqliteRuns(join(folder, `runs-${round}.db`));
      const database: OpenStore = postgresRuns(server?.url, { schema: `moves ${round}`, connections: 3 });
      const [here, there] = [working(file), working(database)];
      await here.start(boss, "Go", { id: "r" });
      const points = [1 + Math.floor(next() * 14), 2 + Math.floor(next() * 18)].toSorted(
        (one, other) => one - other,
      );
      const hops = [
        { from: here, at: file, to: there },
        { from: there, at: database, to: here },
      ] as const;
      let last: readonly [DurableRuns, RunStore] = [here, file];
      for (const [hop, { from, at, to }] of hops.entries()) {
        if (!(await recorded(at, points[hop] ?? 0))) break;
        const text = await from.export("r");
        const committed = committedIn(text).map((line) => [line, count(line)]);
        await to.import(text);
        await expect(to.import(text)).rejects.toMatchObject({ code: "run-exists" });
        [moves, looked] = [moves + 1, looked + committed.length];
        last = [to, hop === 0 ? database : file];
        await sleep(next() * 20); // what the old owner still does
        expect(
          committed.map(([line]) => [line, count(String(line))]),
          `round ${round}`,
        ).toEqual(committed);
        cleanUp.push(() =>
          expect(
            committed.map(([line]) => [line, count(String(line))]),
            `round ${round}`,
          ).toEqual(committed),
        );
      }
      const [runs, store] = last;
      await recorded(store, Infinity);
      const end = await runs.result("r");
      expect(end.outcome, `round ${round}`).toMatchObject({ type: "answered", content: "done" });
      for (const line of new Set(log.filter((each) => each.startsWith("pay "))))
        expect([round, line, count(line)]).toEqual([round, line, 1]);
      for (const each of cleanUp.splice(0).toReversed()) await each();
    }
    expect(moves).toBeGreaterThan(rounds);
    expect(looked).toBeGreaterThan(rounds * 4);
  }, 600_000);
});

describe("the export of a run", () => {
  const asked = () => planned("boss", [["pay", "asked"]]);
  const started = async () => {
    const store = memoryRuns();
    const one = agent({ name: "one", model: asked(), tools: [pay], policy: asks });
    const runs = durableRuns({ store, agents: [one] });
    await runs.start(one, "Go", { id: "r" });
    return { store, runs, one };
  };

  it("is taken while the run waits, and its question is answered where it went", async () => {
    log = [];
    const { runs, one } = await started();
    const worker = runs.work();
    await expect.poll(() => runs.show("r")).toMatchObject({ status: "waiting" });
    const text = await runs.export("r");
    await worker.drain();
    expect(await runs.show("r")).toMatchObject({ status: "moved", moves: 1 });
    await expect(runs.result("r")).rejects.toMatchObject({ code: "run-moved" });
    await expect(runs.retry("r")).rejects.toMatchObject({ code: "run-moved" });
    const facts: string[] = [];
    const following = (async () => {
      for await (const { type } of runs.events("r")) facts.push(type);
    })();
    await expect(following).rejects.toMatchObject({ code: "run-moved" });
    expect(facts).toContain("approval-request");
    expect(facts).not.toContain("run-end");

    const there = durableRuns({ store: memoryRuns(), agents: [one] });
    expect(await there.import(text)).toMatchObject({ id: "r", status: "ready" });
    const [question] = await there.waiting();
    await there.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
    const other = there.work();
    expect(await there.result("r")).toMatchObject({ outcome: { type: "answered", content: "done" } });
    await other.drain();
    expect(log).toEqual(["model boss 0", "pay asked", "model boss 1"]);
  });

  it("goes on in a copy of its session, before it had changed anything", async () => {
    const [old, moved] = [inMemorySessions(), inMemorySessions()];
    const asking = Promise.withResolvers<void>();
    const model = async ({ messages }: Pick<ModelRequest, "messages">) => {
      asking.resolve();
      if (messages.at(-1)?.role === "tool") return "done";
      await sleep(100);
      return { calls: [{ name: "pay", arguments: { to: "Ada" } }] };
    };
    const one = agent({ name: "one", model, tools: [pay] });
    await agent({ name: "before", model: () => "Hello." }).run("Hello", { session: session(old, "kim") });
    const here = durableRuns({ store: memoryRuns(), agents: [one], sessions: (id) => session(old, id) });
    const worker = here.work();
    await here.start(one, "Go", { id: "r", session: "kim" });
    await asking.promise;
    await worker.drain(); // its first reply is recorded, and nothing else has begun

    await moved.create("kim", await old.read("kim"));
    const there = durableRuns({ store: memoryRuns(), agents: [one], sessions: (id) => session(moved, id) });
    await there.import(await here.export("r"));
    const other = there.work();
    expect((await there.result("r")).outcome).toMatchObject({ type: "answered" });
    await other.drain();
    expect((await moved.read("kim")).runs.map(({ agent: name }) => name)).toEqual(["before", "one"]);
  });

  it("wakes whoever waits for the end of the run, and takes no answer", async () => {
    const { runs } = await started();
    const waiting = expect(runs.result("r")).rejects.toMatchObject({ code: "run-moved" });
    await runs.export("r");
    await waiting;
    const late = runs.answer("r", "turn/1/approval/0", { approved: false, hash: "h" });
    await expect(late).rejects.toMatchObject({ code: "run-moved" });
    await expect(runs.replay("r")).rejects.toMatchObject({ code: "run-moved" });
    await expect(runs.fork("r", { beforeTurn: 1 })).rejects.toMatchObject({ code: "run-moved" });
  });

  it("is refused where it is not whole, not one, or of a later version", async () => {
    const { runs } = await started();
    await expect(runs.export("nobody")).rejects.toMatchObject({ code: "run-missing" });
    const text = await runs.export("r");
    const lines = text.split("\n");
    const record = JSON.stringify({ record: { key: "k", fingerprint: "" } });
    const broken = [
      ["", 1],
      ["{}", 1],
      ["[]", 1],
      ["null", 1],
      ["writ", 1],
      [lines[0], 1],
      [lines.slice(1).join("\n"), 1],
      [text.replace('"agent":"one"', '"agent":1'), 1],
      [text.slice(0, -10), 2],
      [[lines[0], record, lines[1]].join("\n"), 3],
      [[lines[0], '{"record":{"key":"k"}}', lines[1]].join("\n"), 2],
      [[lines[0], '{"record":{"key":"k","fingerprint":"","json":"{"}}', lines[1]].join("\n"), 2],
    ] as const;
    for (const [given = "", line] of broken)
      await expect(runs.import(given), given).rejects.toMatchObject({
        code: "export-broken",
        data: { line },
      });
    await expect(runs.import(text.replace('"input":"Go"', '"input":"Stop"'))).rejects.toMatchObject({
      code: "export-broken",
      message: expect.stringContaining("it was changed"),
    });
    await expect(runs.import(text.replace('"version":1', '"version":2'))).rejects.toMatchObject({
      code: "export-newer",
      data: { version: 2, known: 1 },
    });
    expect(await runs.import(`\ufeff${text.replaceAll("\n", "\r\n")}`)).toMatchObject({ id: "r", moves: 1 }); // back, since it arrived nowhere
    await expect(runs.import(text)).rejects.toMatchObject({ code: "run-exists" });
  });
});
