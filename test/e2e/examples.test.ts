import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedUrl, type Ended, makeProject, type Project, runNode } from "./command-line.ts";

const repository = join(import.meta.dirname, "../..");
const folder = join(repository, "examples");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) =>
  path.replaceAll("\\", "/"),
);
/** The recipes that Node does not run; recipes-elsewhere.test.ts has them. */
const elsewhere = new Set(["recipes/bun", "recipes/deno"]);
const stories = files
  .filter((path) => path.endsWith("/main.ts"))
  .map((path) => path.replace("/main.ts", ""))
  .filter((story) => !elsewhere.has(story));
const testsBeside = files.filter((path) => path.endsWith(".test.ts"));

/** What a story shows, how its output ends, and a change of its program that must make it fail. */
interface Expected {
  readonly shows: string;
  readonly ends: string | RegExp;
  readonly broken?: { readonly file?: string; readonly from: string; readonly to: string };
}

const expected: Readonly<Record<string, Expected>> = {
  calculator: { shows: "the command of the README", ends: "(3 + 5) * 2 = 16" },
  workspace: {
    shows: "a model that works on files and programs, and what each limit tells it",
    ends: "Green tea costs 3.",
    broken: { from: 'old: "tea 3"', to: 'old: "milk"' },
  },
  coder: {
    shows:
      "a coder that mends a copy of a project: how each tool is held is printed, and its tests run in a box",
    ends: "Ten are cheaper now; the tests pass.",
  },
  catalogue: {
    shows: "three hundred tools, of which the model is told those that it looked for",
    ends: "Contract 7 is archived.",
    broken: { from: "limit: 3", to: "limit: 4" },
  },
  approval: {
    shows:
      "a run whose worker is killed while it waits, approved from another process and ended by a third, of a release with a new tool",
    ends: "One mail was sent.",
    broken: {
      file: "agent.ts",
      from: 'return "sent";',
      to: 'appendFileSync(mails, "again\\n"); return "sent";',
    },
  },
  "recipes/express": {
    shows: "agents in an Express application, for those who are signed in to it",
    ends: "Ada is told: Good morning.",
    broken: { from: "return name === undefined ? undefined : { name };", to: 'return { name: name ?? "" };' },
  },
  "recipes/fastify": {
    shows: "agents in a Fastify application, which reads no body of theirs",
    ends: "The client is told: Good morning.",
    broken: { from: "scope.removeAllContentTypeParsers();", to: "" },
  },
  "recipes/hono": {
    shows: "agents in a Hono application, with the name of its own sign-in and not a client's",
    ends: "Ada is told: Good morning.",
    broken: { from: 'headers.delete("x-signed-in-as");', to: "" },
  },
  "recipes/next": {
    shows: "a route file whose functions take web requests",
    ends: "The client is told: Good morning.",
    broken: { file: "route.ts", from: 'path: "/agents",', to: "" },
  },
  "recipes/chat-page": {
    shows: "a page without a framework, and what its requests get; test/browser has the page in a browser",
    ends: "The page is told: Good morning.",
    broken: { from: 'path: "/agents" }', to: 'path: "/agent" }' },
  },
  "recipes/queue": {
    shows: "one run for a message that a queue delivers twice",
    ends: "Three messages, two runs.",
    broken: { from: "id: message.id", to: "id: crypto.randomUUID()" },
  },
  "recipes/cron": {
    shows: "one run a day, however often it is begun",
    ends: "Three starts, two runs.",
    broken: { from: "= `digest-${day}`", to: "= `digest-${Math.random()}`" },
  },
  "recipes/webhook": {
    shows: "a refund that is approved once with a button in a chat, by a signed request alone",
    ends: /^The question of the run "order-17" .* was answered before, by U0KIM\.$/m,
    broken: { file: "approvals.ts", from: "return given.length === wanted.length &&", to: "return true ||" },
  },
  "seeds/calculator": {
    shows: "two calls in order, and a division by zero that the model is told of [L1.3]",
    ends: "1 cannot be divided by 0.",
    broken: { from: "(a, b) => a * b", to: "(a, b) => a + b" },
  },
  "seeds/file-writer": {
    shows:
      "schemas on the wire and for the result; wrong arguments are mended or told, and never run [E1.1, T4.3]",
    ends: "Three files are written.",
    broken: { from: "content: z.string()", to: 'content: z.string().default("")' },
  },
  "seeds/support-bot": {
    shows: "knowledge is loaded when it is called, and told of with name and content [K4.2, O2.1]",
    ends: "The FAQ was read once: when the model called for it.",
    broken: {
      from: 'load: () => loadText("faq.txt")',
      to: 'load: ((text) => () => text)(await loadText("faq.txt"))',
    },
  },
  "seeds/mock-model": {
    shows: "a mock, a counter, captured messages [TEST-captured.1, TEST-mock.1, TEST-multi-step.1]",
    ends: /^ℹ pass 4\nℹ fail 0\n/m,
    broken: { from: 'model: () => "42"', to: 'model: () => "43"' },
  },
  "seeds/weather-round-trip": {
    shows: "the caller carries out the calls and sends the whole history back [H1.1, H7.1]",
    ends: "The weather in London is currently 18°C and partly cloudy.",
    broken: { from: "[question, asked.message, ...results]", to: "[question]" },
  },
  "seeds/three-drivers": {
    shows: "one agent by native calls, ReAct and a script; the flags of the executor [C1.2, C5.2, C8.3]",
    ends: "  answered: Closed, and 12 are left.",
    broken: { from: 'endOn: ["blocked-call"]', to: "endOn: []" },
  },
  "seeds/note-session": {
    shows: "what is not one JSON object is sent back; the note is saved once [P1.1, P3.1, P10.1]",
    ends: 'assistant: {"final":{"content":{"status":"ok","upserted":1}}}',
    broken: { from: "upserted: items.length", to: "upserted: items.length + 1" },
  },
  "seeds/safe-loop": {
    shows: "a loop of one's own over one decision at a time [Y1.1, Y2.1, Y4.2, Y6.1, Y9.1]",
    ends: "[no llm provider]",
    broken: { file: "weather.ts", from: '"not allowed"', to: '"unknown"' },
  },
  "seeds/researcher": {
    shows: "settings of a model as data, on the wire, and what a server's failure is",
    ends: "A failure of the server is no answer.",
    broken: { from: "{ host: server.url }", to: "{ host: server.url, temperature: 0.2 }" },
  },
  "seeds/search": {
    shows: "arguments of unexpected types: changed, filled in, or told",
    ends: "Two of four calls ran.",
    broken: { from: "default(10)", to: "default(5)" },
  },
  "seeds/analyst": {
    shows: "a skill with tools and one that is a function; the loop, and its bound",
    ends: "Without a bound of its own it ends after 8 turns.",
    broken: { from: "budget: { turns: 2 }", to: "budget: { turns: 3 }" },
  },
  "seeds/authorization": {
    shows: "what a skill lists is what may be called; a refusal names these alone",
    ends: "Nothing ran that the skill does not list.",
    broken: { from: "tools: [read], knowledge", to: "tools: [read, shell], knowledge" },
  },
  "seeds/weather-data": {
    shows: "a tool as data, held to its schemas by the program",
    ends: "It is 18°C in London.",
    broken: { from: 'celsius: "warm"', to: "celsius: 20" },
  },
  "seeds/executor": {
    shows: "the way of a call through hooks, check, tool and events",
    ends: "a error, b skipped",
    broken: { from: 'endOn: ["tool-failure"]', to: "endOn: []" },
  },
  "seeds/driver-options": {
    shows: "the choice of a tool, retries of decisions, an answer asked for apart",
    ends: "There are 12 lamps.",
    broken: { from: "maxRetries: 2", to: "maxRetries: 3" },
  },
  "seeds/command-line": {
    shows: "calls on one line, alone and in the JSON protocol",
    ends: "A line is enough.",
    broken: { from: "commandDriver()", to: 'commandDriver({ prose: "keep" })' },
  },
  "seeds/minimal-runtime": {
    shows: "the smallest runtime by hand; an invalid reply ends it",
    ends: "What is neither an action nor the end is no reply.",
    broken: { from: 'items: "tea"', to: 'items: [{ text: "milk" }]' },
  },
  "seeds/protocol-checklist": {
    shows: "invalid JSON, an unknown tool, wrong arguments, a result that is used",
    ends: "The result was there in the next turn.",
    broken: { from: 'action("prices", {})', to: 'action("price", { tea: "black" })' },
  },
  "seeds/mcp-registry": {
    shows: "tools of a server in the prompt, with their schemas to the letter",
    ends: "One call reached the server: the one that fits its schema.",
    broken: { from: 'show: "schemas"', to: 'show: "types"' },
  },
  "seeds/least-privilege": {
    shows: "declared and granted, or not reached by a handle",
    ends: "Declared and granted: nothing else was reached.",
    broken: { from: 'needs: [net("api.weather.com")]', to: "needs: []" },
  },
};

