import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "junit2json";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedUrl, type Ended, makeProject, type Project, writ as writIn } from "./command-line.ts";

let project: Project;
beforeAll(() => (project = makeProject()));
afterAll(() => project.remove());

const writ = (...words: readonly string[]): Promise<Ended> => writIn(words, { cwd: project.folder });
const inProject = (path: string): string => join(project.folder, path);

/** An agent that answers with what the model function gives. */
function program(path: string, model: string, rest = ""): string {
  return project.file(
    path,
    `import { agent, tool } from "writ";
const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const mail = tool({ name: "mail", description: "", inputSchema: text, effect: "irreversible", execute: () => "sent" });
export default agent({ name: "clerk", model: ${model}, tools: [mail], ${rest} });
`,
  );
}

describe("writ eval agent", () => {
  it("runs the example offline: scripts, a recording with its judge, fixed results [C43, TEST-eval]", async () => {
    const { code, stdout, stderr } = await writIn(
      ["eval", "agent", "examples/eval/agent.ts", "--cases", "examples/eval/cases", "--replay", "--verbose"],
      { env: { OLLAMA_HOST: await closedUrl() } },
    );
    expect(stderr).toBe("");
    expect(stdout.match(/^✓ /gm)).toHaveLength(4);
    expect(stdout).toMatch(
      /^✓ looks an order up, then refunds it +3 turns {2}2 calls {2}842 tokens {2}\d+ ms$/m,
    );
    expect(stdout).toContain("    judge: It says that 18.50 euro are on their way back");
    expect(stdout).toMatch(/\n4 passed, 0 failed in .+, about \d+ tokens\n$/);
    expect(code).toBe(0);
  });

  it("ends with 1 when a case fails, says what did not hold, and tells CI systems [C43]", async () => {
    const path = program("agent.ts", "({ messages }) => `You said ${messages.at(-1).parts[0].text}`");
    project.file("cases/a.yaml", "input: Hello\nexpect: { answer: { contains: hello } }");
    project.file(
      "cases/b.yaml",
      "name: shouts\ninput: Hello\nruns: 2\nexpect: { answer: { equals: HELLO } }",
    );
    const { code, stdout } = await writ("eval", "agent", path, "--cases", "cases", "--junit", "report.xml");
    expect(stdout).toMatch(
      /^✓ a {7}1 turn {2}0 calls {2}\d+ tokens {2}\d+ ms\n✗ shouts {2}0 of 2 runs {2}1 turn/,
    );
    expect(stdout).toContain('\n    run 1: answer.equals: it is "You said Hello", not "HELLO"\n');
    expect(stdout).toMatch(/\n1 passed, 1 failed in /);
    expect(code).toBe(1);
    expect(await parse(readFileSync(inProject("report.xml"), "utf8"))).toMatchObject({
      testsuite: [{ name: "clerk", tests: 2, failures: 1, testcase: [{ name: "a" }, { name: "shouts" }] }],
    });
  });

  it("prints one object of JSON, and takes the cases that are wanted [C43]", async () => {
    const { code, stdout } = await writ(
      "eval",
      "agent",
      "agent.ts",
      "--cases",
      "cases",
      "--only",
      "SHOUT",
      "--json",
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "eval-agent",
      agent: "clerk",
      passed: false,
      counts: { passed: 0, failed: 1, notRun: 0 },
      cases: [
        {
          name: "shouts",
          file: join("cases", "b.yaml"),
          runs: [{ outcome: "answered", failures: [{ expectation: "answer.equals" }] }, {}],
        },
      ],
    });
    const none = await writ("eval", "agent", "agent.ts", "--cases", "cases", "--only", "sings");
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(none.stderr).toContain("The cases are: a, shouts.");
  });

  it("ends with 2 for everything that is wrong before the first run, with file and line [C43]", async () => {
    project.file("wrong/a.yaml", "input: Hello\nexpect:\n  anwser: { contains: x }");
    project.file("wrong/b.json", '{ "input": "Hello", "runs": "two" }');
    const { code, stdout, stderr } = await writ("eval", "agent", "agent.ts", "--cases", "wrong");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("error[eval-cases-invalid]");
    expect(stderr).toContain('wrong/a.yaml:3: expect.anwser: unknown; did you mean "answer"?');
    expect(stderr).toMatch(/wrong\/b\.json:1: runs: /);
    project.file("typo/a.yaml", "input: Hello\nexpect:\n  never:\n    - mial");
    const typo = await writ("eval", "agent", "agent.ts", "--cases", "typo");
    expect(typo.code).toBe(2);
    expect(typo.stderr).toContain(
      'typo/a.yaml:4: expect.never[0]: the agent has no tool "mial"; did you mean "mail"?',
    );
    for (const words of [
      ["agent.ts"],
      ["none.ts", "--cases", "cases"],
      ["agent.ts", "--cases", "none"],
      ["agent.ts", "--cases", "cases", "--runs", "0"],
      ["agent.ts", "--cases", "cases", "--model", "nobody/x"],
      ["agent.ts", "--cases", "cases", "--judge", "nobody/x"],
      ["agent.ts", "--cases", "cases", "--replay", "--record"],
      ["agent.ts", "--cases", "cases", "--replay", "--model", "ollama/x"],
      ["agent.ts", "--cases", "cases", "--replay"],
    ])
      expect(await writ("eval", "agent", ...words), words.join(" ")).toMatchObject({ code: 2, stdout: "" });
  });

  it("records a model's replies, and plays them when the model is gone [C43]", async () => {
    project.file("talk/a.yaml", "input: Hello\nexpect: { answer: { equals: Good day. }, snapshot: true }");
    const path = program(
      "live.ts",
      '() => process.env.GONE === undefined ? "Good day." : Promise.reject(new Error("gone"))',
      "retry: false",
    );
    const recorded = await writ("eval", "agent", path, "--cases", "talk", "--record");
    expect(recorded).toMatchObject({
      code: 0,
      stderr: `${join("talk", "a.recorded.json")} holds the replies.\n`,
    });
    expect(existsSync(inProject("talk/a.recorded.json"))).toBe(true);
    const replay = (...words: readonly string[]): Promise<Ended> =>
      writIn(["eval", "agent", path, "--cases", "talk", ...words], {
        cwd: project.folder,
        env: { GONE: "1" },
      });
    expect(await replay()).toMatchObject({ code: 1 });
    expect(await replay("--replay")).toMatchObject({ code: 0, stderr: "" });
    program("live.ts", '() => "Good day."', 'instructions: "Be brief."');
    const changed = await replay("--replay");
    expect(changed.stdout).toContain(
      "1 case answered other requests when recorded: --record asks the model again",
    );
    expect(changed.code).toBe(0);
  });

  it("replays a definition that names no model", async () => {
    project.file("brief.md", "---\nname: brief\ntools: []\n---\nBe brief.\n");
    project.file("brief.yaml", "input: Hello\nreplies: [Hi]\nexpect: { answer: { equals: Hi } }");
    const words = ["eval", "agent", "brief.md", "--cases", "brief.yaml"];
    expect(await writ(...words, "--replay")).toMatchObject({ code: 0, stderr: "" });
    const live = await writ(...words);
    expect(live.stderr).toContain("[model-missing]");
    expect(live.code).toBe(2);
  });

  it("carries nothing out that changes the world, unless it is told to", async () => {
    const calls =
      "({ messages }) => messages.at(-1).role === 'tool' ? 'Done.' : { calls: [{ name: 'mail', arguments: { text: 'x' } }] }";
    const path = program("mails.ts", calls);
    project.file("mails.yaml", "input: Mail it\nexpect: { calls: [mail] }");
    const safe = await writ("eval", "agent", path, "--cases", "mails.yaml");
    expect(safe.stdout).toContain(
      'results.mail: mail {"text":"x"} would have changed something, and was not carried out',
    );
    expect(safe.code).toBe(1);
    expect(await writ("eval", "agent", path, "--cases", "mails.yaml", "--allow-effects")).toMatchObject({
      code: 0,
    });
  });

  it("gives what is done so far when it is interrupted [C43]", async () => {
    const path = program(
      "hangs.ts",
      '({ messages }) => JSON.stringify(messages).includes("hang") ? new Promise(() => {}) : "Done."',
    );
    project.file(
      "slow.yaml",
      "cases:\n  - { name: quick, input: go }\n  - { name: slow, input: hang }\n  - { name: later, input: go }",
    );
    const { code, stdout } = await writIn(
      ["eval", "agent", path, "--cases", "slow.yaml", "--concurrency", "1", "--junit", "slow.xml"],
      {
        cwd: project.folder,
        meanwhile: (child) =>
          void child.stdout?.once("data", () => setTimeout(() => child.kill("SIGINT"), 100)),
      },
    );
    expect(stdout).toMatch(
      /^✓ quick .*\n- slow {3}not run to its end\n- later {2}not run to its end\n1 passed, 0 failed, 2 not run in /,
    );
    expect(code).toBe(130);
    expect(readFileSync(inProject("slow.xml"), "utf8").match(/<skipped>/g)).toHaveLength(2);
  });
});
