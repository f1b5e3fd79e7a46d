import type { ChildProcess } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { durableRuns } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { postgresRuns, postgresSessions } from "../../src/postgres.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { told, until } from "../server/scene.ts";
import { type Ended, makeProject, type Project, writ as writIn } from "./command-line.ts";

let project: Project;
const children: ChildProcess[] = [];
const ends: Promise<Ended>[] = [];
beforeAll(() => {
  project = makeProject();
  // Only the conversation decides what it says: the words of the user that it was told, and who carried the run out.
  project.file(
    "talker.ts",
    `import { agent } from "writ";
const textOf = ({ parts }) => parts.map(({ text }) => text).join("");
export default agent({
  name: "talker",
  model: ({ messages }) => messages.filter(({ role }) => role === "user").map(textOf).join(", ") + " by " + process.pid,
});
`,
  );
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(ends.splice(0));
});
afterAll(() => project.remove());

interface Process {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it said that fits. */
  readonly said: string;
}

/** Starts the real command and waits until it says something. */
async function start(words: readonly string[], ready: RegExp): Promise<Process> {
  const started = Promise.withResolvers<Omit<Process, "ended">>();
  let text = "";
  const ended = writIn(words, {
    cwd: project.folder,
    meanwhile(child) {
      children.push(child);
      child.stderr?.on("data", (more: string) => {
        text += more;
        const said = ready.exec(text)?.[1];
        if (said !== undefined) started.resolve({ child, said });
      });
    },
  });
  ends.push(ended);
  void ended.then(({ stderr }) => started.reject(new Error(stderr)));
  return { ...(await started.promise), ended };
}

const serve = (store: string): Promise<Process> =>
  start(["serve", "talker.ts", "--port", "0", "--store", store], /at (http:\S+)\. Ctrl-C/);
const work = (store: string): Promise<Process> =>
  start(["work", "talker.ts", "--store", store, "--concurrency", "1"], /(Working for)/);

/** Says something in a session, and waits for the words of the answer. */
async function say(url: string, input: string, id: string): Promise<unknown> {
  const body = JSON.stringify({ agent: "talker", input, id, session: "kim" });
  await fetch(`${url}/runs`, { method: "POST", body });
  const run = await until(async () => {
    const found = await told(fetch(`${url}/runs/${id}`));
    return found.end !== undefined && found;
  });
  return Object(run.end).output;
}

async function stop({ child, ended }: Process): Promise<void> {
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
}

const command = (store: string, words: readonly string[]): Promise<Ended> =>
  writIn([...words, "--store", store], { cwd: project.folder });

/** A conversation that several processes carry on, one after the other. */
async function carriedOn(store: string): Promise<void> {
  const first = await serve(store);
  expect(await say(first.said, "one", "r1")).toMatch(/^one by/);
  await stop(first);
  const second = await serve(store);
  expect(await say(second.said, "two", "r2")).toMatch(/^one, two by/);
  const chat = (id: string, text: string): Promise<string> => {
    const messages = [{ id, role: "user", parts: [{ type: "text", text }] }];
    const body = JSON.stringify({ id: "c", messages });
    return fetch(`${second.said}/chat/talker`, { method: "POST", body }).then((response) => response.text());
  };
  await chat("m1", "red");
  expect(await chat("m2", "blue")).toContain("red, blue by");
  await stop(second);
  const run = ["run", "talker.ts", "three", "--durable", "--session", "kim"];
  expect(await command(store, run)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^one, two, three by/),
  });
  expect(await command(store, ["runs", "check", "talker.ts"])).toMatchObject({ code: 0 });
  expect(await command(store, ["runs", "erase", "--session", "kim"])).toMatchObject({
    code: 0,
    stdout: "3 runs erased\n",
    stderr: "The conversation of the session was erased.\n",
  });
  expect(await command(store, ["runs", "erase", "--session", "kim"])).toMatchObject({
    stdout: "0 runs erased\n",
    stderr: "There was no conversation of the session.\n",
  });
  const third = await serve(store);
  expect(await say(third.said, "four", "r4")).toMatch(/^four by/);
  await stop(third);
}

describe("conversations of the command line", () => {
  it("go on after a restart in a SQLite file, in other commands too, until they are erased", async () => {
    await carriedOn("conversations.db");
  });

  it("leave a file alone where no run has a session", async () => {
    const first = await serve("alone.db");
    await fetch(`${first.said}/runs`, {
      method: "POST",
      body: JSON.stringify({ agent: "talker", input: "Hi", id: "r" }),
    });
    await until(async () => (await told(fetch(`${first.said}/runs/r`))).end !== undefined);
    await stop(first);
    using file = new DatabaseSync(join(project.folder, "alone.db"));
    expect(file.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'writ_session%'").all()).toEqual([]);
  });

  describe.skipIf(postgresMissing() !== undefined)("in PostgreSQL", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.close());

    it("go on after a restart, in other commands too, until they are erased", async () => {
      await carriedOn(server.url);
    });

    it("are carried on by two workers: each message is told all that was said before it, also by the other", async () => {
      await using store = postgresRuns(server.url);
      const runs = durableRuns({ store });
      const talker = agent({ name: "talker", model: () => "" });
      const begin = (word: string) => runs.start(talker, word, { id: word, session: "ada" });
      const answer = async (word: string): Promise<string> =>
        JSON.stringify((await runs.result(word)).output).slice(1, -1);
      const one = await work(server.url);
      await begin("w0");
      expect(await answer("w0")).toBe(`w0 by ${one.child.pid}`);
      await stop(one);
      const two = await work(server.url);
      await begin("w1");
      expect(await answer("w1")).toBe(`w0, w1 by ${two.child.pid}`);
      await work(server.url);
      const words = ["w2", "w3", "w4", "w5", "w6", "w7"];
      await Promise.all(words.map(begin));
      const answers = await Promise.all(words.map(answer));
      const said = answers
        .map((each) => each.replace(/ by \d+$/, ""))
        .toSorted((a, b) => a.length - b.length);
      for (const [place, each] of said.entries())
        expect(each.startsWith(`${said[place - 1] ?? "w0, w1"}, w`), said.join("\n")).toBe(true);
      await using sessions = postgresSessions(server.url);
      expect((await sessions.read("ada")).runs).toHaveLength(8);
    });
  });
});
