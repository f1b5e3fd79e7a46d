import type { ChildProcess } from "node:child_process";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { isFact, type AgentEvent } from "../../src/index.ts";
import { events, told, until } from "../server/scene.ts";
import { type Ended, makeProject, type Project, writ as writIn } from "./command-line.ts";

let project: Project;
const children: ChildProcess[] = [];
beforeAll(() => {
  project = makeProject();
  // A model that says its second word when the file `go` is there: only the conversation decides what it says.
  project.file(
    "clerk.ts",
    `import { existsSync } from "node:fs";
import { agent, tool } from "writ";
const pay = tool({
  name: "pay", description: "", effect: "irreversible",
  inputSchema: { type: "object", properties: { to: { type: "string" } } },
  execute: ({ to }) => "paid " + to,
});
const model = {
  id: "words", features: { tools: true },
  async *stream({ messages }) {
    if (JSON.stringify(messages.at(-1)).includes("Pay")) {
      yield { type: "call-start", id: "1", name: "pay" };
      yield { type: "call-end", id: "1", arguments: { to: "Ada" } };
      return yield { type: "end", finishReason: "tool-calls" };
    }
    yield { type: "text-delta", text: "One " };
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    yield { type: "text-delta", text: "two" };
    yield { type: "end", finishReason: "stop" };
  },
};
export default agent({
  name: "clerk", model, tools: [pay],
  policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
});
`,
  );
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(() => project.remove());

interface Process {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<Ended>;
}

/** Starts the real command and waits for its address. */
async function startServer(words: readonly string[]): Promise<Process> {
  const address = Promise.withResolvers<string>();
  let said = "";
  const started = Promise.withResolvers<ChildProcess>();
  const ended = writIn(["serve", "clerk.ts", "--port", "0", ...words], {
    cwd: project.folder,
    meanwhile(process) {
      started.resolve(process);
      children.push(process);
      process.stderr?.on("data", (text: string) => {
        said += text;
        const found = /at (http:\S+)\. Ctrl-C/.exec(said)?.[1];
        if (found !== undefined) address.resolve(found);
      });
    },
  });
  void ended.then(({ stderr }) => address.reject(new Error(stderr)));
  return { url: await address.promise, child: await started.promise, ended };
}

describe("writ serve", () => {
  it("goes on in another process after a kill -9 in the middle of a stream, and a day later with an answer", async () => {
    const token = (
      await writIn(["token", "web", "--agents", "clerk"], { cwd: project.folder })
    ).stdout.trim();
    const headers = { authorization: `Bearer ${token}` };
    const words = ["--tokens", "tokens.json", "--store", "runs.db"];
    const first = await startServer(words);
    const heard: AgentEvent[] = [];
    const asked = await fetch(`${first.url}/runs`, {
      method: "POST",
      headers: { ...headers, accept: "text/event-stream" },
      body: JSON.stringify({ agent: "clerk", input: "Count", id: "count" }),
    });
    for await (const event of events(asked)) {
      heard.push(event);
      if (event.type === "text-delta") break;
    }
    first.child.kill("SIGKILL");
    await first.ended;
    project.file("go", "");
    const second = await startServer(words);
    const last = String(heard.findLast(isFact)?.seq);
    const back = await fetch(`${second.url}/runs/count/events`, {
      headers: { ...headers, "last-event-id": last },
    });
    const facts = [...heard, ...(await Array.fromAsync(events(back)))].filter(isFact);
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
    expect(facts.at(-1)).toMatchObject({ outcome: { type: "answered", content: "One two" } });

    await fetch(`${second.url}/runs`, {
      method: "POST",
      headers,
      body: JSON.stringify({ agent: "clerk", input: "Pay", id: "p" }),
    });
    const questions = async (url: string) =>
      (await told(fetch(`${url}/questions`, { headers })))["questions"];
    await until(async () => (await questions(second.url)).length === 1);
    second.child.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("Handing over.") });
    const third = await startServer(words);
    const { key, request } = await until(async () => (await questions(third.url))[0]);
    const body = JSON.stringify({ key, hash: request.hash, approved: true });
    expect((await fetch(`${third.url}/runs/p/answers`, { method: "POST", headers, body })).status).toBe(204);
    const run = await until(async () => {
      const found = await told(fetch(`${third.url}/runs/p`, { headers }));
      return found.end !== undefined && found;
    });
    expect(run).toMatchObject({ id: "p", end: { outcome: { type: "answered" } } });
    const other = await told(fetch(`${third.url}/runs`, { headers: { authorization: "Bearer guess" } }));
    expect(other).toMatchObject({ status: 401 });
  });

  it("says that its port is taken, and leaves no worker behind that has lost its store", async () => {
    const taken = await startServer([]);
    const ended = await writIn(
      ["serve", "clerk.ts", "--port", new URL(taken.url).port, "--store", "second.db"],
      {
        cwd: project.folder,
      },
    );
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("Another program listens there (EADDRINUSE)");
    expect(ended.stderr).not.toContain("Warning");
  });

  it("answers what is no request of it with the right status, over a real socket", async () => {
    const { url } = await startServer(["--store", "sockets.db"]);
    const statusOf = (
      path: string,
      headers: Record<string, string | string[]>,
    ): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        httpRequest(url + path, { headers }, ({ statusCode }) => resolve(statusCode))
          .on("error", reject)
          .end();
      });
    expect(await statusOf("/runs", {})).toBe(200);
    expect(await statusOf("/runs", { host: "evil.example" })).toBe(403);
    expect(await statusOf("/../../etc/passwd", {})).toBe(404);
    expect(await statusOf("/runs", { many: Array.from({ length: 10_000 }, () => "x") })).toBe(431);
    const said = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.end("NONSENSE\r\n\r\n"));
      let text = "";
      socket
        .on("data", (chunk) => (text += String(chunk)))
        .on("error", reject)
        .on("close", () => resolve(text));
    });
    expect(said).toMatch(/^HTTP\/1\.1 400/);
  });

  it.each([
    [["serve", "clerk.ts", "--host", "0.0.0.0"], "--tokens"],
    [["serve", "clerk.ts", "--port", "99999"], "65535"],
    [["serve", "clerk.ts", "--tokens", "none.json"], "writ token"],
    [["serve", "none.ts"], "none.ts"],
    [["token", "a/b"], "without `/`"],
    [["token", "web", "--tokens", "none/tokens.json"], "It cannot be written: "],
  ])("says what does not fit: %j", async (words, advice) => {
    const { code, stderr } = await writIn(words, { cwd: project.folder });
    expect(code).toBe(2);
    expect(stderr).toContain(advice);
  });
});
