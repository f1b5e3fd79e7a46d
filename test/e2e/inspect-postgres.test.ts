import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { password, postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { clerkProgram } from "../unit/inspect/programs.ts";
import { type Ended, makeProject, type Project, writ } from "./command-line.ts";

const missing = postgresMissing();
let server: PostgresServer | undefined;
let project: Project | undefined;
let inspector: ChildProcess | undefined;
let ended: Promise<Ended> | undefined;
beforeAll(async () => {
  if (missing === undefined) server = await startPostgres();
  project = makeProject();
  project.file("clerk.ts", clerkProgram);
});
afterAll(async () => {
  inspector?.kill("SIGTERM");
  await ended;
  server?.close();
  project?.remove();
});

/** Starts `writ inspect` on a store; the address that it prints, with its token. */
function inspecting(store: string, cwd: string): Promise<{ readonly said: string; readonly url: URL }> {
  const told = Promise.withResolvers<{ readonly said: string; readonly url: URL }>();
  let said = "";
  ended = writ(["inspect", "clerk.ts", "--store", store], {
    cwd,
    meanwhile(process) {
      inspector = process;
      process.stderr?.on("data", (text: string) => {
        said += text;
        const address = /at (http:\S+)/.exec(said)?.[1];
        if (address !== undefined) told.resolve({ said, url: new URL(address) });
      });
    },
  });
  void ended.then(({ stderr }) => told.reject(new Error(stderr)));
  return told.promise;
}

/** Reads a stream of events until words stand in it. */
async function until(words: string, body: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.includes(words)) return text;
  }
  throw new Error(`it ended with ${text}`);
}

it("inspects runs in PostgreSQL, tells those that another process begins as they come, and replays them", async ({
  skip,
}) => {
  skip(missing !== undefined, missing);
  if (server === undefined || project === undefined) throw new Error("it was not started");
  const { url: store } = server;
  const { folder: cwd } = project;
  const run = (id: string): Promise<Ended> =>
    writ(["run", "clerk.ts", "Answer mail m-1", "--durable", "--id", id, "--store", store], { cwd });
  expect((await run("mail-1")).code).toBe(6);
  const { said, url } = await inspecting(store, cwd);
  expect(said).not.toContain(encodeURIComponent(password));
  const headers = { authorization: `Bearer ${url.hash.replace("#token=", "")}` };
  const ask = (path: string): Promise<Response> => fetch(new URL(path, url), { headers });
  expect(await (await ask("/api/runs")).json()).toMatchObject({
    runs: [{ id: "mail-1", status: "waiting", refused: 2 }],
    agents: ["clerk"],
  });

  const { body } = await ask("/api/changes");
  if (body === null) throw new Error("there is no stream");
  const [, told] = await Promise.all([run("mail-2"), until('"id":"mail-2"', body)]);
  expect(told).toContain("event: runs");
  const denied = writ(["approvals", "deny", "mail-2", "--reason", "not today", "--store", store], { cwd });
  expect((await denied).code).toBe(0);
  expect((await run("mail-2")).code).toBe(0);
  await expect
    .poll(async () => (await ask("/api/run?id=mail-2")).json(), { timeout: 60_000 })
    .toMatchObject({ run: { status: "answered" }, source: "replay", turns: [{}, {}, {}] });
  const replayed: unknown = await (await ask("/api/replay?id=mail-2")).json();
  expect(replayed).toMatchObject({ calls: 5, hasEnded: true });
  expect(replayed).not.toHaveProperty("difference");
}, 240_000);