/** The calculator of the README looks for a model by itself; this asks it for its script. */
const scripted = { WRIT_MODEL: "scripted" };
/** Examples that go on until they are stopped. */
const untilStopped: Readonly<Record<string, readonly string[]>> = { "recipes/chat-page": ["--once"] };

/** Runs an example without a model. */
function play(
  story: string,
  words: readonly string[] = untilStopped[story] ?? [],
  env: Readonly<Record<string, string>> = story === "calculator" ? scripted : {},
): Promise<Ended> {
  return runNode([join(folder, story, "main.ts"), ...words], { env });
}

async function expectPasses(path: string): Promise<void> {
  const { code, stdout } = await runNode(["--test", join(folder, path)]);
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/pass [1-9]/);
}

describe("every example", () => {
  for (const [story, { shows, ends }] of Object.entries(expected))
    it(`${story} runs offline and ends well: ${shows}`, async () => {
      const { code, stdout, stderr } = await play(story);
      expect(code, stdout + stderr).toBe(0);
      expect(stderr).not.toMatch(/^\s+at /m);
      if (typeof ends === "string") expect(stdout.trimEnd().split("\n").at(-1)).toBe(ends);
      else expect(stdout).toMatch(ends);
    });

  it("is among those that run here", () => {
    expect(stories.toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  const isSmall = (path: string): boolean => /^(?:init|seeds)\//.test(path);
  it.each(testsBeside.filter(isSmall))("the tests beside the code pass: %s [Y5.1, Y10.1]", expectPasses);
  it.each(testsBeside.filter((path) => !isSmall(path)))(
    "the tests of a whole example pass: %s",
    expectPasses,
  );

  it("is told of in the list of the seed programs", () => {
    const list = readFileSync(join(folder, "seeds/README.md"), "utf8");
    const programs = files.filter((path) => path.startsWith("seeds/") && /(?:main|\.test)\.ts$/.test(path));
    for (const path of programs) expect(list).toMatch(new RegExp(`\`node (--test )?examples/${path}\``));
  });
});

describe("an example that goes wrong", () => {
  let project: Project;
  beforeAll(() => {
    project = makeProject();
    for (const name of ["zod", "hono", "@hono", "express", "fastify"])
      symlinkSync(
        join(repository, "node_modules", name),
        join(project.folder, "node_modules", name),
        "junction",
      );
    cpSync(folder, join(project.folder, "examples"), { recursive: true });
  });
  afterAll(() => project.remove());

  for (const [story, { broken }] of Object.entries(expected)) {
    if (broken === undefined) continue;
    const { file = "main.ts", from, to } = broken;
    it(`exits with 1: ${story} with ${to}`, async () => {
      const place = join(project.folder, "examples", story);
      const program = readFileSync(join(place, file), "utf8");
      expect(program).toContain(from);
      writeFileSync(join(place, file), program.replace(from, to));
      const { code, stdout, stderr } = await runNode([
        join(place, "main.ts"),
        ...(untilStopped[story] ?? []),
      ]);
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/AssertionError/);
    });
  }
});

describe("calculator", () => {
  it("says what answers, which driver, each call with arguments, result and time, and the answer", async () => {
    const { stdout, stderr } = await play("calculator");
    expect(stdout).toBe("(3 + 5) * 2 = 16\n");
    expect(stderr).toContain("calculator with a script, driver native");
    expect(stderr).toMatch(/→ 1 add \{"a":3,"b":5\}\n✓ 1 add = 8 {2}\d+ ms\n/);
    expect(stderr).toMatch(/→ 2 multiply \{"a":8,"b":2\}\n✓ 2 multiply = 16 {2}\d+ ms\n/);
  });

  it("has no answer to another question without a model, and says why", async () => {
    const { code, stdout, stderr } = await play("calculator", ["What", "is", "1 + 1?"]);
    expect(stderr).toContain("No model: WRIT_MODEL asks for the script");
    expect(stderr).toContain('only knows the question "What is (3 + 5) * 2?"');
    expect([code, stdout]).toEqual([5, ""]);
  });

  it("uses the model that WRIT_MODEL names, and says plainly that it cannot be reached", async () => {
    const { code, stdout, stderr } = await play("calculator", [], {
      WRIT_MODEL: "ollama/qwen2.5:7b",
      OLLAMA_HOST: await closedUrl(),
    });
    expect(stderr).toContain("Model: ollama/qwen2.5:7b (WRIT_MODEL names it)");
    expect(stderr).toContain("error[provider-unreachable]");
    expect([code, stdout]).toEqual([5, ""]);
  });
});
